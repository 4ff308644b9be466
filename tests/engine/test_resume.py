"""A run that was cut short goes on: nothing is done twice that may be done once, and it comes to what it would have."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from pathlib import Path
from typing import Any

import pytest

from execplan.edits.plan_writer import WriteOptions
from execplan.engine.audit_log.log_verification import verify_log
from execplan.engine.journal.journal import Journal
from execplan.engine.recovery.rollback import rollback
from execplan.engine.run_lock import acquire_run_lock
from execplan.engine.run_observer import RunObserver
from execplan.errors import BUSY, CHECK_FAILED, CONFLICT, ENVIRONMENT, USAGE, ExecplanError
from tests.engine.fakes import Clerk
from tests.engine.running import Bench, steps
from tests.engine.test_run import COPY, DROP, FAIL, MAKE, refused

ONCE = "```sh {{#{0} outputs={0}.txt shell}}\necho x >> count/{0}; echo {0} > {0}.txt\n```"


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A repository that ignores what counts."""
    made = Bench(tmp_path / "repo", monkeypatch)
    made.write("fail.sh", "echo half > half.txt\nexit 3\n")
    made.write(".gitignore", "count/\n")
    (made.path / "count").mkdir()
    made.own("rollback_on = []")
    return made


def count(bench: Bench, name: str) -> int:
    """How often a command ran."""
    path = bench.path / "count" / name
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_a_checkpoint_is_answered_by_going_on(bench: Bench) -> None:
    bench.approved(steps(ONCE.format("a").replace("#a", "#a checkpoint"), ONCE.format("b")))
    paused = bench.go()
    assert (paused.status, paused.question and paused.question.why) == ("in_progress", "checkpoint")
    assert bench.told() == ["begun", "intent a", "result a", "paused a"]
    assert bench.on().status == "completed"
    assert bench.told()[4:] == ["resumed", "answered a", "intent b", "result b", "ended"]
    assert (count(bench, "a"), count(bench, "b")) == (1, 1)
    first, whole = [each.fields["seconds"] for each in bench.entries() if each.kind in ("paused", "ended")]
    assert 0 < first < whole, "what it took before the pause counts"
    refused(CHECK_FAILED, "nothing-to-resume", bench.on)


def test_the_time_of_a_pause_is_left_out_and_that_of_a_question_is_not(bench: Bench) -> None:
    class Slow(Clerk):
        def ask(self, question: Any) -> str | None:
            time.sleep(0.5)
            return super().ask(question)

    bench.approved(steps(ONCE.format("a").replace("#a", "#a checkpoint"), ONCE.format("b").replace("#b", "#b confirm")))
    begin = time.monotonic()
    assert bench.go(Slow()).question is not None
    time.sleep(2)
    assert bench.on(watch=Slow(confirm="go")).status == "completed"
    took = time.monotonic() - begin
    (ended,) = [each.fields["seconds"] for each in bench.entries() if each.kind == "ended"]
    assert 1 <= ended <= took - 2


def test_the_time_of_what_was_killed_is_left_out(bench: Bench) -> None:
    bench.approved(steps("```sh {#a effect=idempotent}\nsleep 2\n```", "```sh {#b}\ntrue\n```"))
    begin = time.monotonic()
    assert killed_at(bench, 3, bench.go)
    killed = time.monotonic() - begin
    begin = time.monotonic()
    assert bench.on().status == "completed"
    took = time.monotonic() - begin
    (ended,) = [each.fields["seconds"] for each in bench.entries() if each.kind == "ended"]
    assert killed >= 2
    assert ended <= took


@pytest.mark.parametrize(
    ("answer", "status", "ran"), [(None, "completed", 1), ("skip", "completed", 0), ("stop", "failed", 0)]
)
def test_a_confirm_is_answered_by_a_resume(bench: Bench, answer: str | None, status: str, ran: int) -> None:
    bench.approved(steps(ONCE.format("a").replace("#a", "#a confirm")))
    paused = bench.go()
    assert (paused.question and paused.question.why, count(bench, "a")) == ("confirm", 0)
    assert bench.course().status_of == {"a": "awaiting_approval"}
    finished = bench.on(answer)
    assert (finished.status, finished.cause) == (status, "cancellation" if answer == "stop" else "")
    assert count(bench, "a") == ran


def test_an_ask_is_answered_by_a_resume(bench: Bench) -> None:
    bench.approved(steps("```sh {#a on-failure=ask shell}\necho x >> count/a; test -e src/go\n```", DROP))
    assert (bench.go().question or bench).why == "ask"  # type: ignore[union-attr]  # it is one
    assert (bench.on().question or bench).why == "ask"  # type: ignore[union-attr]  # it failed again
    bench.write("src/go", "")
    assert bench.on("again").status == "completed"
    assert count(bench, "a") == 3


def test_an_ask_may_be_skipped(bench: Bench) -> None:
    bench.approved(steps("```sh {#a on-failure=ask}\nfalse\n```", DROP))
    bench.go()
    assert bench.on("skip").status == "completed"
    assert bench.course().status_of == {"a": "skipped", "drop": "completed"}


def test_answers_that_do_not_fit_are_refused(bench: Bench) -> None:
    bench.approved(steps("```sh {#a confirm}\ntrue\n```"))
    bench.go()
    before = bench.told()
    assert refused(USAGE, "bad-answer", lambda: bench.on("again")).candidates == ("go", "skip", "stop")
    assert bench.told() == before
    bench.on("stop")
    refused(USAGE, "bad-answer", lambda: bench.on("go"))


def test_a_failed_run_goes_on_with_what_failed(bench: Bench) -> None:
    bench.approved(steps(ONCE.format("a"), "```sh {#b retry=1 backoff=1ms}\ntest -e src/go\n```", DROP))
    assert bench.go().status == "failed"
    assert len(bench.course().attempts["b"]) == 2
    bench.write("src/go", "")
    assert bench.on().status == "completed"
    assert len(bench.course().attempts["b"]) == 3
    assert count(bench, "a") == 1


def test_what_is_done_must_be_as_it_was_left(bench: Bench) -> None:
    bench.approved(steps(MAKE, COPY, FAIL))
    assert bench.go().status == "failed"
    before = bench.told()
    bench.write("made.txt", "mine\n")
    error = refused(CONFLICT, "drifted", bench.on)
    assert [line.partition(":")[0] for line in error.candidates] == ["made.txt"]
    assert bench.told() == before, "nothing is written by what is refused"
    bench.write("made.txt", "X = 1\n")
    bench.write("fail.sh", "exit 0\n")
    assert bench.on().status == "completed"


def test_other_steps_than_those_of_the_run_are_refused(bench: Bench) -> None:
    bench.approved(steps(MAKE, FAIL))
    bench.go()
    bench.plan(steps(MAKE.replace("made", "other_made"), FAIL))
    refused(CONFLICT, "stale-approval", bench.on)
    bench.approve()
    refused(CONFLICT, "other-document", bench.on)


def killed_at(bench: Bench, number: int, work: Any) -> bool:
    """Let no entry be written from the one with this number on: what the process does then no one has on record."""
    real = Journal.write
    told: list[str] = []

    def write(journal: Journal, kind: str, **said: Any) -> Any:
        if len(journal.entries) + 1 >= number:
            told.append(kind)
            raise ExecplanError("disk-full", "no space left", exit=ENVIRONMENT, hint="make some")
        return real(journal, kind, **said)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Journal, "write", write)
        with contextlib.suppress(ExecplanError):
            work()
    return bool(told)


def finish(bench: Bench) -> Any:
    """Resume until there is nothing to be asked; what nobody knows has been done, as the count of it says."""
    finished = bench.on(watch=Clerk(unknown="go"))
    while finished.question is not None:
        finished = bench.on(watch=Clerk(unknown="go"))
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


@pytest.mark.parametrize("number", [3, 4, 10, 13, 25])
def test_cut_off_at_any_entry_and_resumed_it_comes_to_the_same(bench: Bench, number: int) -> None:
    bench.approved(steps(*SWEPT))
    assert killed_at(bench, number, bench.go)
    finished = finish(bench)
    assert finished.status == "completed", finished
    course = bench.course()
    good = dict.fromkeys(["api", "a", "c", "again", "d", "drop"], "completed")
    assert course.status_of == {**good, "b": "recovered", "skipped": "skipped"}
    assert [count(bench, name) for name in ("a", "b", "skipped", "c", "d")] == [1] * 5
    assert bench.text("again.txt") == "y\n"
    assert not bench.there("half.txt")
    assert not bench.there("src/old.py")
    assert bench.text(f".agent/execplans/{bench.name}.md").count("- [x]") == 2
    assert verify_log(*bench.project()).reasons == ()


def test_a_command_that_may_run_once_and_was_cut_short_is_asked_about(bench: Bench) -> None:
    bench.approved(steps(ONCE.format("a"), DROP))
    assert killed_at(bench, 3, bench.go)
    forget_ends(bench)
    paused = bench.on()
    assert (paused.question and paused.question.why, paused.status) == ("unknown", "in_progress")
    entries = bench.told()
    assert entries[-1] == "paused a"
    assert "resumed" not in entries, "nobody answered, so nothing was resumed"
    again = bench.on()
    assert again.question == paused.question
    assert bench.told() == entries, "a plain resume says the same and writes nothing"
    assert count(bench, "a") == 1


def forget_ends(bench: Bench) -> None:
    """Let nobody know how commands have ended: as if their supervisors had been killed too."""
    marks = [path for path in Path(bench.last().state).iterdir() if "ended" in path.name]
    assert marks
    for path in marks:
        path.unlink()


def _unknown(bench: Bench) -> None:
    """Let the run wait for an answer about a step that nobody knows the end of."""
    bench.approved(steps(ONCE.format("a"), DROP))
    assert killed_at(bench, 3, bench.go)
    forget_ends(bench)
    assert (bench.on().question or bench).why == "unknown"  # type: ignore[union-attr]  # it is one


def test_unknown_it_has_done_its_work(bench: Bench) -> None:
    _unknown(bench)
    assert bench.on("go").status == "completed"
    assert (count(bench, "a"), bench.text("a.txt")) == (1, "a\n")
    assert [change.path for step, change in bench.course().changes() if step == "a"] == ["a.txt"]


def test_unknown_run_it_again(bench: Bench) -> None:
    _unknown(bench)
    assert bench.on("again").status == "completed"
    assert count(bench, "a") == 2


def test_unknown_go_on_without_it(bench: Bench) -> None:
    _unknown(bench)
    assert bench.on("skip").status == "completed"
    assert (count(bench, "a"), bench.there("a.txt")) == (1, False)
    assert bench.course().status_of == {"a": "skipped", "drop": "completed"}


def test_unknown_end_it(bench: Bench) -> None:
    _unknown(bench)
    finished = bench.on("stop")
    assert (finished.status, finished.cause) == ("failed", "cancellation")
    assert (count(bench, "a"), bench.there("src/old.py")) == (1, True)


def test_a_full_disk_is_told_and_the_run_goes_on_when_there_is_space(bench: Bench) -> None:
    bench.approved(steps(MAKE, DROP))
    real, full = os.write, [True]

    def write(handle: int, data: Any) -> int:
        if full[0] and b'"kind":"result"' in bytes(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(handle, data)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "write", write)
        error = refused(ENVIRONMENT, "io-error", bench.go)
    assert "execplan resume 1 -p " in error.hint
    assert bench.told() == ["begun", "intent api"]
    assert bench.on().status == "completed"


def test_a_new_revision_is_tried_once_and_waits_to_be_resumed(bench: Bench) -> None:
    failing = "```sh {#b on-failure=replan shell}\necho x >> count/b; test -e src/go\n```"
    bench.approved(steps(MAKE, ONCE.format("a"), failing, DROP))
    paused = bench.go()
    assert (paused.status, paused.question and paused.question.why) == ("replanning", "covered")
    bench.write("src/go", "")
    finished = bench.on()
    assert finished.status == "completed"
    assert bench.course().document.revision == 3
    assert [count(bench, name) for name in "ab"] == [1, 3]
    assert verify_log(*bench.project()).reasons == ()


def test_a_step_that_was_rolled_back_by_itself_is_run_again(bench: Bench) -> None:
    bench.approved(steps(ONCE.format("a"), "```sh {#b}\ntest -e src/go\n```"))
    assert bench.go().status == "failed"
    project, ref = bench.project()
    rollback(
        project, ref, bench.last(), step="a", automatic="", observer=RunObserver(), options=WriteOptions(commit=False)
    )
    assert not bench.there("a.txt")
    bench.write("src/go", "")
    assert bench.on().status == "completed"
    assert (count(bench, "a"), bench.text("a.txt")) == (2, "a\n")
    rollback(
        project, ref, bench.last(), step=None, automatic="", observer=RunObserver(), options=WriteOptions(commit=False)
    )
    assert not bench.there("a.txt")


def test_an_end_at_a_question_is_rolled_back_where_the_policy_says_so(bench: Bench) -> None:
    bench.own('rollback_on = ["cancellation"]')
    bench.approved(steps(MAKE, "```sh {#b confirm}\ntrue\n```"))
    assert bench.go().question is not None
    finished = bench.on("stop")
    assert (finished.status, finished.cause) == ("rolled_back", "cancellation")
    assert not bench.there("src/made.py")


def test_two_resumes_at_once_the_second_is_told_so(bench: Bench) -> None:
    bench.approved(steps("```sh {#b confirm}\ntrue\n```"))
    bench.go()
    with acquire_run_lock(bench.project()[0], "resume of the run 0001-12345678"):
        refused(BUSY, "run-busy", bench.on)
    assert bench.on().status == "completed"
