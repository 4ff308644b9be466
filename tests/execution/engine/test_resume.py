"""A run that was cut short goes on: nothing is done twice that may be done once, and it comes to what it would have."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from pathlib import Path
from typing import Any

import pytest

from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import BUSY, CHECK_FAILED, CONFLICT, ENVIRONMENT, POLICY, USAGE, ExecplanError
from execplan.execution.engine.audit_log.log_verification import verify_log
from execplan.execution.engine.journal.journal import Journal
from execplan.execution.engine.recovery.rollback import rollback
from execplan.execution.engine.run_lock import acquire_run_lock
from execplan.execution.engine.run_observer import RunObserver
from tests.execution.engine.fakes import AnsweringObserver
from tests.execution.engine.run_repository import RunRepository, steps
from tests.execution.engine.test_run import COPY, DROP, FAIL, MAKE, refused

ONCE = "```sh {{#{0} outputs={0}.txt shell}}\necho x >> count/{0}; echo {0} > {0}.txt\n```"


@pytest.fixture
def run_repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunRepository:
    """A repository that ignores what counts."""
    repository = RunRepository(tmp_path / "repo", monkeypatch)
    repository.write("fail.sh", "echo half > half.txt\nexit 3\n")
    repository.write(".gitignore", "count/\n")
    (repository.path / "count").mkdir()
    repository.write_user_settings("rollback_on = []")
    return repository


def count(run_repo: RunRepository, name: str) -> int:
    """How often a command ran."""
    path = run_repo.path / "count" / name
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_a_checkpoint_is_answered_by_going_on(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(ONCE.format("a").replace("#a", "#a checkpoint"), ONCE.format("b")))
    paused = run_repo.run_plan()
    assert (paused.status, paused.question and paused.question.why) == ("in_progress", "checkpoint")
    assert run_repo.entry_names() == ["begun", "intent a", "result a", "paused a"]
    assert run_repo.resume_run().status == "completed"
    assert run_repo.entry_names()[4:] == ["resumed", "answered a", "intent b", "result b", "ended"]
    assert (count(run_repo, "a"), count(run_repo, "b")) == (1, 1)
    first, total = [entry.fields["seconds"] for entry in run_repo.entries() if entry.kind in ("paused", "ended")]
    assert 0 < first < total, "what it took before the pause counts"
    refused(CHECK_FAILED, "nothing-to-resume", run_repo.resume_run)


def test_a_resume_writes_nothing_while_the_files_of_the_run_are_in_a_stash(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(ONCE.format("a").replace("#a", "#a checkpoint"), ONCE.format("b")))
    run_repo.run_plan()
    artifacts = run_repo.path / ".agent/execplans/artifacts"
    stashed = artifacts.rename(run_repo.path.parent / "stashed")
    refused(POLICY, "not-approved", run_repo.resume_run)
    assert not artifacts.exists()
    stashed.rename(artifacts)
    assert run_repo.resume_run().status == "completed"


def test_the_time_of_a_pause_is_left_out_and_that_of_a_question_is_not(run_repo: RunRepository) -> None:
    class Slow(AnsweringObserver):
        def ask(self, question: Any) -> str | None:
            time.sleep(0.5)
            return super().ask(question)

    run_repo.approve_plan(
        steps(ONCE.format("a").replace("#a", "#a checkpoint"), ONCE.format("b").replace("#b", "#b confirm"))
    )
    begin = time.monotonic()
    assert run_repo.run_plan(Slow()).question is not None
    time.sleep(2)
    assert run_repo.resume_run(watch=Slow(confirm="go")).status == "completed"
    took = time.monotonic() - begin
    (ended,) = [entry.fields["seconds"] for entry in run_repo.entries() if entry.kind == "ended"]
    assert 1 <= ended <= took - 2


def test_the_time_of_what_was_killed_is_left_out(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps("```sh {#a effect=idempotent}\nsleep 2\n```", "```sh {#b}\ntrue\n```"))
    begin = time.monotonic()
    assert killed_at(run_repo, 3, run_repo.run_plan)
    killed = time.monotonic() - begin
    begin = time.monotonic()
    assert run_repo.resume_run().status == "completed"
    took = time.monotonic() - begin
    (ended,) = [entry.fields["seconds"] for entry in run_repo.entries() if entry.kind == "ended"]
    assert killed >= 2
    assert ended <= took


@pytest.mark.parametrize(
    ("answer", "status", "ran"), [("go", "completed", 1), ("skip", "completed", 0), ("stop", "failed", 0)]
)
def test_a_confirm_is_answered_by_a_resume(run_repo: RunRepository, answer: str, status: str, ran: int) -> None:
    run_repo.approve_plan(steps(ONCE.format("a").replace("#a", "#a confirm")))
    for paused in (run_repo.run_plan(), run_repo.resume_run()):  # a resume is no confirmation
        assert (paused.question and paused.question.why, count(run_repo, "a")) == ("confirm", 0)
    assert run_repo.run_state().status_of == {"a": "awaiting_approval"}
    finished = run_repo.resume_run(answer)
    assert (finished.status, finished.cause) == (status, "cancellation" if answer == "stop" else "")
    assert count(run_repo, "a") == ran


def test_an_ask_is_answered_by_a_resume(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps("```sh {#a on-failure=ask shell}\necho x >> count/a; test -e src/go\n```", DROP))
    assert (run_repo.run_plan().question or run_repo).why == "ask"  # type: ignore[union-attr]  # it is one
    assert (run_repo.resume_run("again").question or run_repo).why == "ask"  # type: ignore[union-attr]  # it failed again
    assert (run_repo.resume_run().question or run_repo).why == "ask"  # type: ignore[union-attr]  # nobody has answered
    run_repo.write("src/go", "")
    assert run_repo.resume_run("again").status == "completed"
    assert count(run_repo, "a") == 3


def test_an_ask_may_be_skipped(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps("```sh {#a on-failure=ask}\nfalse\n```", DROP))
    run_repo.run_plan()
    assert run_repo.resume_run("skip").status == "completed"
    assert run_repo.run_state().status_of == {"a": "skipped", "drop": "completed"}


def test_answers_that_do_not_fit_are_refused(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps("```sh {#a confirm}\ntrue\n```"))
    run_repo.run_plan()
    before = run_repo.entry_names()
    assert refused(USAGE, "bad-answer", lambda: run_repo.resume_run("again")).candidates == ("go", "skip", "stop")
    assert run_repo.entry_names() == before
    run_repo.resume_run("stop")
    refused(USAGE, "bad-answer", lambda: run_repo.resume_run("go"))


def test_a_failed_run_goes_on_with_what_failed(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(ONCE.format("a"), "```sh {#b retry=1 backoff=1ms}\ntest -e src/go\n```", DROP))
    assert run_repo.run_plan().status == "failed"
    assert len(run_repo.run_state().attempts["b"]) == 2
    run_repo.write("src/go", "")
    assert run_repo.resume_run().status == "completed"
    assert len(run_repo.run_state().attempts["b"]) == 3
    assert count(run_repo, "a") == 1


def test_what_is_done_must_be_as_it_was_left(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(MAKE, COPY, FAIL))
    assert run_repo.run_plan().status == "failed"
    before = run_repo.entry_names()
    run_repo.write("made.txt", "mine\n")
    error = refused(CONFLICT, "drifted", run_repo.resume_run)
    assert [line.partition(":")[0] for line in error.candidates] == ["made.txt"]
    assert run_repo.entry_names() == before, "nothing is written by what is refused"
    run_repo.write("made.txt", "X = 1\n")
    run_repo.write("fail.sh", "exit 0\n")
    refused(CONFLICT, "program-changed", run_repo.resume_run)
    run_repo.approve()
    assert run_repo.resume_run().status == "completed"


def test_other_steps_than_those_of_the_run_are_refused(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(MAKE, FAIL))
    run_repo.run_plan()
    run_repo.plan(steps(MAKE.replace("made", "other_made"), FAIL))
    refused(CONFLICT, "other-document", run_repo.resume_run)
    run_repo.approve()
    refused(CONFLICT, "other-document", run_repo.resume_run)


def killed_at(run_repo: RunRepository, number: int, work: Any) -> bool:
    """Let no entry be written from the one with this number on: what the process does then no one has on record."""
    real = Journal.append_entry
    blocked_kinds: list[str] = []

    def append_entry(journal: Journal, kind: str, fields: dict[str, Any], *, durable: bool) -> Any:
        if len(journal.entries) + 1 >= number:
            blocked_kinds.append(kind)
            raise ExecplanError("io-error", "no space left", hint="make some")
        return real(journal, kind, fields, durable=durable)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Journal, "append_entry", append_entry)
        with contextlib.suppress(ExecplanError):
            work()
    return bool(blocked_kinds)


def finish(run_repo: RunRepository) -> Any:
    """Resume until there is nothing to be asked; what nobody knows has been done, as the count of it says."""
    finished = run_repo.resume_run(watch=AnsweringObserver(unknown="go"))
    while finished.question is not None:
        finished = run_repo.resume_run(watch=AnsweringObserver(unknown="go"))
    return finished


SWEPT = (
    MAKE,
    ONCE.format("a"),
    "```sh {#b on-failure=alternative:c shell}\necho x >> count/b; sh fail.sh\n```",
    "```sh {#skipped on-failure=skip shell}\necho x >> count/skipped; sh fail.sh\n```",
    ONCE.format("c"),
    "```sh {#again effect=idempotent retry=1 backoff=1ms shell}\necho x >> count/again; echo y >> again.txt; test $(wc -l < count/again) -ge 2\n```",
    ONCE.format("d").replace("#d", '#d checkpoint task="Write it down"'),
    DROP,
)


@pytest.mark.parametrize(
    "number", [13, *[pytest.param(number, marks=pytest.mark.exhaustive) for number in (3, 4, 10, 25)]]
)
def test_cut_off_at_any_entry_and_resumed_it_comes_to_the_same(run_repo: RunRepository, number: int) -> None:
    run_repo.approve_plan(steps(*SWEPT))
    assert killed_at(run_repo, number, run_repo.run_plan)
    finished = finish(run_repo)
    assert finished.status == "completed", finished
    run_state = run_repo.run_state()
    good = dict.fromkeys(["api", "a", "c", "again", "d", "drop"], "completed")
    assert run_state.status_of == {**good, "b": "recovered", "skipped": "skipped"}
    assert [count(run_repo, name) for name in ("a", "b", "skipped", "c", "d")] == [1] * 5
    assert run_repo.text("again.txt") == "y\n"
    assert not run_repo.exists("half.txt")
    assert not run_repo.exists("src/old.py")
    assert run_repo.text(f".agent/execplans/{run_repo.name}.md").count("- [x]") == 2
    assert verify_log(*run_repo.project()).reasons == ()


def test_a_command_that_may_run_once_and_was_cut_short_is_asked_about(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(ONCE.format("a"), DROP))
    assert killed_at(run_repo, 3, run_repo.run_plan)
    forget_ends(run_repo)
    paused = run_repo.resume_run()
    assert (paused.question and paused.question.why, paused.status) == ("unknown", "in_progress")
    entries = run_repo.entry_names()
    assert entries[-1] == "paused a"
    assert "resumed" not in entries, "nobody answered, so nothing was resumed"
    paused_again = run_repo.resume_run()
    assert paused_again.question == paused.question
    assert run_repo.entry_names() == entries, "a plain resume says the same and writes nothing"
    assert count(run_repo, "a") == 1


def forget_ends(run_repo: RunRepository) -> None:
    """Let nobody know how commands have ended: as if their supervisors had been killed too."""
    marks = [path for path in Path(run_repo.last_run().state).iterdir() if "ended" in path.name]
    assert marks
    for path in marks:
        path.unlink()


def _unknown(run_repo: RunRepository) -> None:
    """Let the run wait for an answer about a step that nobody knows the end of."""
    run_repo.approve_plan(steps(ONCE.format("a"), DROP))
    assert killed_at(run_repo, 3, run_repo.run_plan)
    forget_ends(run_repo)
    assert (run_repo.resume_run().question or run_repo).why == "unknown"  # type: ignore[union-attr]  # it is one


def test_unknown_it_has_done_its_work(run_repo: RunRepository) -> None:
    _unknown(run_repo)
    assert run_repo.resume_run("go").status == "completed"
    assert (count(run_repo, "a"), run_repo.text("a.txt")) == (1, "a\n")
    assert [change.path for step, change in run_repo.run_state().changes() if step == "a"] == ["a.txt"]


def test_unknown_run_it_again(run_repo: RunRepository) -> None:
    _unknown(run_repo)
    assert run_repo.resume_run("again").status == "completed"
    assert count(run_repo, "a") == 2


def test_unknown_go_on_without_it(run_repo: RunRepository) -> None:
    _unknown(run_repo)
    assert run_repo.resume_run("skip").status == "completed"
    assert (count(run_repo, "a"), run_repo.exists("a.txt")) == (1, False)
    assert run_repo.run_state().status_of == {"a": "skipped", "drop": "completed"}


def test_unknown_end_it(run_repo: RunRepository) -> None:
    _unknown(run_repo)
    finished = run_repo.resume_run("stop")
    assert (finished.status, finished.cause) == ("failed", "cancellation")
    assert (count(run_repo, "a"), run_repo.exists("src/old.py")) == (1, True)


def test_a_full_disk_is_told_and_the_run_goes_on_when_there_is_space(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(MAKE, DROP))
    real, full = os.write, [True]

    def write(handle: int, data: Any) -> int:
        if full[0] and b'"kind":"result"' in bytes(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(handle, data)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "write", write)
        error = refused(ENVIRONMENT, "io-error", run_repo.run_plan)
    assert "execplan resume 1 -p " in error.hint
    assert run_repo.entry_names() == ["begun", "intent api"]
    assert run_repo.resume_run().status == "completed"


def test_a_new_revision_is_tried_once_and_then_the_run_asks(run_repo: RunRepository) -> None:
    failing = "```sh {#b on-failure=replan shell}\necho x >> count/b; test -e src/go\n```"
    run_repo.approve_plan(steps(MAKE, ONCE.format("a"), failing, DROP))
    paused = run_repo.run_plan()
    assert (paused.status, paused.question and paused.question.why) == ("in_progress", "ask")
    run_repo.write("src/go", "")
    finished = run_repo.resume_run("again")
    assert finished.status == "completed"
    assert run_repo.run_state().document.revision == 2
    assert [count(run_repo, name) for name in "ab"] == [1, 3]
    assert verify_log(*run_repo.project()).reasons == ()


def test_a_step_that_was_rolled_back_by_itself_is_run_again(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(ONCE.format("a"), "```sh {#b}\ntest -e src/go\n```"))
    assert run_repo.run_plan().status == "failed"
    rollback(run_repo.last_run(), step="a", automatic="", observer=RunObserver(), options=WriteOptions(commit=False))
    assert not run_repo.exists("a.txt")
    run_repo.write("src/go", "")
    assert run_repo.resume_run().status == "completed"
    assert (count(run_repo, "a"), run_repo.text("a.txt")) == (2, "a\n")
    rollback(run_repo.last_run(), step=None, automatic="", observer=RunObserver(), options=WriteOptions(commit=False))
    assert not run_repo.exists("a.txt")


def test_an_end_at_a_question_is_rolled_back_where_the_policy_says_so(run_repo: RunRepository) -> None:
    run_repo.write_user_settings('rollback_on = ["cancellation"]')
    run_repo.approve_plan(steps(MAKE, "```sh {#b confirm}\ntrue\n```"))
    assert run_repo.run_plan().question is not None
    finished = run_repo.resume_run("stop")
    assert (finished.status, finished.cause) == ("rolled_back", "cancellation")
    assert not run_repo.exists("src/made.py")


def test_two_resumes_at_once_the_second_is_told_so(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps("```sh {#b confirm}\ntrue\n```"))
    run_repo.run_plan()
    with acquire_run_lock(run_repo.project()[0], "resume of the run 0001-12345678"):
        refused(BUSY, "run-busy", run_repo.resume_run)
    assert run_repo.resume_run("go").status == "completed"
