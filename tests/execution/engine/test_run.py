"""A run from its approval to its end, in a real repository."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import BUSY, CHECK_FAILED, CONFLICT, ENVIRONMENT, INPUT, POLICY, ExecplanError
from execplan.execution.engine import run_lock, run_preconditions, run_setup
from execplan.execution.engine.run import preview_run, run
from execplan.execution.engine.run_observer import RunObserver, RunOptions
from tests.crash.crash_scenario import tree
from tests.execution.engine.execution_plans import plan, step
from tests.execution.engine.run_repository import RunRepository, steps
from tests.in_process_repository import NAME

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from execplan.execution.engine.journal.journal import RunEntry

MAKE = '```python {#api type=create_file target=src/made.py task="Build the parser"}\nX = 1\n```'
COPY = "```sh {#see needs=api outputs=made.txt}\ncp src/made.py made.txt\n```"
DROP = "```text {#drop type=delete_file target=src/old.py}\nNobody calls it.\n```"
FAIL = "```sh {#fail}\nsh fail.sh\n```"


@pytest.fixture
def run_repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunRepository:
    """A repository with a plan."""
    repository = RunRepository(tmp_path / "repo", monkeypatch)
    repository.write("fail.sh", "echo half > half.txt\necho y = 2 > src/other.py\nexit 3\n")
    return repository


class EntryObserver(RunObserver):
    """One who does something when an entry is written, and remembers who ran."""

    def __init__(self, on_entry: Callable[[RunEntry], object]) -> None:
        self._on_entry = on_entry
        self.begun_steps: list[str] = []

    def begin(self, run: str, steps: object) -> None:
        """Remember the steps."""
        self.begun_steps = [begun_step.id for begun_step in steps]  # type: ignore[attr-defined]  # the model's

    def entry(self, entry: RunEntry) -> None:
        """Do it."""
        self._on_entry(entry)


def refused(exit: int, code: str, work: Callable[[], object]) -> ExecplanError:
    """The refusal."""
    with pytest.raises(ExecplanError) as caught:
        work()
    assert (caught.value.exit, caught.value.code) == (exit, code), caught.value.message
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("mkdir build", "touch build/x"),
        ("mkdir -p build/inner", "true"),
        ("mkdir build && touch build/x", "rm build/x"),
    ],
)
def test_a_directory_without_files_is_no_drift(run_repo: RunRepository, first: str, second: str) -> None:
    run_repo.write_user_settings('sandbox = "off"')
    fences = [
        f"```sh {{#one outputs=build shell}}\n{first}\n```",
        f"```sh {{#two needs=one inputs=build outputs=build}}\n{second}\n```",
        "```sh {#three needs=two inputs=build}\nls build\n```",
    ]
    run_repo.approve_plan(steps(*fences))
    finished = run_repo.run_plan()
    assert (finished.status, finished.reason) == ("completed", "")


def test_a_run_does_what_was_approved_and_says_so(run_repo: RunRepository) -> None:
    run_repo.write_user_settings('sandbox = "off"')
    run_repo.approve_plan(steps(MAKE, COPY, DROP))
    observer = EntryObserver(lambda entry: None)
    finished = run_repo.run_plan(observer)
    assert (finished.status, finished.warnings, finished.cause) == ("completed", (), "")
    assert run_repo.text("made.txt") == "X = 1\n"
    assert not run_repo.exists("src/old.py")
    assert run_repo.entry_names() == [
        "begun",
        *["intent api", "result api", "ticked api"],
        *["intent see", "result see", "intent drop", "result drop"],
        "ended",
    ]
    assert "- [x] (2026-01-01 00:00Z) Build the parser." in run_repo.text(f".agent/execplans/{run_repo.name}.md")
    assert observer.begun_steps == ["api", "see", "drop"]
    record = json.loads(run_repo.text(run_repo.last_run().record))
    assert (record["status"], record["completed_steps"]) == ("completed", [1, 2, 3])
    assert run_repo.type("audit", "--verify").exit == 0


def test_what_nobody_has_approved_is_not_run(run_repo: RunRepository) -> None:
    run_repo.plan(steps(MAKE))
    refused(POLICY, "not-approved", run_repo.run_plan)
    run_repo.approve()
    run_repo.write("src/made.py", "somebody else's\n")
    refused(CONFLICT, "stale-approval", run_repo.run_plan)
    assert not run_repo.runs()


def test_an_approval_serves_one_run(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(FAIL))
    assert run_repo.run_plan().status != "completed"
    refused(CONFLICT, "approval-used", run_repo.run_plan)


def test_steps_that_the_approval_does_not_cover_are_named_before_anything_is_begun(run_repo: RunRepository) -> None:
    run_repo.plan(steps(MAKE, COPY, DROP))
    run_repo.approve("--step", "api")
    error = refused(POLICY, "step-not-approved", run_repo.run_plan)
    assert [line.partition(":")[0] for line in error.candidates] == ["see", "drop"]
    assert not run_repo.runs()
    finished = run_repo.run_plan(steps=("api",))
    assert finished.status == "completed"
    assert run_repo.run_state().status_of == {"api": "completed", "see": "skipped", "drop": "skipped"}
    assert run_repo.run_state().reasons["see"] == "not selected"


def test_from_a_step_on(run_repo: RunRepository) -> None:
    run_repo.write_user_settings('sandbox = "off"')
    run_repo.write("src/made.py", "X = 2\n")
    run_repo.approve_plan(steps("```sh {#api}\nfalse\n```", COPY, DROP))
    finished = run_repo.run_plan(begin="see")
    assert finished.status == "completed"
    assert finished.warnings == ("see needs api, which is not selected; it is assumed to be done",)
    assert run_repo.text("made.txt") == "X = 2\n"
    refused(CONFLICT, "approval-used", run_repo.run_plan)


def test_the_id_of_a_fence_with_several_commands_names_all_of_its_steps(run_repo: RunRepository) -> None:
    run_repo.plan(steps("```sh {#both}\necho 1\necho 2\n```", "```sh {#see}\necho 3\n```"))
    run_repo.approve("--step", "both")
    assert run_repo.run_plan(steps=("both",)).status == "completed"
    assert run_repo.run_state().status_of == {"both.1": "completed", "both.2": "completed", "see": "skipped"}
    run_repo.approve()
    run_repo.run_plan(begin="both")
    assert set(run_repo.run_state().status_of.values()) == {"completed"}


def test_a_step_that_is_none_is_refused(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(MAKE))
    assert refused(INPUT, "no-such-step", lambda: run_repo.run_plan(steps=("apy",))).candidates == ("api",)
    refused(INPUT, "no-such-step", lambda: run_repo.run_plan(begin="2"))


def test_an_archived_plan_and_one_of_an_agent_are_refused(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(MAKE))
    project, ref = run_repo.project()
    archived = ref._replace(archived=True)
    refused(CHECK_FAILED, "archived-plan", lambda: run(project, archived, RunOptions(), RunObserver(), WriteOptions()))
    refused(INPUT, "agent-mode", lambda: run_preconditions.ensure_not_agent_mode(plan(step("a"), mode="agent"), ref))
    assert not run_repo.runs()


def test_two_runs_at_once_the_second_is_told_by_whom(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(MAKE))
    project, _ = run_repo.project()
    with run_lock.acquire_run_lock(project, "run 0001-12345678 of another"):
        error = refused(BUSY, "run-busy", run_repo.run_plan)
    assert "run 0001-12345678 of another" in error.message
    assert not run_repo.runs()
    assert run_repo.run_plan().status == "completed"


def test_a_failure_ends_the_run_and_what_it_changed_is_taken_back(run_repo: RunRepository) -> None:
    run_repo.write_user_settings('rollback_on = ["timeout"]')
    run_repo.approve_plan(steps(MAKE, FAIL, COPY))
    finished = run_repo.run_plan()
    assert (finished.status, finished.cause, finished.rolled_back) == ("failed", "failure", None)
    assert "fail failed: " in finished.reason
    assert run_repo.run_state().status_of == {"api": "completed", "fail": "failed", "see": "pending"}
    assert not run_repo.exists("half.txt")
    assert run_repo.text("src/other.py") == "y = 1\n"
    assert run_repo.exists("src/made.py")
    assert run_repo.entry_names()[-4:] == ["intent fail", "result fail", "retaken fail", "ended"]


def test_a_plan_that_a_step_removes_is_put_back_so_that_the_run_can_be_taken_back(run_repo: RunRepository) -> None:
    run_repo.write_user_settings('sandbox = "off"')
    run_repo.approve_plan(steps(f"```sh {{#drop}}\nrm .agent/execplans/{run_repo.name}.md\n```", MAKE))
    plan = run_repo.text(f".agent/execplans/{run_repo.name}.md")
    finished = run_repo.run_plan()
    assert [warning for warning in finished.warnings if "restored as" in warning]
    assert "- [x]" in run_repo.text(f".agent/execplans/{run_repo.name}.md")
    assert run_repo.type("rollback").exit == 0
    assert run_repo.text(f".agent/execplans/{run_repo.name}.md") == plan
    assert not run_repo.exists("src/made.py")


def test_a_journal_that_is_removed_in_the_state_stops_the_run_and_is_read_from_the_artifacts(
    run_repo: RunRepository,
) -> None:
    run_repo.write_user_settings('sandbox = "off"')
    run_repo.approve_plan(steps("```sh {#drop shell=sh}\nrm .git/execplan/runs/*.jsonl\n```", MAKE))
    error = refused(ENVIRONMENT, "journal-altered", run_repo.run_plan)
    assert "resume" in str(error.hint)
    assert not run_repo.exists("src/made.py")
    assert run_repo.entry_names() == ["begun", "intent drop"]
    assert run_repo.type("rollback").exit == 0


def test_a_disk_that_is_full_when_the_approval_is_used_says_that_it_still_holds(
    run_repo: RunRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_repo.approve_plan(steps(MAKE))
    full = ExecplanError("io-error", "full", hint="free some space; nothing was changed")

    def fail(*_: object, **__: object) -> None:
        raise full

    with monkeypatch.context() as patch:
        patch.setattr(run_setup, "create_state_directory", fail)
        error = refused(ENVIRONMENT, "io-error", run_repo.run_plan)
    assert str(error.hint).startswith(
        "free some space; nothing was done, and the approval is still valid; start again: "
    )
    assert run_repo.run_plan().status == "completed"


def test_what_needs_a_failed_step_is_blocked(run_repo: RunRepository) -> None:
    run_repo.write_user_settings("rollback_on = []")
    run_repo.approve_plan(steps(FAIL, "```sh {#then needs=fail}\ntrue\n```", DROP))
    run_repo.run_plan()
    assert run_repo.run_state().status_of == {"fail": "failed", "then": "blocked", "drop": "pending"}


def test_a_step_that_no_rollback_takes_back_leaves_what_it_did(run_repo: RunRepository) -> None:
    run_repo.write_user_settings("rollback_on = []")
    run_repo.approve_plan(steps("```sh {#fail rollback=false}\nsh fail.sh\n```"))
    run_repo.run_plan()
    assert run_repo.text("half.txt") == "half\n"


def test_a_failed_run_keeps_its_changes_for_a_revision(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(MAKE, FAIL))
    finished = run_repo.run_plan()
    assert (finished.status, finished.rolled_back) == ("failed", None)
    assert run_repo.exists("src/made.py")


def test_a_failed_run_is_rolled_back_where_the_policy_says_so(run_repo: RunRepository) -> None:
    run_repo.write_user_settings('rollback_on = ["failure"]')
    run_repo.approve_plan(steps(MAKE, FAIL))
    plan = run_repo.text(f".agent/execplans/{run_repo.name}.md")
    finished = run_repo.run_plan()
    assert (finished.status, finished.cause) == ("rolled_back", "failure")
    assert finished.rolled_back is not None
    assert finished.rolled_back.removed == ("src/made.py",)
    assert not run_repo.exists("src/made.py")
    assert run_repo.text(f".agent/execplans/{run_repo.name}.md") == plan
    assert json.loads(run_repo.text(run_repo.last_run().record))["status"] == "rolled_back"


def test_a_file_that_changes_while_the_run_goes_on_is_drift(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(MAKE, "```text {#drop type=delete_file target=src/old.py}\nOld.\n```"))

    def spoil(entry: RunEntry) -> None:
        if entry.kind == "result":
            run_repo.write("src/old.py", "somebody else's\n")

    finished = run_repo.run_plan(EntryObserver(spoil))
    assert (finished.status, finished.cause, finished.rolled_back) == ("failed", "drift", None)
    assert "src/old.py" in finished.reason
    assert run_repo.text("src/old.py") == "somebody else's\n"
    assert run_repo.exists("src/made.py")


def test_what_an_earlier_step_has_left_is_no_drift(run_repo: RunRepository) -> None:
    spoil = "```sh {#spoil}\ncp Makefile src/old.py\n```"
    run_repo.approve_plan(steps(spoil, "```text {#drop type=delete_file target=src/old.py}\nOld.\n```"))
    assert run_repo.run_plan().status == "completed"
    assert not run_repo.exists("src/old.py")


def test_a_clock_that_is_set_back_changes_nothing(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(MAKE, COPY, DROP))
    run_repo.later(3600)

    def back(entry: RunEntry) -> None:
        run_repo.later(-60 * entry.number)

    finished = run_repo.run_plan(EntryObserver(back))
    assert finished.status == "completed"
    assert run_repo.type("audit", "--verify").exit == 0


def test_a_run_that_takes_too_long_is_failed_by_timeout(run_repo: RunRepository) -> None:
    run_repo.write_user_settings("rollback_on = []")
    run_repo.approve_plan(steps("```sh {#slow}\nsleep 30\n```", MAKE))
    finished = run_repo.run_plan(seconds=1)
    assert (finished.status, finished.cause) == ("failed", "timeout")
    assert run_repo.run_state().status_of == {"slow": "failed", "api": "pending"}


def test_one_commit_of_the_plan_and_its_evidence(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(MAKE))
    run_repo.commit()
    run_repo.write("src/other.py", "mine\n")
    run_repo.git("add", "src/other.py")
    finished = run_repo.run_plan(commit=True)
    assert finished.commit is not None
    names = run_repo.git("show", "--name-only", "--format=%s", "HEAD").split("\n")
    assert all([name.startswith(".agent/execplans/") for name in names[2:] if name]), names
    assert run_repo.git("status", "--porcelain") == "M  src/other.py\n?? src/made.py\n"


def test_an_earlier_run_that_is_not_at_its_end_comes_first(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps("```sh {#ask confirm}\ntrue\n```"))
    assert run_repo.run_plan().question is not None
    run_repo.approve()
    error = refused(CHECK_FAILED, "run-under-way", run_repo.run_plan)
    assert "execplan resume 1" in error.hint
    assert "execplan rollback 1" in error.hint


def test_steps_beside_each_other_and_what_nobody_declares(run_repo: RunRepository) -> None:
    run_repo.write_user_settings("rollback_on = []")
    one = "```sh {#one parallel outputs=one.txt shell}\necho 1 > one.txt; echo x > stray.txt; sleep 0.2\n```"
    two = "```sh {#two parallel outputs=two.txt shell}\nsleep 0.4; echo 2 > two.txt\n```"
    run_repo.approve_plan(steps(one, two, "```sh {#end needs=two}\nfalse\n```"))
    finished = run_repo.run_plan(jobs=2)
    assert finished.status == "failed"
    assert run_repo.entry_names()[1:3] == ["intent one", "intent two"]
    changes = {step: change.path for step, change in run_repo.run_state().changes() if change.path != "stray.txt"}
    assert changes == {"one": "one.txt", "two": "two.txt"}
    stray = [(step, change.declared) for step, change in run_repo.run_state().changes() if change.path == "stray.txt"]
    assert stray == [("two", False)]


@pytest.mark.parametrize("two", ["sleep 0.5; exit 4", "sleep 0.5; mkdir undeclared; cp Makefile two.txt"])
def test_a_step_removes_no_directory_of_a_parallel_step(run_repo: RunRepository, two: str) -> None:
    run_repo.write_user_settings('sandbox = "off"')
    one = "```sh {#one parallel outputs=out/sub shell}\nmkdir -p out/sub\n```"
    run_repo.approve_plan(steps(one, f"```sh {{#two parallel outputs=two.txt shell on-failure=skip}}\n{two}\n```"))
    assert run_repo.run_plan(jobs=2).status == "completed"
    assert run_repo.run_state().created_folders(only_step="one") == {"out", "out/sub"}
    last_attempt = run_repo.run_state().last_result("two")
    assert last_attempt is not None
    assert last_attempt.folders == (("undeclared",) if last_attempt.ok else ())
    if last_attempt.ok:
        assert run_repo.type("rollback", "--step", "two").exit == 0
    assert (run_repo.path / "out/sub").is_dir()
    assert not run_repo.exists("undeclared")
    assert run_repo.type("rollback").exit == 0
    assert not run_repo.exists("out")


def test_a_step_that_fails_leaves_the_directory_in_which_a_parallel_step_writes(run_repo: RunRepository) -> None:
    run_repo.write_user_settings('sandbox = "off"')
    one = "```sh {#one parallel outputs=out/one.txt shell}\nmkdir -p out; sleep 1; cp Makefile out/one.txt\n```"
    two = "```sh {#two parallel outputs=out/two.txt shell on-failure=skip}\nmkdir -p out; exit 4\n```"
    run_repo.approve_plan(steps(one, two))
    finished = run_repo.run_plan(jobs=2)
    assert (finished.status, run_repo.text("out/one.txt")) == ("completed", "parser:\n")


def test_the_outlook_writes_nothing(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(MAKE, COPY, DROP, "```sh {#other when=drop.failed}\ntrue\n```"))
    before = tree(run_repo.path)
    project, ref = run_repo.project()
    preview = preview_run(project, ref, RunOptions(steps=("api", "see", "other")))
    assert tree(run_repo.path) == before
    assert [
        (previewed.evaluated_step.step.id, previewed.will_run, previewed.reason) for previewed in preview.steps
    ] == [
        ("api", True, ""),
        ("see", True, ""),
        ("drop", False, "not selected"),
        ("other", False, "it runs only if drop fails"),
    ]
    assert preview.steps[0].evaluated_step.dry_run.kind == "exact"
    assert "+X = 1" in preview.steps[0].evaluated_step.dry_run.diff
    assert run_repo.run_plan().status == "completed", "the approval is not used by looking"


def test_nobody_who_looks_on_any_more_ends_no_run(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(MAKE))

    def raise_broken_pipe(entry: RunEntry) -> None:
        raise BrokenPipeError

    assert run_repo.run_plan(EntryObserver(raise_broken_pipe)).status == "completed"


def test_nothing_that_a_run_has_written_is_run_by_git(run_repo: RunRepository) -> None:
    run_repo.write_user_settings('sandbox = "off"')
    run_repo.git("config", "core.hooksPath", "hooks")
    hooks = "mkdir hooks; for each in pre-commit reference-transaction; do cp hook.sh hooks/$each; chmod +x hooks/$each; done"
    run_repo.write("hook.sh", "#!/bin/sh\necho run >> ran\n")
    run_repo.plan(steps(f"```sh {{#hooks shell=sh outputs=hooks/pre-commit}}\n{hooks}\n```"))
    run_repo.commit()
    run_repo.approve()
    finished = run_repo.run_plan(commit=True)
    assert finished.commit is None
    assert "not committed: the run has changed what git runs automatically: hooks" in " ".join(finished.warnings)
    assert (run_repo.path / "hooks/pre-commit").exists()
    assert not (run_repo.path / "ran").exists()


PROSE = """\
# Say hello

## Progress

- [ ] Say hello
- [ ] Run `sh seen.sh`.
- [ ] Show it to somebody.

## Concrete Steps

Say hello:

    sh hello.sh

Expected output:

    hello
    done in 0.01s

Then:

    sh seen.sh
"""


def test_a_plan_in_prose_ticks_the_tasks_whose_steps_are_done(run_repo: RunRepository) -> None:
    run_repo.write_user_settings('sandbox = "off"')
    run_repo.write("hello.sh", "echo starting; echo '  hello' >&2; echo done in 5s\n")
    run_repo.write("seen.sh", "true\n")
    run_repo.plan(PROSE)
    run_repo.approve("--allow-inferred")
    assert run_repo.run_plan().status == "completed"
    text = (run_repo.path / f".agent/execplans/{NAME}.md").read_text()
    assert text.count("- [x]") == 2
    assert "- [ ] Show it" in text


def test_output_that_lacks_a_line_that_the_plan_promises_fails(run_repo: RunRepository) -> None:
    run_repo.write_user_settings('sandbox = "off"')
    run_repo.write("hello.sh", "echo goodbye\n")
    run_repo.write("seen.sh", "true\n")
    run_repo.plan(PROSE)
    run_repo.approve("--allow-inferred")
    finished = run_repo.run_plan()
    assert finished.status != "completed"
    assert "the line 'hello'" in str(finished)
    assert "[x]" not in (run_repo.path / f".agent/execplans/{NAME}.md").read_text()
