"""Plans of the real Codex and Gemini CLI: a hook gives them to `execplan new`, which makes or updates an ExecPlan."""

from __future__ import annotations

import json
import re
import subprocess
from typing import IO, TYPE_CHECKING, Any

import pytest

from execplan.core.plan import reader
from execplan.core.project import project_discovery
from tests import needs
from tests.clients.agent_programs import Codex, Workbench
from tests.clients.conftest import Results
from tests.clients.gemini_program import Gemini
from tests.clients.model_server import FakeModel, Reply, Say, Use, scripted
from tests.clients.network_namespace import run_isolated

if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan
    from tests.clients.model_server import Request
    from tests.in_process_repository import InProcessRepository

pytestmark = pytest.mark.exhaustive

FIRST = "# Export notes\n\nNotes can be exported.\n\n1. Write the exporter\n2. Add the command\n"
SECOND = "# Export notes\n\nNotes can be exported as CSV.\n\n1. Write the exporter\n2. Choose the columns\n"


@pytest.fixture
def codex(desk: InProcessRepository) -> Workbench:
    """Codex, with the hook that captures plans, which its user trusts."""
    needs.need("unshare", "codex")
    workbench = Workbench(Codex(), desk.path, desk.env)
    assert desk.type("install", "capture", "--for", "codex").exit == 0
    workbench.program.trust_hooks(desk.path.parent, project_discovery.require(str(desk.path)))
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


def plan_in_plan_mode(workbench: Workbench, root: str, plan: str) -> list[dict[str, Any]]:
    """Let the model propose a plan in plan mode, which only the app server can enter; return what the server said."""

    def session() -> list[dict[str, Any]]:
        model = FakeModel(workbench.program.form, scripted(proposal(plan)))
        provider = f'model_providers.fake.base_url="{model.url}/v1"'
        server = subprocess.Popen(
            [needs.client("codex"), "-c", provider, "app-server"],
            cwd=root,
            env=workbench.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert server.stdin is not None
        assert server.stdout is not None
        messages: list[dict[str, Any]] = []
        mode = {"mode": "plan", "settings": {"model": Codex.model}}
        thread = {"cwd": root, "model": Codex.model, "approvalPolicy": "never", "sandbox": "danger-full-access"}
        text = [{"type": "text", "text": "Plan it.", "text_elements": []}]
        client = {"clientInfo": {"name": "test", "version": "1"}, "capabilities": {"experimentalApi": True}}
        _send(server.stdin, {"id": 1, "method": "initialize", "params": client})
        for line in server.stdout:
            message = json.loads(line)
            messages.append(message)
            if message.get("id") == 1:
                _send(server.stdin, {"method": "initialized"})
                _send(server.stdin, {"id": 2, "method": "thread/start", "params": thread})
            elif message.get("id") == 2:
                turn = {"threadId": message["result"]["thread"]["id"], "input": text, "collaborationMode": mode}
                _send(server.stdin, {"id": 3, "method": "turn/start", "params": turn})
            elif message.get("method") == "turn/completed":
                break
        server.stdin.close()
        server.stdout.close()
        server.terminate()
        server.wait()
        model.close()
        return messages

    messages: list[dict[str, Any]] = run_isolated(session)
    return messages


def _send(stream: IO[str], message: dict[str, Any]) -> None:
    stream.write(json.dumps(message) + "\n")
    stream.flush()


def test_a_plan_of_plan_mode_is_captured_from_the_transcript(codex: Workbench, desk: InProcessRepository) -> None:
    messages = plan_in_plan_mode(codex, str(desk.path), FIRST)
    items = [message["params"]["item"] for message in messages if message.get("method") == "item/completed"]
    assert "<proposed_plan>" not in json.dumps([item for item in items if item["type"] == "agentMessage"])
    (plan,) = captured(desk)
    assert [task.text for task in plan.tasks] == ["Write the exporter", "Add the command"]


def test_a_turn_without_a_plan_captures_nothing(codex: Workbench, desk: InProcessRepository) -> None:
    session = codex.run(scripted([Say("Use `<proposed_plan>` for plans.")]))
    assert session.status == 0
    assert not captured(desk)


def test_a_plan_that_gemini_asks_about_is_captured(desk: InProcessRepository) -> None:
    needs.need("unshare", "gemini")
    workbench = Workbench(Gemini(), desk.path, desk.env)
    assert desk.type("install", "capture", "--for", "gemini").exit == 0
    names = iter(("enter_plan_mode", "write_file", "exit_plan_mode"))

    def answer(request: Request) -> Reply:
        name = next(names, "")
        if name == "enter_plan_mode":
            return Reply([Use(name, {"reason": "It is a large change."})])
        if name == "write_file":
            folder = re.findall(r"\.gemini/tmp/[\w/-]+/plans", request.text)[-1]
            return Reply([Use(name, {"file_path": f"{desk.path.parent}/{folder}/notes.md", "content": FIRST})])
        return Reply([Use(name, {"plan_filename": "notes.md"}) if name else Say("Done.")])

    session = workbench.run(answer)
    assert "Plan approved" in session.result_of(2)
    tasks = [task.text for plan in captured(desk) for task in plan.tasks]
    is_captured = tasks == ["Write the exporter", "Add the command"]
    Results("gemini").check("plans of plan mode are captured", "yes" if is_captured else "no")
