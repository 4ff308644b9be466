"""A plan whose last run is not finished: every command shows it, and nothing archives or renames the plan."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest

from execplan.execution.engine.journal import journal_entries
from execplan.execution.engine.run_lock import acquire_run_lock
from tests.cli.approved_plan import FAILS, HEAD, MAKE, SLOW, run_id, with_approved_plan
from tests.cli.commands.test_run_interruption import wait_for_entries
from tests.cli.journaled_run import OK, JournaledRun
from tests.commands import check_command
from tests.in_process_repository import NAME, InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path

ONE_TASK = """\
# Build it

## Progress

- [ ] Make it.

## Surprises & Discoveries

- Observation: None.

## Decision Log

- Decision: None.

## Outcomes & Retrospective

- Outcome: It works.

## Concrete Steps

```python {#make type=create_file target=src/made.py task="Make it"}
X = 1
```

```sh {#see needs=make effect=idempotent}
sleep 30
```
"""
ROLLBACK: dict[str, Any] = {
    "automatic": "",
    "user": "ann",
    "session": None,
    "changes": [],
    "folders": [],
    "undone_not": [],
}
STATES = {
    "waiting": "is waiting for an answer",
    "cut_short": "was interrupted",
    "rolling_back": "is only partly rolled back: the rollback was interrupted",
    "by_agent": "is in progress, performed by an agent",
}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository."""
    return InProcessRepository(tmp_path / "desk", monkeypatch)


@pytest.fixture
def interrupted(desk: InProcessRepository) -> str:
    """A complete plan whose run was interrupted after it ticked the last task; the id of the run."""
    desk.plan(ONE_TASK)
    desk.approve()
    process = desk.start("run")
    wait_for_entries(desk, "intent", 2)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    return run_id(desk)


def test_every_view_shows_an_interrupted_run_of_a_complete_plan(desk: InProcessRepository, interrupted: str) -> None:
    choices = [f"execplan resume {interrupted} -p {NAME}", f"execplan rollback {interrupted} -p {NAME}"]
    run = {"id": interrupted, "state": "cut_short", "why": None, "reason": None, "ended": None, "executor": None}
    for command in ("status", "list", "next", "show", "prime"):
        result = desk.type(command)
        assert "run 1 was interrupted" in result.out, command
        assert "execplan archive" not in result.out, command
        document = desk.type(command, "--json").json
        assert document["ok"] is True
        if command in ("next", "show", "status"):
            assert document["next"] == choices, command
    assert all(choice in desk.type("prime").out for choice in choices)
    assert desk.data("status")["plans"][0]["execution"]["run"] == run
    assert desk.data("list")["plans"][0]["execution"]["run"] == run
    assert desk.data("show")["run"] == desk.data("next")["run"] == run
    assert "next: execplan resume" in desk.type("status").out
    assert "archive" not in desk.type("checkpoint", "--dry-run").out.split("## ")[0]


@pytest.mark.parametrize("how", [(), ("--as", "superseded", "--by", "scanner"), ("--dry-run",)])
def test_archive_stops_until_the_run_is_resumed_or_rolled_back(
    desk: InProcessRepository, interrupted: str, how: tuple[str, ...]
) -> None:
    desk.plan(ONE_TASK.replace("Build it", "Scan it"), "2026-01-02_scanner")
    error = desk.refused(1, "open-run", "archive", "parser", *how)
    assert error["candidates"] == [f"run {interrupted} was interrupted"]
    assert error["hint"].startswith("finish or roll back the run first: ")
    for command in error["hint"].partition(": ")[2].split("; "):
        check_command(command)
    assert desk.path.joinpath(f".agent/execplans/{NAME}.md").exists()
    assert desk.type("rollback", "-p", "parser").exit == 0
    assert desk.data("show", "parser")["run"] is None
    assert desk.data("archive", "parser", "--force", "--reason", "Not wanted.")["changed"]


def test_rename_stops_too_for_it_would_break_the_resume(desk: InProcessRepository, interrupted: str) -> None:
    for options in ((), ("--dry-run",)):
        error = desk.refused(1, "open-run", "rename", "parser", "Parse it", *options)
        assert "can't be renamed" in error["message"]
    assert desk.type("rollback").exit == 0
    assert desk.data("rename", "parser", "Parse it")["changed"]


def test_force_archives_it_with_a_warning_and_restore_brings_the_run_back(
    desk: InProcessRepository, interrupted: str
) -> None:
    document = desk.type("archive", "--force", "--reason", "The backups are gone.", "--json").json
    assert document["ok"] is True
    (warning,) = [warning for warning in document["warnings"] if interrupted in warning]
    assert f"execplan restore {NAME}" in warning
    assert desk.type("resume", "-p", "parser").exit == 1
    desk.data("restore", "parser")
    assert desk.type("rollback", "-p", "parser").exit == 0


@pytest.mark.parametrize("state", STATES)
def test_every_state_of_an_unfinished_run(desk: InProcessRepository, state: str) -> None:
    with_approved_plan(desk, MAKE, SLOW)
    run = JournaledRun(desk, **({"mode": "agent"} if state == "by_agent" else {}))
    end_journal(run, state)
    assert desk.data("status")["plans"][0]["execution"]["run"]["state"] == state
    assert STATES[state] in desk.type("status").out
    error = desk.refused(1, "open-run", "archive")
    assert error["candidates"] == [f"run {run.paths.id} {STATES[state]}"]
    command = {"by_agent": "handoff", "rolling_back": "rollback"}.get(state, "resume")
    assert f"first: execplan {command} " in error["hint"]
    desk.refused(1, "open-run", "rename", "parser", "Parse it")


def end_journal(run: JournaledRun, state: str) -> None:
    """Let the journal end in a state."""
    run.step("make", OK)
    if state == "waiting":
        run.write(journal_entries.PAUSED, why="checkpoint", step="make", question="Go on?", seconds=1.0)
    elif state == "rolling_back":
        run.write(journal_entries.ROLLBACK, steps=["make"], **ROLLBACK)


def test_a_run_at_work_keeps_its_exit_code(desk: InProcessRepository) -> None:
    with_approved_plan(desk, MAKE, SLOW)
    run = JournaledRun(desk)
    project, ref = desk.project()
    with acquire_run_lock(project, f"run {run.paths.id} of {ref.id}"):
        desk.refused(5, "run-busy", "archive", "--dry-run")
        assert "run 1 is running" in desk.type("status").out
        assert desk.type("status", "--json").json["next"] == [f"execplan show {NAME} --run {run.paths.id}"]


def test_an_older_run_that_is_open_counts_too(desk: InProcessRepository) -> None:
    """Two branches that were merged may each have brought a run."""
    with_approved_plan(desk, MAKE, SLOW)
    first, second = JournaledRun(desk), JournaledRun(desk)
    second.step("make", OK)
    second.write("ended", status="completed", cause="", reason="", seconds=1.0)
    assert desk.refused(1, "open-run", "archive")["candidates"] == [f"run {first.paths.id} was interrupted"]


def test_done_names_the_run_rather_than_archive(desk: InProcessRepository) -> None:
    with_approved_plan(desk, MAKE, SLOW)
    run = JournaledRun(desk)
    desk.type("done", "1")
    assert desk.type("done", "2", "--json").json["next"][0] == f"execplan resume {run.paths.id} -p {NAME}"


def test_a_finished_run_changes_nothing(desk: InProcessRepository) -> None:
    desk.plan(ONE_TASK.replace("[ ]", "[x]"))
    run = JournaledRun(desk)
    run.step("make", OK)
    run.write("ended", status="completed", cause="", reason="", seconds=1.0)
    assert desk.data("status")["plans"][0]["execution"] is None
    assert desk.data("show")["run"] is None
    assert desk.type("status", "--json").json["next"] == [f"execplan archive {NAME}"]


def test_a_waiting_revision_is_approved_before_it_is_resumed(desk: InProcessRepository) -> None:
    settings = desk.path.parent / ".config/execplan/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[execution]\nsandbox = "off"\nrollback_on = []\n')
    with_approved_plan(desk, MAKE, FAILS)
    assert desk.type("run").exit == 1
    desk.write("src/nowhere.py", "")
    run = run_id(desk)
    steps = '{"steps": [{"id": "more", "type": "create_file", "target": "src/more.py", "content": "X = 1\\n"}]}'
    desk.data("replan", "--reason", "It is done otherwise.", "--new-information", steps)
    evaluate, resume = f"execplan evaluate {NAME}", f"execplan resume {run} -p {NAME}"
    for command in ("status", "next", "show", "runs", "show --run"):
        follow = desk.type(*command.split(), "--json").json["next"]
        assert follow[0] == evaluate, command
        if command in ("status", "next", "show"):
            assert follow == [evaluate, f"execplan rollback {run} -p {NAME}"], command
    assert evaluate in desk.type("prime").out
    for command in ("status", "prime", "archive"):
        result = desk.type(command)
        assert "is waiting for an approval" in result.out + result.err, command
    assert desk.type("resume").exit == 4
    blocked = desk.refused(1, "open-run", "archive")["hint"]
    assert blocked == f"finish or roll back the run first: {evaluate}; execplan rollback {run} -p {NAME}"
    desk.approve()
    for command in ("status", "next", "show", "runs", "show --run"):
        assert desk.type(*command.split(), "--json").json["next"][0] == resume, command
    refused = desk.refused(1, "open-run", "archive")
    assert resume in refused["hint"]
    assert refused["candidates"] == [f"run {run} can be resumed: its new revision is approved"]
    desk.patch.setenv("EXECPLAN_AGENT", "agent-1")
    asked = [f"ask a person to run: execplan {command} {run} -p {NAME}" for command in ("resume", "rollback")]
    assert desk.type("show", "--run", "--json").json["next"] == asked
    desk.patch.delenv("EXECPLAN_AGENT")
    assert desk.type("resume").exit == 0


def test_a_corrected_script_is_approved_before_the_run_is_resumed(desk: InProcessRepository) -> None:
    desk.write("../.config/execplan/config.toml", '[execution]\nsandbox = "off"\n')
    desk.write("t.sh", "exit 3\n")
    with_approved_plan(desk, "```sh {#check}\nsh t.sh\n```\n")
    assert desk.type("run").exit == 1
    run, evaluate = run_id(desk), f"execplan evaluate {NAME}"
    commands = ("next", "status", "show", "show --run")
    for command in commands:
        assert evaluate not in desk.type(*command.split(), "--json").json["next"], "nothing has changed"
    desk.write("t.sh", "exit 0\n")
    for command in commands:
        follow = [line for line in desk.type(*command.split(), "--json").json["next"] if "show" not in line]
        assert follow[0] == evaluate, command
        assert not [line for line in follow if "resume" in line], command
    assert "code that its steps use has changed" in desk.type("next").out
    assert desk.type("resume").exit != 0
    assert f"approve {NAME}" in desk.type("evaluate", "--json").json["next"][0]
    desk.approve()
    for command in ("next", "status"):
        assert desk.type(command, "--json").json["next"] == [f"execplan resume 1 -p {NAME}"], command
    assert desk.type("resume").exit == 0
    assert run == run_id(desk)


def test_after_a_rollback_a_revision_is_approved_only_if_the_plan_has_its_steps(desk: InProcessRepository) -> None:
    desk.write("../.config/execplan/config.toml", '[execution]\nsandbox = "off"\nrollback_on = []\n')
    with_approved_plan(desk, MAKE, FAILS)
    assert desk.type("run").exit == 1
    desk.plan(HEAD + MAKE + FAILS.replace("nowhere", "no_other"))
    compile_command = f"execplan compile {NAME}"
    assert desk.type("replan", "--reason", "Another file.", "--json").json["next"] == [f"execplan evaluate {NAME}"]
    assert desk.type("rollback").exit == 0
    assert desk.type("evaluate").out.endswith(f"\nnext: execplan approve {NAME}\n")
    desk.plan(HEAD + MAKE + FAILS.replace("nowhere", "a_third"))
    assert desk.type("evaluate").out.endswith(f"\nnext: {compile_command}\n")
    assert desk.type("evaluate", "--json").json["next"] == [compile_command]
    assert compile_command in desk.type("show", "--run", "--json").json["next"][:2]
    assert desk.type("compile").exit == 0
    assert desk.type("evaluate").out.endswith(f"\nnext: execplan approve {NAME}\n")


def test_a_revision_that_needs_no_approval_is_resumed(desk: InProcessRepository) -> None:
    settings = desk.path.parent / ".config/execplan/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[execution]\nsandbox = "off"\nrollback_on = []\n')
    with_approved_plan(desk, MAKE, FAILS)
    assert desk.type("run").exit == 1
    desk.write("src/nowhere.py", "")
    run = run_id(desk)
    assert desk.type("replan", "--reason", "It is there now.", "--json").json["next"] == [
        f"execplan resume {run} -p {NAME}"
    ]
    for command in ("status", "next", "show", "runs", "show --run"):
        follow = desk.type(*command.split(), "--json").json["next"]
        assert follow[0] == f"execplan resume {run} -p {NAME}", command
        assert not [suggestion for suggestion in follow if "approve" in suggestion or "evaluate" in suggestion], command
    assert f"execplan resume {run}" in desk.type("prime").out
    assert desk.type("resume").exit == 0


def test_other_steps_after_a_rollback_are_evaluated_without_compile(desk: InProcessRepository) -> None:
    desk.write("../.config/execplan/config.toml", '[execution]\nsandbox = "off"\nrollback_on = ["failure"]\n')
    with_approved_plan(desk, MAKE, FAILS)
    desk.patch.setenv("EXECPLAN_AGENT", "agent-1")
    assert desk.type("run").exit == 1
    desk.plan(HEAD + MAKE + FAILS.replace("nowhere", "made"))
    for command in ("next", "status", "show"):
        assert desk.type(*command.split(), "--json").json["next"][0] == f"execplan evaluate {NAME}", command
    assert f"Continue:\n  execplan evaluate {NAME}\n" in desk.type("prime").out
    assert desk.type("approve").exit == 0
    assert desk.type("run").exit == 0
    last_run = desk.data("runs")["runs"][0]["id"]
    assert desk.type("show", "--run", "1").out.endswith(f"\nnext: execplan show {NAME} --run {last_run} --as agent-1\n")


@pytest.mark.parametrize("command", ["resume", "rollback"])
def test_an_agent_does_not_ask_a_person_for_what_is_refused(desk: InProcessRepository, command: str) -> None:
    with_approved_plan(desk, MAKE)
    assert desk.type("run").exit == 0
    desk.patch.setenv("EXECPLAN_AGENT", "agent-1")
    code = {"resume": "nothing-to-resume", "rollback": "person-required"}[command]
    desk.refused({"resume": 1, "rollback": 3}[command], code, command)
    assert desk.type("archive", "--force", "--reason", "Done.").exit == 0
    desk.refused(1, "archived-plan", command, "-p", NAME)
