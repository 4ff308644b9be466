"""One signal stops a run: its steps are killed, the journal says so, and a resume goes on."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from execplan.execution.engine.commands.stop_signal import SIGNALS
from execplan.execution.engine.journal.journal import RunEntry
from execplan.execution.engine.journal.journal_entries import AttemptResult
from execplan.execution.engine.run_observer import RunObserver
from execplan.execution.engine.run_state import Question
from execplan.execution.engine.stop_reasons import SIGNAL
from tests.execution.engine.execution_plans import plan, step
from tests.execution.engine.fakes import LoopRun, ScriptedExecutor
from tests.execution.engine.run_repository import RunRepository, steps
from tests.execution.engine.test_run import DROP, MAKE

SLOW = "```sh {{#slow outputs=slow.txt {0} shell}}\necho x >> count/slow; echo half > half.txt; {1}sleep 30\n```"


class SignalSender(RunObserver):
    """One who sends this process a signal as soon as the step prints something."""

    def __init__(self, kick: signal.Signals) -> None:
        self._kick = kick

    def line(self, step: str, text: str, *, error: bool) -> None:
        """Send it."""
        os.kill(os.getpid(), self._kick)


@pytest.fixture
def run_repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunRepository:
    """A repository that ignores what counts."""
    repository = RunRepository(tmp_path / "repo", monkeypatch)
    repository.write(".gitignore", "count/\n")
    (repository.path / "count").mkdir()
    return repository


@pytest.mark.parametrize("kick", SIGNALS)
def test_a_step_that_may_run_again_is_taken_back_and_runs_again(run_repo: RunRepository, kick: signal.Signals) -> None:
    run_repo.approve_plan(
        steps(
            MAKE,
            SLOW.format("effect=idempotent", "test -e src/go && echo > slow.txt || echo on; test -e src/go || "),
            DROP,
        )
    )
    before = [signal.getsignal(number) for number in SIGNALS]
    finished = run_repo.run_plan(SignalSender(kick))
    assert (finished.signal, finished.status, finished.rolled_back) == (kick.name, "in_progress", None)
    assert [signal.getsignal(number) for number in SIGNALS] == before
    assert run_repo.entry_names()[-4:] == ["intent slow", "result slow", "retaken slow", "interrupted"]
    assert not run_repo.exists("half.txt")
    assert run_repo.exists("src/made.py")
    run_repo.write("src/go", "")
    assert run_repo.resume_run().status == "completed"
    assert run_repo.text("count/slow") == "x\nx\n"


def test_a_step_that_may_run_once_is_asked_about(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(SLOW.format("", "echo on; "), DROP))
    assert run_repo.run_plan(SignalSender(signal.SIGTERM)).signal == "SIGTERM"
    assert run_repo.entry_names()[-2:] == ["result slow", "interrupted"]
    assert run_repo.text("half.txt") == "half\n", "nobody knows whether it has done its work"
    paused = run_repo.resume_run()
    assert paused.question is not None
    assert paused.question.why == "unknown"
    assert run_repo.resume_run("skip").status == "completed"
    assert run_repo.text("count/slow") == "x\n"
    assert not run_repo.exists("half.txt")


def test_a_question_is_left_by_a_signal() -> None:
    class Kicked(RunObserver):
        def ask(self, question: Question) -> str | None:
            os.kill(os.getpid(), signal.SIGINT)
            threading.Event().wait(10)
            raise AssertionError

    run = LoopRun(plan(step("a", confirm=True)), ScriptedExecutor({}), watch=Kicked())
    assert (run.stop_reason.kind, run.stop.signal) == (SIGNAL, "SIGINT")


def test_waiting_for_a_retry_is_left_by_a_signal() -> None:
    class Kicked(RunObserver):
        def entry(self, entry: RunEntry) -> None:
            if entry.kind == "retaken":
                os.kill(os.getpid(), signal.SIGTERM)

    document = plan(step("a", strategy="retry", retries=1, backoff=600_000))
    run = LoopRun(document, ScriptedExecutor({"a": [AttemptResult(False, "exit", "no", 1)]}), watch=Kicked())
    assert (run.stop_reason.kind, run.stop.signal) == (SIGNAL, "SIGTERM")


def test_a_signal_that_is_ignored_stays_so() -> None:
    class HangupSender(RunObserver):
        def entry(self, entry: RunEntry) -> None:
            os.kill(os.getpid(), signal.SIGHUP)

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        run = LoopRun(plan(step("a")), ScriptedExecutor({}), watch=HangupSender())
    finally:
        signal.signal(signal.SIGHUP, before)
    assert run.stop_reason.kind == "done"


def test_in_another_thread_no_handler_is_set() -> None:
    observed: list[Any] = []
    before = signal.getsignal(signal.SIGINT)

    class HandlerRecorder(RunObserver):
        def entry(self, entry: RunEntry) -> None:
            observed.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(
        target=lambda: observed.append(
            LoopRun(plan(step("a")), ScriptedExecutor({}), watch=HandlerRecorder()).stop_reason.kind
        )
    )
    thread.start()
    thread.join(10)
    assert set(observed) == {before, "done"}
