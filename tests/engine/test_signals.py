"""One signal stops a run: its steps are killed, the journal says so, and a resume goes on."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from execplan.engine.journal.journal import Entry
from execplan.engine.journal.journal_entries import AttemptResult
from execplan.engine.run_observer import RunObserver
from execplan.engine.run_state import Question
from execplan.engine.signal_handlers import SIGNALS
from execplan.engine.stop_reasons import SIGNAL
from tests.engine.fakes import Told, Try
from tests.engine.plans import plan, step
from tests.engine.running import Bench, steps
from tests.engine.test_run import DROP, MAKE

SLOW = "```sh {{#slow outputs=slow.txt {0} shell}}\necho x >> count/slow; echo half > half.txt; {1}sleep 30\n```"


class Kicks(RunObserver):
    """One who sends this process a signal as soon as the step prints something."""

    def __init__(self, kick: signal.Signals) -> None:
        self._kick = kick

    def line(self, step: str, text: str, *, error: bool) -> None:
        """Send it."""
        os.kill(os.getpid(), self._kick)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A repository that ignores what counts."""
    made = Bench(tmp_path / "repo", monkeypatch)
    made.write(".gitignore", "count/\n")
    (made.path / "count").mkdir()
    return made


@pytest.mark.parametrize("kick", SIGNALS)
def test_a_step_that_may_run_again_is_taken_back_and_runs_again(bench: Bench, kick: signal.Signals) -> None:
    bench.approved(
        steps(
            MAKE,
            SLOW.format("effect=idempotent", "test -e src/go && echo > slow.txt || echo on; test -e src/go || "),
            DROP,
        )
    )
    before = [signal.getsignal(each) for each in SIGNALS]
    finished = bench.go(Kicks(kick))
    assert (finished.signal, finished.status, finished.rolled_back) == (kick.name, "in_progress", None)
    assert [signal.getsignal(each) for each in SIGNALS] == before
    assert bench.told()[-4:] == ["intent slow", "result slow", "retaken slow", "interrupted"]
    assert not bench.there("half.txt")
    assert bench.there("src/made.py")
    bench.write("src/go", "")
    assert bench.on().status == "completed"
    assert bench.text("count/slow") == "x\nx\n"


def test_a_step_that_may_run_once_is_asked_about(bench: Bench) -> None:
    bench.approved(steps(SLOW.format("", "echo on; "), DROP))
    assert bench.go(Kicks(signal.SIGTERM)).signal == "SIGTERM"
    assert bench.told()[-2:] == ["result slow", "interrupted"]
    assert bench.text("half.txt") == "half\n", "nobody knows whether it has done its work"
    paused = bench.on()
    assert paused.question is not None
    assert paused.question.why == "unknown"
    assert bench.on("skip").status == "completed"
    assert bench.text("count/slow") == "x\n"
    assert not bench.there("half.txt")


def test_a_question_is_left_by_a_signal() -> None:
    class Kicked(RunObserver):
        def ask(self, question: Question) -> str | None:
            os.kill(os.getpid(), signal.SIGINT)
            threading.Event().wait(10)
            raise AssertionError

    run = Try(plan(step("a", confirm=True)), Told({}), watch=Kicked())
    assert (run.fate.kind, run.stop.signal) == (SIGNAL, "SIGINT")


def test_waiting_for_a_retry_is_left_by_a_signal() -> None:
    class Kicked(RunObserver):
        def entry(self, entry: Entry) -> None:
            if entry.kind == "retaken":
                os.kill(os.getpid(), signal.SIGTERM)

    document = plan(step("a", strategy="retry", retries=1, backoff=600_000))
    run = Try(document, Told({"a": [AttemptResult(False, "exit", "no", 1)]}), watch=Kicked())
    assert (run.fate.kind, run.stop.signal) == (SIGNAL, "SIGTERM")


def test_a_signal_that_is_ignored_stays_so() -> None:
    class Kicked(RunObserver):
        def entry(self, entry: Entry) -> None:
            os.kill(os.getpid(), signal.SIGHUP)

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        run = Try(plan(step("a")), Told({}), watch=Kicked())
    finally:
        signal.signal(signal.SIGHUP, before)
    assert run.fate.kind == "done"


def test_in_another_thread_no_handler_is_set() -> None:
    found: list[Any] = []
    before = signal.getsignal(signal.SIGINT)

    class Looks(RunObserver):
        def entry(self, entry: Entry) -> None:
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=lambda: found.append(Try(plan(step("a")), Told({}), watch=Looks()).fate.kind))
    thread.start()
    thread.join(10)
    assert set(found) == {before, "done"}
