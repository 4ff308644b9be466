"""Replanned runs as they are typed: run, replan, evaluate, approve, resume, with the real engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from execplan.core.errors import ExecplanError
from execplan.execution.engine.audit_log.log_verification import verify_log
from execplan.execution.engine.replanning import next_revision
from execplan.execution.engine.run_records import record_builder, run_directories
from tests.in_process_repository import NAME, InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path

    from execplan.execution.run_record import Record

PLAN = """\
# Build the parser

## Progress

- [ ] Make it.
- [ ] Check it.

## Concrete Steps

```python {#make type=create_file target=src/made.py task="Make it."}
X = 1
```

```sh {#check needs=make task="Check it."}
grep -q Y src/made.py
```

```sh {#last needs=check}
grep -q 1 src/made.py
```
"""
NEW = """\
{"steps": [
  {"id": "fresh", "type": "create_file", "target": "src/fresh.py", "content": "Y = 1\\n", "depends_on": ["make"]},
  {"id": "look", "type": "execute_command", "command": "grep -q Y src/fresh.py", "depends_on": ["fresh"], "task": "Check it."}
]}
"""


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository with a plan of three steps, of a user whom nothing is rolled back for, without a sandbox."""
    repository = InProcessRepository(tmp_path / "repo", monkeypatch)
    settings = tmp_path / ".config/execplan/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[execution]\nrollback_on = []\nsandbox = "off"\n')
    return repository


def begin(desk: InProcessRepository, plan: str, exit: int) -> None:
    """Approve a plan and run it to where it stops."""
    desk.plan(plan)
    desk.approve()
    assert desk.type("run").exit == exit


def recorded(desk: InProcessRepository) -> Record:
    """The record of the last run."""
    project, ref = desk.project()
    record = record_builder.read_record(run_directories.find_run(project, ref, None))
    assert record is not None
    assert verify_log(project, ref).reasons == ()
    return record


def tasks(desk: InProcessRepository) -> list[str]:
    listed: list[Any] = desk.data("show")["tasks"]
    return [task["state"] for task in listed]


def test_new_steps_take_over_where_a_run_failed(desk: InProcessRepository) -> None:
    begin(desk, PLAN, 1)
    inode = (desk.path / "src/made.py").stat().st_ino
    result = desk.type("replan", "--reason", "It looks in the wrong file.", "--new-information", NEW)
    assert result.exit == 0
    for excerpt in (
        "step check was removed",
        "step fresh was added",
        "done, not run again: make",
        "next: execplan evaluate",
    ):
        assert excerpt in result.out
    assert "replan" not in desk.type("resume").out, "nothing goes on unapproved"
    assert recorded(desk).status == "replanning"
    desk.approve()
    resumed = desk.type("resume")
    assert resumed.exit == 0, resumed
    record = recorded(desk)
    assert (record.status, record.revision, record.completed_steps) == ("completed", 2, (1, 2, 3))
    assert [(step.id, step.status, step.attempts) for step in record.steps] == [
        ("make", "completed", 1),
        ("fresh", "completed", 1),
        ("look", "completed", 1),
    ]
    assert [(entry.revision, entry.completed_steps, entry.failed_steps) for entry in record.history] == [
        (2, (1,), (2,))
    ]
    assert (record.resources.files_created, tasks(desk)) == (2, ["done", "done"])
    assert (desk.path / "src/made.py").stat().st_ino == inode, "what was done is not done again"
    text = desk.type("audit").out
    assert "replanned revision 2: It looks in the wrong file." in " ".join(text.split())
    assert "look, attempt 1: grep -q Y src/fresh.py" in text, "the ledger says what ran, of later revisions too"
    assert desk.type("replan", "--reason", "x").exit == 1


@pytest.mark.parametrize("is_revised", [False, True])
def test_a_run_without_steps_in_its_plan_is_only_rolled_back(desk: InProcessRepository, *, is_revised: bool) -> None:
    begin(desk, PLAN, 1)
    if is_revised:
        desk.plan(PLAN.replace("grep -q Y", "grep -q X"))
        assert desk.type("replan", "--reason", "It looks for the wrong text.").exit == 0
    head, heading, _ = (desk.path / f".agent/execplans/{NAME}.md").read_text().partition("## Concrete Steps\n")
    desk.plan(head.replace("[x]", "[ ]") + heading + "\nSee the manual.\n")
    rollback = desk.type("status", "--json").json["next"][0]
    assert rollback.startswith("execplan rollback 0001-")
    assert desk.type("next", "--json").json["next"][0] == rollback
    assert "can't continue: its steps were removed from the plan\n" in desk.type("next").out
    for refused in (["replan", "--reason", "w"], ["replan", "--reason", "w", "--dry-run"], ["resume"]):
        error = desk.refused(3, "no-steps", *refused)
        assert error["hint"].startswith(f"roll it back: execplan rollback 1 -p {NAME}; ")
    assert desk.type(*rollback.split()[1:]).exit == 0
    for command in ("status", "next", *(["evaluate"] if is_revised else [])):
        last = desk.type(command).out.splitlines()[-1]
        assert "then: execplan done " in last, command
    assert desk.type("done", "1", "2").exit == 0


def test_a_run_that_replans_by_itself(desk: InProcessRepository) -> None:
    begin(desk, PLAN.replace("{#check needs=make", "{#check needs=make on-failure=replan"), 8)
    record = recorded(desk)
    assert (record.status, record.revision) == ("in_progress", 2), "it is tried again once, and then it asks"
    assert [entry.failed_steps for entry in record.history] == [(2,)]
    assert "run 1 is waiting for an answer: step check failed: " in desk.type("status").out
    steps = desk.data("evaluate")["steps"]
    assert [step["dry_run"]["kind"] for step in steps] == ["done", "exact", "exact"]
    assert desk.type("resume", "--answer", "again").exit == 8, "it fails again, and asks again"
    assert recorded(desk).revision == 2
    desk.write("src/made.py", "X = 1\nY = 1\n")
    error = desk.refused(4, "drifted", "resume", "--answer", "again")
    assert any("src/made.py: different content (" in line for line in error["candidates"])
    desk.write("src/made.py", "X = 1\n")
    assert desk.type("resume", "--answer", "stop").exit == 1
    record = recorded(desk)
    assert (record.status, record.revision, record.steps[0].status) == ("failed", 2, "completed")
    undone = desk.type("rollback")
    assert undone.exit == 0, undone
    assert recorded(desk).status == "rolled_back"
    assert not (desk.path / "src/made.py").exists()
    assert tasks(desk) == ["open", "open"]


def test_a_run_that_cannot_be_planned_anew_has_failed(
    desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(request: object) -> None:
        raise ExecplanError("bad-replan", "last looks at check, which is removed")

    monkeypatch.setattr(next_revision, "replan_document", refuse)
    begin(desk, PLAN.replace("{#check needs=make", "{#check needs=make on-failure=replan"), 1)
    record = recorded(desk)
    assert (record.status, record.revision, record.failed_steps) == ("failed", 1, (2,))


def test_a_revision_runs_as_a_whole_once_the_run_is_rolled_back(desk: InProcessRepository) -> None:
    """What a run had done counts for that run only."""
    begin(desk, PLAN, 1)
    desk.data("replan", "--reason", "x", "--new-information", NEW)
    desk.data("rollback")
    steps = desk.data("evaluate")["steps"]
    assert [step["dry_run"]["kind"] for step in steps] == ["exact", "exact", "exact"]
    assert desk.type("evaluate").out.splitlines()[-1] == f"next: execplan compile {NAME}", "the plan has other steps"
    assert desk.approve()["done"] == []
    assert desk.type("run").exit == 0
    record = recorded(desk)
    assert (record.run_id[:4], record.revision, record.status, record.history) == ("0002", 2, "completed", ())


def test_an_approval_that_expired_is_renewed_for_what_is_left(desk: InProcessRepository) -> None:
    """The first revision too: what is done fails no evaluation."""
    begin(desk, PLAN, 1)
    desk.later(2 * 86_400)
    desk.refused(4, "approval-expired", "resume")
    assert desk.approve()["done"] == ["make"]
    assert desk.type("resume").exit == 1, "it goes on, and fails at the same step"
    assert [step.status for step in recorded(desk).steps] == ["completed", "failed", "blocked"]


def test_a_resume_needs_the_approval_of_all_that_is_left(desk: InProcessRepository) -> None:
    begin(desk, PLAN.replace("grep -q 1 src/made.py", "rm -f src/gone"), 1)
    desk.later(2 * 86_400)
    desk.data("approve", "--digest", desk.digest()[:8], "--step", "check")
    for arguments in (("resume",), ("resume", "--dry-run")):
        error = desk.refused(7, "step-not-approved", *arguments)
        assert [line.partition(":")[0] for line in error["candidates"]] == ["last"]
        assert "select other steps" not in error["hint"], "resume has no --step"
    assert desk.approve()["done"] == ["make"]
    assert desk.type("resume").exit == 1


def test_it_is_committed_with_its_evidence(desk: InProcessRepository) -> None:
    begin(desk, PLAN, 1)
    desk.commit()
    data = desk.data("replan", "--reason", "x", "--new-information", NEW, "--commit")
    lines = desk.git("show", "--name-only", "--format=%s", data["commit"]).splitlines()
    assert "revision 2" in lines[0]
    names = {path.rpartition("/")[2] for path in lines[2:]}
    assert names == {"execution-plan.json", "execution-plan-2.json", "journal.jsonl", "ledger.jsonl", "record.json"}
    assert desk.git("status", "--short") == ""


def test_usage(desk: InProcessRepository) -> None:
    desk.plan(PLAN)
    desk.refused(3, "no-such-run", "replan", "--reason", "x")
    assert desk.type("replan").exit == 2
    begin(desk, PLAN, 1)
    dry = desk.data("replan", "1", "-p", NAME, "--reason", "x", "--failed", "check", "--dry-run")
    assert (dry["changed"], dry["revision"], dry["done"]) == (False, 2, ["make"])
    assert '+  "revision": 2,' in dry["diff"]
    assert recorded(desk).status == "failed"
