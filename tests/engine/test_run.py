"""A run from its approval to its end, in a real repository."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from execplan.edits.plan_writer import WriteOptions
from execplan.engine import run_lock, run_setup
from execplan.engine.dry_run import preview_run
from execplan.engine.run import run
from execplan.engine.run_observer import RunObserver, RunOptions
from execplan.errors import BUSY, CHECK_FAILED, CONFLICT, ENVIRONMENT, INPUT, POLICY, ExecplanError
from tests.crash.bench import tree
from tests.engine.plans import plan, step
from tests.engine.running import Bench, steps
from tests.repo.approving import NAME

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from execplan.engine.journal.journal import Entry

MAKE = '```python {#api type=create_file target=src/made.py task="Build the parser"}\nX = 1\n```'
COPY = "```sh {#see needs=api outputs=made.txt}\ncp src/made.py made.txt\n```"
DROP = "```text {#drop type=delete_file target=src/old.py}\nNobody calls it.\n```"
FAIL = "```sh {#fail}\nsh fail.sh\n```"


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A repository with a plan."""
    made = Bench(tmp_path / "repo", monkeypatch)
    made.write("fail.sh", "echo half > half.txt\necho y = 2 > src/other.py\nexit 3\n")
    return made


class Seen(RunObserver):
    """One who does something when an entry is written, and remembers who ran."""

    def __init__(self, does: Callable[[Entry], object]) -> None:
        self._does = does
        self.began: list[str] = []

    def begin(self, run: str, steps: object) -> None:
        """Remember the steps."""
        self.began = [each.id for each in steps]  # type: ignore[attr-defined]  # the model's

    def entry(self, entry: Entry) -> None:
        """Do it."""
        self._does(entry)


def refused(exit: int, code: str, work: Callable[[], object]) -> ExecplanError:
    """The refusal."""
    with pytest.raises(ExecplanError) as caught:
        work()
    assert (caught.value.exit, caught.value.code) == (exit, code), caught.value.message
    assert caught.value.hint
    return caught.value


def test_a_run_does_what_was_approved_and_says_so(bench: Bench) -> None:
    bench.own('sandbox = "off"')
    bench.approved(steps(MAKE, COPY, DROP))
    watch = Seen(lambda entry: None)
    finished = bench.go(watch)
    assert (finished.status, finished.warnings, finished.cause) == ("completed", (), "")
    assert bench.text("made.txt") == "X = 1\n"
    assert not bench.there("src/old.py")
    assert bench.told() == [
        "begun",
        *["intent api", "result api", "ticked api"],
        *["intent see", "result see", "intent drop", "result drop"],
        "ended",
    ]
    assert "- [x] (2026-01-01 00:00Z) Build the parser." in bench.text(f".agent/execplans/{bench.name}.md")
    assert watch.began == ["api", "see", "drop"]
    record = json.loads(bench.text(bench.last().record))
    assert (record["status"], record["completed_steps"]) == ("completed", [1, 2, 3])
    assert bench.type("audit", "--verify").exit == 0


def test_what_nobody_has_approved_is_not_run(bench: Bench) -> None:
    bench.plan(steps(MAKE))
    refused(POLICY, "not-approved", bench.go)
    bench.approve()
    bench.write("src/made.py", "somebody else's\n")
    refused(CONFLICT, "stale-approval", bench.go)
    assert not bench.runs()


def test_an_approval_serves_one_run(bench: Bench) -> None:
    bench.approved(steps(FAIL))
    assert bench.go().status != "completed"
    refused(CONFLICT, "approval-used", bench.go)


def test_steps_that_the_approval_does_not_cover_are_named_before_anything_is_begun(bench: Bench) -> None:
    bench.plan(steps(MAKE, COPY, DROP))
    bench.approve("--step", "api")
    error = refused(POLICY, "step-not-approved", bench.go)
    assert [line.partition(":")[0] for line in error.candidates] == ["see", "drop"]
    assert not bench.runs()
    finished = bench.go(steps=("api",))
    assert finished.status == "completed"
    assert bench.course().status_of == {"api": "completed", "see": "skipped", "drop": "skipped"}
    assert bench.course().reasons["see"] == "not chosen"


def test_from_a_step_on(bench: Bench) -> None:
    bench.own('sandbox = "off"')
    bench.write("src/made.py", "X = 2\n")
    bench.approved(steps("```sh {#api}\nfalse\n```", COPY, DROP))
    finished = bench.go(begin="see")
    assert finished.status == "completed"
    assert finished.warnings == ("see needs api, which is not chosen: it is taken for done",)
    assert bench.text("made.txt") == "X = 2\n"
    refused(CONFLICT, "approval-used", bench.go)


def test_the_id_of_a_fence_with_several_commands_names_all_of_its_steps(bench: Bench) -> None:
    bench.plan(steps("```sh {#both}\necho 1\necho 2\n```", "```sh {#see}\necho 3\n```"))
    bench.approve("--step", "both")
    assert bench.go(steps=("both",)).status == "completed"
    assert bench.course().status_of == {"both.1": "completed", "both.2": "completed", "see": "skipped"}
    bench.approve()
    bench.go(begin="both")
    assert set(bench.course().status_of.values()) == {"completed"}


def test_a_step_that_is_none_is_refused(bench: Bench) -> None:
    bench.approved(steps(MAKE))
    assert refused(INPUT, "no-such-step", lambda: bench.go(steps=("apy",))).candidates == ("api",)
    refused(INPUT, "no-such-step", lambda: bench.go(begin="2"))


def test_an_archived_plan_and_one_of_an_agent_are_refused(bench: Bench) -> None:
    bench.approved(steps(MAKE))
    project, ref = bench.project()
    archived = ref._replace(archived=True)
    refused(CHECK_FAILED, "archived-plan", lambda: run(project, archived, RunOptions(), RunObserver(), WriteOptions()))
    refused(INPUT, "agent-mode", lambda: run_setup.ensure_not_agent_mode(plan(step("a"), mode="agent"), ref))
    assert not bench.runs()


def test_two_runs_at_once_the_second_is_told_by_whom(bench: Bench) -> None:
    bench.approved(steps(MAKE))
    project, _ = bench.project()
    with run_lock.acquire_run_lock(project, "run 0001-12345678 of another"):
        error = refused(BUSY, "run-busy", bench.go)
    assert "run 0001-12345678 of another" in error.message
    assert not bench.runs()
    assert bench.go().status == "completed"


def test_a_failure_ends_the_run_and_what_it_changed_is_taken_back(bench: Bench) -> None:
    bench.own('rollback_on = ["timeout"]')
    bench.approved(steps(MAKE, FAIL, COPY))
    finished = bench.go()
    assert (finished.status, finished.cause, finished.rolled_back) == ("failed", "failure", None)
    assert "fail failed: " in finished.reason
    assert bench.course().status_of == {"api": "completed", "fail": "failed", "see": "pending"}
    assert not bench.there("half.txt")
    assert bench.text("src/other.py") == "y = 1\n"
    assert bench.there("src/made.py")
    assert bench.told()[-4:] == ["intent fail", "result fail", "retaken fail", "ended"]


def test_a_plan_that_a_step_removes_is_put_back_so_that_the_run_can_be_taken_back(bench: Bench) -> None:
    bench.own('sandbox = "off"')
    bench.approved(steps(f"```sh {{#drop}}\nrm .agent/execplans/{bench.name}.md\n```", MAKE))
    plan = bench.text(f".agent/execplans/{bench.name}.md")
    finished = bench.go()
    assert [each for each in finished.warnings if "restored as" in each]
    assert "- [x]" in bench.text(f".agent/execplans/{bench.name}.md")
    assert bench.type("rollback").exit == 0
    assert bench.text(f".agent/execplans/{bench.name}.md") == plan
    assert not bench.there("src/made.py")


def test_a_journal_that_is_removed_in_the_state_stops_the_run_and_is_read_from_the_artifacts(bench: Bench) -> None:
    bench.own('sandbox = "off"')
    bench.approved(steps("```sh {#drop shell=sh}\nrm .git/execplan/runs/*/copy/journal.jsonl\n```", MAKE))
    error = refused(ENVIRONMENT, "journal-altered", bench.go)
    assert "resume" in str(error.hint)
    assert not bench.there("src/made.py")
    assert bench.told() == ["begun", "intent drop"]
    assert bench.type("rollback").exit == 0


def test_a_disk_that_is_full_when_the_approval_is_used_says_that_it_still_holds(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.approved(steps(MAKE))
    full = ExecplanError("io-error", "full", exit=ENVIRONMENT, hint="free some space; nothing was changed")

    def fail(*_: object, **__: object) -> None:
        raise full

    with monkeypatch.context() as patch:
        patch.setattr(run_setup, "create_state_directory", fail)
        error = refused(ENVIRONMENT, "io-error", bench.go)
    assert str(error.hint).startswith("free some space; nothing was done, and the approval still holds; begin again: ")
    assert bench.go().status == "completed"


def test_what_needs_a_failed_step_is_blocked(bench: Bench) -> None:
    bench.own("rollback_on = []")
    bench.approved(steps(FAIL, "```sh {#then needs=fail}\ntrue\n```", DROP))
    bench.go()
    assert bench.course().status_of == {"fail": "failed", "then": "blocked", "drop": "pending"}


def test_a_step_that_no_rollback_takes_back_leaves_what_it_did(bench: Bench) -> None:
    bench.own("rollback_on = []")
    bench.approved(steps("```sh {#fail rollback=false}\nsh fail.sh\n```"))
    bench.go()
    assert bench.text("half.txt") == "half\n"


def test_a_failed_run_is_rolled_back_where_the_policy_says_so(bench: Bench) -> None:
    bench.approved(steps(MAKE, FAIL))
    plan = bench.text(f".agent/execplans/{bench.name}.md")
    finished = bench.go()
    assert (finished.status, finished.cause) == ("rolled_back", "failure")
    assert finished.rolled_back is not None
    assert finished.rolled_back.removed == ("src/made.py",)
    assert not bench.there("src/made.py")
    assert bench.text(f".agent/execplans/{bench.name}.md") == plan
    assert json.loads(bench.text(bench.last().record))["status"] == "rolled_back"


def test_a_file_that_changes_while_the_run_goes_on_is_drift(bench: Bench) -> None:
    bench.approved(steps(MAKE, "```text {#drop type=delete_file target=src/old.py}\nOld.\n```"))

    def spoil(entry: Entry) -> None:
        if entry.kind == "result":
            bench.write("src/old.py", "somebody else's\n")

    finished = bench.go(Seen(spoil))
    assert (finished.status, finished.cause, finished.rolled_back) == ("failed", "drift", None)
    assert "src/old.py" in finished.reason
    assert bench.text("src/old.py") == "somebody else's\n"
    assert bench.there("src/made.py")


def test_what_an_earlier_step_has_left_is_no_drift(bench: Bench) -> None:
    spoil = "```sh {#spoil}\ncp Makefile src/old.py\n```"
    bench.approved(steps(spoil, "```text {#drop type=delete_file target=src/old.py}\nOld.\n```"))
    assert bench.go().status == "completed"
    assert not bench.there("src/old.py")


def test_a_clock_that_is_set_back_changes_nothing(bench: Bench) -> None:
    bench.approved(steps(MAKE, COPY, DROP))
    bench.later(3600)

    def back(entry: Entry) -> None:
        bench.later(-60 * entry.number)

    finished = bench.go(Seen(back))
    assert finished.status == "completed"
    assert bench.type("audit", "--verify").exit == 0


def test_a_run_that_takes_too_long_is_failed_by_timeout(bench: Bench) -> None:
    bench.own("rollback_on = []")
    bench.approved(steps("```sh {#slow}\nsleep 30\n```", MAKE))
    finished = bench.go(seconds=1)
    assert (finished.status, finished.cause) == ("failed", "timeout")
    assert bench.course().status_of == {"slow": "failed", "api": "pending"}


def test_one_commit_of_the_plan_and_its_evidence(bench: Bench) -> None:
    bench.approved(steps(MAKE))
    bench.commit()
    bench.write("src/other.py", "mine\n")
    bench.git("add", "src/other.py")
    finished = bench.go(commit=True)
    assert finished.commit is not None
    names = bench.git("show", "--name-only", "--format=%s", "HEAD").split("\n")
    assert all([name.startswith(".agent/execplans/") for name in names[2:] if name]), names
    assert bench.git("status", "--porcelain") == "M  src/other.py\n?? src/made.py\n"


def test_an_earlier_run_that_is_not_at_its_end_comes_first(bench: Bench) -> None:
    bench.approved(steps("```sh {#ask confirm}\ntrue\n```"))
    assert bench.go().question is not None
    bench.approve()
    error = refused(CHECK_FAILED, "run-under-way", bench.go)
    assert "execplan resume 1" in error.hint
    assert "execplan rollback 1" in error.hint


def test_steps_beside_each_other_and_what_nobody_declares(bench: Bench) -> None:
    bench.own("rollback_on = []")
    one = "```sh {#one parallel outputs=one.txt shell}\necho 1 > one.txt; echo x > stray.txt; sleep 0.2\n```"
    two = "```sh {#two parallel outputs=two.txt shell}\nsleep 0.4; echo 2 > two.txt\n```"
    bench.approved(steps(one, two, "```sh {#end needs=two}\nfalse\n```"))
    finished = bench.go(jobs=2)
    assert finished.status == "failed"
    assert bench.told()[1:3] == ["intent one", "intent two"]
    changes = {step: change.path for step, change in bench.course().changes() if change.path != "stray.txt"}
    assert changes == {"one": "one.txt", "two": "two.txt"}
    stray = [(step, change.declared) for step, change in bench.course().changes() if change.path == "stray.txt"]
    assert stray == [("two", False)]


def test_the_outlook_writes_nothing(bench: Bench) -> None:
    bench.approved(steps(MAKE, COPY, DROP, "```sh {#other when=drop.failed}\ntrue\n```"))
    before = tree(bench.path)
    project, ref = bench.project()
    found = preview_run(project, ref, RunOptions(steps=("api", "see", "other")))
    assert tree(bench.path) == before
    assert [(each.evaluated_step.step.id, each.will_run, each.reason) for each in found.steps] == [
        ("api", True, ""),
        ("see", True, ""),
        ("drop", False, "not chosen"),
        ("other", False, "it runs only if drop fails"),
    ]
    assert found.steps[0].evaluated_step.dry_run.kind == "exact"
    assert "+X = 1" in found.steps[0].evaluated_step.dry_run.diff
    assert bench.go().status == "completed", "the approval is not used by looking"


def test_nobody_who_looks_on_any_more_ends_no_run(bench: Bench) -> None:
    bench.approved(steps(MAKE))

    def gone(entry: Entry) -> None:
        raise BrokenPipeError

    assert bench.go(Seen(gone)).status == "completed"


def test_nothing_that_a_run_has_written_is_run_by_git(bench: Bench) -> None:
    bench.own('sandbox = "off"')
    bench.git("config", "core.hooksPath", "hooks")
    hooks = "mkdir hooks; for each in pre-commit reference-transaction; do cp hook.sh hooks/$each; chmod +x hooks/$each; done"
    bench.write("hook.sh", "#!/bin/sh\necho run >> ran\n")
    bench.plan(steps(f"```sh {{#hooks shell=sh outputs=hooks/pre-commit}}\n{hooks}\n```"))
    bench.commit()
    bench.approve()
    finished = bench.go(commit=True)
    assert finished.commit is None
    assert "not committed: the run has changed what git runs by itself: hooks" in " ".join(finished.warnings)
    assert (bench.path / "hooks/pre-commit").exists()
    assert not (bench.path / "ran").exists()


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


def test_a_plan_in_prose_ticks_the_tasks_whose_steps_are_done(bench: Bench) -> None:
    bench.own('sandbox = "off"')
    bench.write("hello.sh", "echo starting; echo '  hello' >&2; echo done in 5s\n")
    bench.write("seen.sh", "true\n")
    bench.plan(PROSE)
    bench.approve("--allow-inferred")
    assert bench.go().status == "completed"
    text = (bench.path / f".agent/execplans/{NAME}.md").read_text()
    assert text.count("- [x]") == 2
    assert "- [ ] Show it" in text


def test_output_that_lacks_a_line_that_the_plan_promises_fails(bench: Bench) -> None:
    bench.own('sandbox = "off"')
    bench.write("hello.sh", "echo goodbye\n")
    bench.write("seen.sh", "true\n")
    bench.plan(PROSE)
    bench.approve("--allow-inferred")
    finished = bench.go()
    assert finished.status != "completed"
    assert "the line 'hello'" in str(finished)
    assert "[x]" not in (bench.path / f".agent/execplans/{NAME}.md").read_text()
