"""Plans that the real Codex proposes: its hook gives them to `execplan new`, which makes or updates an ExecPlan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from execplan.plan import reader
from tests import needs
from tests.clients.agent_programs import Codex, Workbench
from tests.clients.model_server import Say, scripted

if TYPE_CHECKING:
    from execplan.plan.model import ParsedPlan
    from tests.in_process_repository import InProcessRepository

FIRST = "# Export notes\n\nNotes can be exported.\n\n1. Write the exporter\n2. Add the command\n"
SECOND = "# Export notes\n\nNotes can be exported as CSV.\n\n1. Write the exporter\n2. Choose the columns\n"


@pytest.fixture
def codex(desk: InProcessRepository) -> Workbench:
    """Codex, with the hook that captures plans."""
    needs.need("unshare", "codex")
    workbench = Workbench(Codex(), desk.path, desk.env)
    assert desk.type("install", "capture", "--for", "codex").exit == 0
    return workbench


def captured(desk: InProcessRepository) -> list[ParsedPlan]:
    """Return the plans that were captured."""
    paths = sorted((desk.path / ".agent/execplans").glob("*export-notes*.md"))
    return [reader.read(path.read_bytes()) for path in paths]


def proposal(plan: str) -> list[Say]:
    """Return what the model says in order to propose a plan."""
    return [Say(f"I have read the code.\n\n<proposed_plan>\n{plan}</proposed_plan>\n")]


def test_a_proposed_plan_is_captured_and_its_revision_updates_it(codex: Workbench, desk: InProcessRepository) -> None:
    session = codex.run(scripted(proposal(FIRST)))
    assert session.status == 0
    assert len(session.requests) == 1, "the hook doesn't start another turn"
    (plan,) = captured(desk)
    assert [task.text for task in plan.tasks] == ["Write the exporter", "Add the command"]
    codex.run(scripted(proposal(SECOND)), "One more thing.", continues=True)
    (plan,) = captured(desk)
    assert [task.text for task in plan.tasks] == ["Write the exporter", "Choose the columns"]


def test_a_turn_without_a_plan_captures_nothing(codex: Workbench, desk: InProcessRepository) -> None:
    session = codex.run(scripted([Say("Use `<proposed_plan>` for plans.")]))
    assert session.status == 0
    assert not captured(desk)
