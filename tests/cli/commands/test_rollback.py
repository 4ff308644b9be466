"""`rollback` as somebody types it: what it says before, and behind."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.approved_plan import FAILS, HEAD, MAKE, SEE, run_id, with_approved_plan
from tests.in_process_repository import NAME, InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository."""
    return InProcessRepository(tmp_path / "desk", monkeypatch)


def test_a_rollback_says_what_it_will_do_and_what_it_did(desk: InProcessRepository) -> None:
    with_approved_plan(desk, MAKE, SEE).type("run")
    run = run_id(desk)
    preview = desk.type("rollback", "--dry-run").out.splitlines()
    assert preview[0] == f"would roll back 2 steps (make, see) of run {run}"
    assert "  remove src/made.py" in preview
    assert "  reopen: Make it." in preview
    assert (desk.path / "src/made.py").exists()
    result = desk.type("rollback")
    assert result.exit == 0
    lines = result.out.splitlines()
    assert lines[0] == "rolling back 2 steps: make, see"
    assert "  remove src/made.py" in lines
    assert "  reopened: Make it." in lines
    assert f"rolled back 2 steps (make, see) of run {run}: removed 1 path, reopened 2 tasks" in lines
    assert lines[-1] == f"next: execplan show {NAME} --run {run}"
    assert not (desk.path / "src/made.py").exists()
    assert desk.refused(1, "nothing-to-roll-back", "rollback")


def test_the_document_of_a_rollback(desk: InProcessRepository) -> None:
    (line,) = with_approved_plan(desk, MAKE, SEE).type("run", "-q").out.splitlines()
    assert line.startswith("completed 2 of 2 steps in ")
    preview = desk.data("rollback", "--dry-run")
    assert (preview["changed"], preview["removed"]) == (False, ["src/made.py"])
    data = desk.data("rollback", "--step", "make")
    assert (data["changed"], data["removed"], data["steps"], data["whole"]) == (True, ["src/made.py"], ["make"], False)


def test_what_was_changed_since_is_not_overwritten(desk: InProcessRepository) -> None:
    with_approved_plan(desk, MAKE, SEE).type("run")
    desk.write("src/made.py", "X = 2\n")
    error = desk.refused(4, "changed-since", "rollback")
    assert any("src/made.py" in candidate for candidate in error["candidates"])
    assert f"execplan rollback {desk.data('runs')['runs'][0]['id']} -p " in error["hint"]
    assert (desk.path / "src/made.py").read_text() == "X = 2\n"


UNITTEST = """
```sh {#unit task="See it."}
python3 -m unittest discover -s checks
```
"""


def test_after_a_rollback_every_view_says_rolled_back(desk: InProcessRepository) -> None:
    case = "import unittest\n\n\nclass Case(unittest.TestCase):\n    def test_one(self):\n        pass\n\n    def test_two(self):\n        pass\n"
    desk.write("checks/test_case.py", case)
    with_approved_plan(desk, MAKE, UNITTEST).type("run")
    assert desk.data("show", "--run")["record"]["validation"]["tests_run"] == 2
    assert desk.data("stats")["execution_success_rate"] == 1
    desk.type("rollback")
    (run,) = desk.data("runs")["runs"]
    assert (run["state"], run["status"], run["done"], run["total"]) == ("rolled_back", "rolled_back", 0, 2)
    assert [listed["id"] for listed in desk.data("runs", "--state", "rolled_back")["runs"]] == [run["id"]]
    assert desk.data("runs", "--state", "failed")["runs"] == []
    (file,) = desk.path.glob(f".agent/execplans/artifacts/{NAME}/runs/*/record.json")
    record = json.loads(file.read_text())
    assert (record["status"], record["completed_steps"]) == ("rolled_back", [])
    assert [step["status"] for step in record["steps"]] == ["pending", "pending"]
    assert desk.data("stats")["executions"] == {"completed": 0, "failed": 0, "rolled_back": 1}


def test_after_a_rollback_of_a_revision_the_plan_s_own_steps_are_compiled(desk: InProcessRepository) -> None:
    desk.write("../.config/execplan/config.toml", '[execution]\nsandbox = "off"\nrollback_on = []\n')
    assert with_approved_plan(desk, MAKE, FAILS).type("run").exit == 1
    desk.plan(HEAD + MAKE + FAILS.replace("nowhere", "elsewhere"))
    assert desk.type("replan", "--reason", "It is elsewhere.").exit == 0
    assert desk.type("rollback").exit == 0
    desk.plan(HEAD + MAKE + SEE)
    evaluate_command, compile_command = f"execplan evaluate {NAME}", f"execplan compile {NAME}"
    assert desk.type("show", "--run").out.endswith(f"\nnext: {compile_command}\n")
    assert f"\n  {evaluate_command}\n" in desk.type("prime").out
    assert desk.type(*evaluate_command.split()[1:]).out.endswith(f"\nnext: {compile_command}\n")
    assert desk.type(*compile_command.split()[1:]).exit == 0
    assert "cat src/made.py" in desk.type("evaluate").out
