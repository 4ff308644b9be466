"""What honest agents type, in all the ways in which they do: how much of it the guard allows, as the step that it is."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from execplan.agents.guard.guard_context import GuardContext, context_from_grant
from execplan.agents.guard.guard_decision import GuardDecision, decide
from execplan.agents.guard.tool_call import COMMAND, ToolCall
from execplan.core import clock
from execplan.core.documents.document_io import to_json_bytes
from execplan.core.project import project_discovery
from execplan.core.text.text_lines import digest
from execplan.execution.engine.agent_runs.guard_grant import GrantedStep, GuardGrant
from execplan.execution.permission import ALLOW, DENY, ApprovalTerms
from execplan.execution.world import State
from tests.agents.guard.matched_plan import runs, writes
from tests.agents.guard.test_hostile_calls import AROUND
from tests.conftest import Folder
from tests.execution.plan_documents import loaded, plan

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE = [line.split("\t") for line in Path(__file__).with_name("honest.tsv").read_text().splitlines()]
MIN_ALLOWED_RATE = 0.95
STEPS = (
    runs(1, "test", "make test", "make", "test"),
    runs(2, "unit", "python -m pytest -q tests/test_app.py", "python", "-m", "pytest", "-q", "tests/test_app.py"),
    runs(3, "say", "python3 tools/say.py 'a b'", "python3", "tools/say.py", "a b"),
    runs(4, "stage", "git add src/new.py", "git", "add", "src/new.py", outputs=["src/new.py"]),
    runs(5, "commit", "git commit -m 'Add the parser'", "git", "commit", "-m", "Add the parser"),
    runs(6, "web", "npm test", "npm", "test"),
    runs(7, "remove", "rm data.txt", "rm", "data.txt"),
    writes(8, "delete", "delete_file", "file.delete", target="docs/old.md"),
)
FILES = (
    "Makefile",
    "README.md",
    "data.txt",
    "docs/old.md",
    "src/app.py",
    "src/new.py",
    "tests/test_app.py",
    "tools/say.py",
)


class HonestCallRepository:
    """A repository with a plan, and one interpreter under two names."""

    def __init__(self, folder: Folder, patch: pytest.MonkeyPatch) -> None:
        self.folder, self.root = folder, str(folder.path.resolve())
        folder.git("init", "-q")
        for name in FILES:
            folder.write(name, "main\n")
        folder.plan()
        self.tools = folder.path.parent / "tools"
        self.tools.mkdir()
        (self.tools / "python3.11").write_text("#!/bin/sh\n")
        (self.tools / "python3.11").chmod(0o755)
        for name in ("python", "python3"):
            (self.tools / name).symlink_to("python3.11")
        patch.setenv("PATH", f"{self.tools}:{os.environ['PATH']}")
        patch.chdir(self.root)
        self.context = self._build_context()

    def _build_context(self) -> GuardContext:
        document: dict[str, Any] = json.loads(to_json_bytes(loaded(plan(*STEPS, mode="agent")).model_dump()))
        now = int(clock.epoch_seconds())
        terms = ApprovalTerms("digest", None, None, True, now - 10, now + 10_000, "LOW")
        grant = GuardGrant(
            plan="2026-01-01_parser",
            path="",
            run="",
            folder="",
            working="",
            home=project_discovery.find(self.root),
            revision=1,
            document="0" * 64,
            steps=tuple([GrantedStep(step, step["risk"]["level"], "") for step in document["steps"]]),
            constraints=document["constraints"],
            terms=terms,
            interval=100,
            reads="inside",
            tools=(),
            commits=(),
            hidden=(),
            witnesses={},
        )
        context = context_from_grant(grant, ())
        assert context.run_state is not None
        context.run_state.expected_states = {
            name: State("file", digest((self.folder.path / name).read_bytes()), 0o644)
            for name in ("docs/old.md", "data.txt")
        }
        return context

    def decide(self, command: str) -> GuardDecision:
        """What becomes of a command."""
        text = command.replace("ROOT", self.root).replace("{root}", self.root)
        return decide(ToolCall(COMMAND, "Bash", self.root, command=text), self.context, clock.epoch_seconds())


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HonestCallRepository]:
    folder = Folder(tmp_path_factory.mktemp("honest") / "repo")
    folder.path.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        yield HonestCallRepository(folder, patch)


@pytest.mark.parametrize("row", TABLE, ids=[row[0] for row in TABLE])
def test_a_call_that_honest_agents_make(repository: HonestCallRepository, row: list[str]) -> None:
    command, step, kind = row
    decision = repository.decide(command)
    assert decision.kind == kind, decision.reason
    assert kind == DENY or decision.step == step, decision.reason


@pytest.mark.parametrize("ends", ["; ", "\n", ";\n"])
def test_a_change_into_the_same_directory_may_fail(repository: HonestCallRepository, ends: str) -> None:
    decision = repository.decide(f"cd ROOT{ends}make test 2>&1 | tail -50")
    assert (decision.kind, decision.step) == (ALLOW, "test")


@pytest.mark.parametrize(
    "command",
    [
        "cd ROOT/src; make test",
        "cd src; make test",
        "cd /tmp; make test",
        "cd ROOT & make test",
        "cd ROOT | make test",
        "cd ROOT || make test",
        "cd ROOT; make test; touch x",
        "cd ROOT; cd src; make test",
        "cd -; make test",
        "cd; make test",
        "cd ROOT; make test > x",
        "cd ROOT; echo x | make test",
        "sed -ne '1w x' src/app.py",
        "sed -ne 1,5p -i src/app.py",
        "git diff --ext-diff",
    ],
)
def test_what_looks_like_these_calls_is_denied(repository: HonestCallRepository, command: str) -> None:
    assert repository.decide(command).kind == DENY


def test_the_rate(repository: HonestCallRepository) -> None:
    allowed = [command for command, *_ in TABLE if repository.decide(command).kind == ALLOW]
    print(f"guard: {len(allowed)} of {len(TABLE)} honest calls are allowed")
    assert len(TABLE) >= 260
    assert len(set(map(tuple, TABLE))) == len(TABLE)
    assert len(allowed) >= MIN_ALLOWED_RATE * len(TABLE)


@pytest.mark.parametrize("call", AROUND, ids=[call.command for call in AROUND])
def test_no_attack_on_the_same_steps_is_allowed(repository: HonestCallRepository, call: ToolCall) -> None:
    command = (
        call.command.replace("make all", "make test")
        .replace("git checkout", "git add")
        .replace("make part", "make other")
    )
    assert repository.decide(command).kind == DENY


def test_python_that_is_another_interpreter(repository: HonestCallRepository) -> None:
    command = "python3 -m pytest -q tests/test_app.py"
    assert repository.decide(command).step == "unit"
    interpreter = repository.tools / "python3"
    interpreter.unlink()
    interpreter.write_text("#!/bin/sh\n")
    interpreter.chmod(0o755)
    assert repository.decide(command).kind == DENY
    interpreter.unlink()
    assert repository.decide(command).kind == DENY
    (repository.folder.path / "bin").mkdir()
    (repository.folder.path / "bin/python3").symlink_to(repository.tools / "python3.11")
    with pytest.MonkeyPatch.context() as patch:
        for front in ("bin", "", ".", str(repository.folder.path / "bin")):
            patch.setenv("PATH", f"{front}:{repository.tools}:/usr/bin:/bin")
            assert repository.decide(command).kind == DENY, front
    interpreter.symlink_to("python3.11")
    assert repository.decide(command).step == "unit"
