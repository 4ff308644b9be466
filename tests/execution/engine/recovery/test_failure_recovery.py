"""What a failure leads to: every strategy, for every cause, and the loop that carries it out."""

from __future__ import annotations

import threading
from time import monotonic
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execplan.core.errors import ExecplanError
from execplan.execution import states
from execplan.execution.engine import stop_reasons
from execplan.execution.engine.journal.journal_entries import AttemptResult
from execplan.execution.engine.recovery.failure_recovery import Recovery, choose_recovery
from execplan.execution.policy import Policy
from tests.execution.engine.execution_plans import file, plan, step
from tests.execution.engine.fakes import AnsweringObserver, LoopRun, MemoryJournal, ScriptedExecutor, failed_result
from tests.execution.engine.test_schedule import documents

CAUSES = ("exit", "timeout", "expectation", "syntax", "test", "limit", "error")


@pytest.mark.parametrize("strategy", ["fail_fast", "skip", "replan", "ask", "alternative:other"])
@pytest.mark.parametrize("cause", CAUSES)
def test_a_strategy_is_for_what_triggers_it(strategy: str, cause: str) -> None:
    expected = {"fail_fast": "fail"}.get(strategy, strategy.partition(":")[0])
    for triggers, fits in (((), True), ((cause,), True), (("timeout", "limit"), cause in ("timeout", "limit"))):
        if cause == "error" and triggers == (cause,):
            continue
        failing_step = plan(step("a", strategy=strategy, triggers=triggers), step("other")).steps[0]
        assert choose_recovery(failing_step, failed_result(cause), 1).kind == (expected if fits else "fail"), (
            strategy,
            cause,
            triggers,
        )


def test_one_exit_status_may_be_named() -> None:
    failing_step = plan(step("a", strategy="skip", triggers=("exit:3",))).steps[0]
    assert choose_recovery(failing_step, failed_result(exit=3), 1).kind == "skip"
    assert choose_recovery(failing_step, failed_result(exit=4), 1).kind == "fail"
    assert choose_recovery(failing_step, failed_result("test", exit=3), 1).kind == "fail"
    killed = plan(step("a", strategy="skip", triggers=("exit",))).steps[0]
    assert choose_recovery(killed, failed_result(exit=None), 1).kind == "skip"


def test_retries_come_first_and_each_pause_is_twice_as_long() -> None:
    failing_step = plan(step("a", strategy="skip", retries=3, backoff=500)).steps[0]
    assert [choose_recovery(failing_step, failed_result(), tries) for tries in (1, 2, 3, 4)] == [
        Recovery("retry", 0.5),
        Recovery("retry", 1.0),
        Recovery("retry", 2.0),
        Recovery("skip"),
    ]


def test_what_was_interrupted_or_has_drifted_is_never_recovered() -> None:
    failing_step = plan(step("a", strategy="skip", retries=3)).steps[0]
    assert [choose_recovery(failing_step, failed_result(cause), 1).kind for cause in ("interrupted", "drift")] == [
        "fail",
        "fail",
    ]


def test_fail_fast_begins_nothing_more() -> None:
    run = LoopRun(plan(step("a"), step("b")), ScriptedExecutor({"a": [failed_result()]}))
    assert run.stop_reason == stop_reasons.StopReason("failed", "a", "failure", "step a failed: it failed by exit")
    assert run.entry_names == ["intent a", "result a", "retaken a"]


def test_fail_fast_waits_for_the_parallel_steps_that_are_under_way() -> None:
    late = threading.Event()

    def slow(context: Any) -> AttemptResult:
        assert late.wait(5)
        return AttemptResult(True)

    def failing(context: Any) -> AttemptResult:
        threading.Timer(0.05, late.set).start()
        return failed_result()

    executor = ScriptedExecutor({"a": [failing], "b": [slow]})
    document = plan(file("a", "a", parallel=True), file("b", "b", parallel=True), file("c", "c", parallel=True))
    run = LoopRun(document, executor, jobs=2)
    assert (run.stop_reason.kind, run.stop_reason.step) == (stop_reasons.FAILED, "a")
    assert sorted(executor.ran) == ["a", "b"]
    assert run.run_state.status_of == {"a": "failed", "b": "completed", "c": "pending"}


def test_a_retry_that_works_is_completed() -> None:
    executor = ScriptedExecutor({"a": [failed_result(), failed_result(), AttemptResult(True)]})
    run = LoopRun(plan(step("a", strategy="retry", retries=2), step("b")), executor)
    assert run.stop_reason.kind == stop_reasons.DONE
    assert executor.ran == ["a", "a", "a", "b"]
    assert [entry.fields["attempt"] for entry in run.paper.entries if entry.kind == "intent"] == [1, 2, 3, 1]
    assert len(executor.retaken) == 2


def test_retries_have_an_end() -> None:
    executor = ScriptedExecutor({"a": [failed_result()]})
    run = LoopRun(plan(step("a", strategy="retry", retries=2), step("b")), executor)
    assert run.stop_reason.kind == stop_reasons.FAILED
    assert executor.ran == ["a", "a", "a"]


def test_skip_goes_on_with_what_needs_it() -> None:
    executor = ScriptedExecutor({"a": [failed_result()]})
    run = LoopRun(plan(step("a", strategy="skip"), step("b", depends_on=("a",))), executor)
    assert run.stop_reason.kind == stop_reasons.DONE
    assert run.run_state.status_of == {"a": "skipped", "b": "completed"}
    assert run.entry_names[:4] == ["intent a", "result a", "retaken a", "skipped a"]
    assert "it failed by exit" in run.reason("a")


def test_an_alternative_is_run_in_its_place_and_else_skipped() -> None:
    document = plan(step("a", strategy="alternative:c"), step("b", depends_on=("a",)), step("c"))
    executor = ScriptedExecutor({"a": [failed_result()]})
    run = LoopRun(document, executor)
    assert run.stop_reason.kind == stop_reasons.DONE
    assert executor.ran == ["a", "c", "b"]
    assert run.run_state.status_of == {"a": "recovered", "b": "completed", "c": "completed"}
    executor = ScriptedExecutor({})
    run = LoopRun(document, executor)
    assert executor.ran == ["a", "b"]
    assert run.run_state.status_of == {"a": "completed", "b": "completed", "c": "skipped"}


def test_alternatives_of_alternatives() -> None:
    document = plan(
        step("a", strategy="alternative:b"),
        step("b", strategy="alternative:c"),
        step("c"),
        step("d", depends_on=("a",)),
    )
    run = LoopRun(document, ScriptedExecutor({"a": [failed_result()], "b": [failed_result()]}))
    assert run.stop_reason.kind == stop_reasons.DONE
    assert run.run_state.status_of == {"a": "recovered", "b": "recovered", "c": "completed", "d": "completed"}


@pytest.mark.parametrize("more", [{}, {"strategy": "skip"}, {"when": "exists:nowhere"}])
def test_an_alternative_that_does_not_stand_in_fails_the_step(more: dict[str, Any]) -> None:
    document = plan(step("a", strategy="alternative:b"), step("b", **more), step("c"))
    run = LoopRun(document, ScriptedExecutor({"a": [failed_result()], "b": [failed_result()]}))
    assert run.stop_reason.kind == stop_reasons.FAILED
    assert run.run_state.status_of["a"] == states.FAILED
    assert run.run_state.status_of["c"] == states.PENDING


def test_an_alternative_that_waits_for_what_waits_for_the_step_fails_it() -> None:
    document = plan(
        step("a", strategy="alternative:c"), step("b", depends_on=("a",)), step("c", depends_on=("b",)), step("d")
    )
    run = LoopRun(document, ScriptedExecutor({"a": [failed_result()]}))
    assert (run.stop_reason.kind, run.stop_reason.step) == (stop_reasons.FAILED, "a")
    hidden = plan(
        step("a", strategy="alternative:d"),
        step("b", depends_on=("a",), strategy="alternative:c"),
        step("c"),
        step("d", depends_on=("c",)),
    )
    run = LoopRun(hidden, ScriptedExecutor({"a": [failed_result()]}))
    assert (run.stop_reason.kind, run.stop_reason.step) == (stop_reasons.FAILED, "a")
    assert run.run_state.status_of["d"] == states.PENDING


def test_an_alternative_that_was_not_chosen_is_none() -> None:
    document = plan(step("a", strategy="alternative:b"), step("b"))
    run = LoopRun(document, ScriptedExecutor({"a": [failed_result()]}), chosen={"a"})
    assert (run.stop_reason.kind, run.stop_reason.step) == (stop_reasons.FAILED, "a")


def test_replan_ends_the_leg() -> None:
    run = LoopRun(plan(step("a", strategy="replan"), step("b")), ScriptedExecutor({"a": [failed_result()]}))
    assert (run.stop_reason.kind, run.stop_reason.step) == (stop_reasons.REPLAN, "a")
    assert run.entry_names == ["intent a", "result a", "retaken a"]


def test_ask_again_skip_stop_or_nobody() -> None:
    document = plan(step("a", strategy="ask"), step("b"))
    observer = AnsweringObserver(ask="again")
    run = LoopRun(document, ScriptedExecutor({"a": [failed_result(), AttemptResult(True)]}), watch=observer)
    assert run.stop_reason.kind == stop_reasons.DONE
    assert observer.questions == [("ask", "a")]
    assert run.run_state.status_of == {"a": "completed", "b": "completed"}
    run = LoopRun(document, ScriptedExecutor({"a": [failed_result()]}), watch=AnsweringObserver(ask="skip"))
    assert run.run_state.status_of == {"a": "skipped", "b": "completed"}
    run = LoopRun(document, ScriptedExecutor({"a": [failed_result()]}), watch=AnsweringObserver(ask="stop"))
    assert (run.stop_reason.kind, run.stop_reason.cause) == (stop_reasons.FAILED, "cancellation")
    assert run.run_state.status_of["a"] == states.FAILED
    run = LoopRun(document, ScriptedExecutor({"a": [failed_result()]}), watch=AnsweringObserver())
    assert run.stop_reason.kind == stop_reasons.PAUSED
    assert run.stop_reason.question is not None
    assert (run.stop_reason.question.why, run.stop_reason.question.step) == ("ask", "a")
    run = LoopRun(document, ScriptedExecutor({"a": [failed_result()]}), watch=AnsweringObserver(ask="go"))
    assert run.stop_reason.kind == stop_reasons.PAUSED, "go is no answer to it"


def test_nobody_is_asked_while_another_step_runs() -> None:
    late = threading.Event()

    def slow(context: Any) -> AttemptResult:
        late.wait(5)
        return AttemptResult(True)

    class Waiting(AnsweringObserver):
        def ask(self, question: Any) -> str | None:
            assert executor.running_together
            assert not executor._running
            return super().ask(question)

    def failing(context: Any) -> AttemptResult:
        threading.Timer(0.05, late.set).start()
        return failed_result()

    executor = ScriptedExecutor({"a": [failing], "b": [slow]})
    document = plan(file("a", "a", strategy="ask", parallel=True), file("b", "b", parallel=True), step("c"))
    run = LoopRun(document, executor, watch=Waiting(ask="skip"), jobs=2)
    assert run.stop_reason.kind == stop_reasons.DONE
    assert run.run_state.status_of == {"a": "skipped", "b": "completed", "c": "completed"}


def test_confirm_asks_before_the_step() -> None:
    document = plan(step("a"), step("b", confirm=True), step("c"))
    for answer, ran in (("go", ["a", "b", "c"]), ("skip", ["a", "c"]), ("stop", ["a"]), (None, ["a"])):
        executor, observer = ScriptedExecutor({}), AnsweringObserver(confirm=answer)
        run = LoopRun(document, executor, watch=observer)
        assert executor.ran == ran, answer
        assert observer.questions == [("confirm", "b")]
        kinds = {
            "go": stop_reasons.DONE,
            "skip": stop_reasons.DONE,
            "stop": stop_reasons.FAILED,
            None: stop_reasons.PAUSED,
        }
        assert run.stop_reason.kind == kinds[answer]


def test_checkpoints_every_so_many_steps_and_never_behind_the_last() -> None:
    document = plan(*[step(name) for name in "abcdef"])
    observer = AnsweringObserver(checkpoint="go")
    run = LoopRun(document, ScriptedExecutor({}), watch=observer, policy=Policy(checkpoint_interval=2))
    assert run.stop_reason.kind == stop_reasons.DONE
    assert observer.questions == [("checkpoint", "b"), ("checkpoint", "d")]
    executor, observer = ScriptedExecutor({}), AnsweringObserver()
    run = LoopRun(document, executor, watch=observer, policy=Policy(checkpoint_interval=4))
    assert (executor.ran, run.stop_reason.kind) == (list("abcd"), stop_reasons.PAUSED)


def test_a_marked_step_is_a_checkpoint_once() -> None:
    document = plan(step("a", checkpoint=True), step("b"), step("c", checkpoint=True))
    observer = AnsweringObserver(checkpoint="go")
    assert LoopRun(document, ScriptedExecutor({}), watch=observer).stop_reason.kind == stop_reasons.DONE
    assert observer.questions == [("checkpoint", "a")]


def test_what_a_failed_attempt_changed_is_taken_back_unless_the_step_says_no() -> None:
    executor = ScriptedExecutor({"a": [failed_result()]})
    run = LoopRun(plan(step("a", rollback={"enabled": False}, strategy="skip")), executor)
    assert executor.retaken == []
    assert run.entry_names == ["intent a", "result a", "skipped a"]


def test_a_file_that_is_not_as_expected_ends_the_run_before_the_step() -> None:
    drifted = ExecplanError("drifted", "x is not as it was", candidates=["x: different content ("])
    executor = ScriptedExecutor({"before b": [drifted]})
    run = LoopRun(plan(step("a"), step("b", strategy="skip"), step("c")), executor)
    assert (run.stop_reason.kind, run.stop_reason.cause) == (stop_reasons.FAILED, "drift")
    assert "x: different content (" in run.stop_reason.reason
    assert executor.ran == ["a"]


def test_a_full_disk_stops_what_runs_and_is_raised() -> None:
    full = ExecplanError("io-error", "no space")
    paper = MemoryJournal()
    paper.refuses = lambda kind, said: full if kind == "result" and said.get("step") == "a" else None
    runs, stopped = threading.Event(), threading.Event()

    def until_stopped(context: Any) -> AttemptResult:
        runs.set()
        assert context.stop.event.wait(5)
        stopped.set()
        return failed_result("interrupted", None)

    def at_once(context: Any) -> AttemptResult:
        runs.wait(5)
        return AttemptResult(True)

    begun = plan(file("a", "a", parallel=True), file("b", "b", parallel=True), step("c"))
    with pytest.raises(ExecplanError) as caught:
        LoopRun(begun, ScriptedExecutor({"a": [at_once], "b": [until_stopped]}), jobs=2, paper=paper)
    assert caught.value is full
    assert stopped.is_set()
    assert [entry.kind for entry in paper.entries].count("intent") == 2


def test_a_bug_is_raised_when_all_that_runs_has_ended() -> None:
    runs, ended = threading.Event(), threading.Event()

    def until_stopped(context: Any) -> AttemptResult:
        runs.set()
        assert context.stop.event.wait(5)
        ended.set()
        return failed_result("interrupted", None)

    def wrong(context: Any) -> AttemptResult:
        runs.wait(5)
        raise ZeroDivisionError

    document = plan(file("a", "a", parallel=True), file("b", "b", parallel=True))
    with pytest.raises(ZeroDivisionError):
        LoopRun(document, ScriptedExecutor({"a": [wrong], "b": [until_stopped]}), jobs=2)
    assert ended.is_set()


def test_a_run_that_takes_too_long_fails_by_timeout_and_tries_nothing_again() -> None:
    executor = ScriptedExecutor({"a": [failed_result("timeout")]})
    run = LoopRun(plan(step("a", strategy="retry", retries=9), step("b")), executor, seconds=0.0)
    assert (run.stop_reason.kind, run.stop_reason.cause) == (stop_reasons.FAILED, "timeout")
    assert executor.ran == []

    def slow(context: Any) -> AttemptResult:
        threading.Event().wait(max(context.deadline - monotonic(), 0))
        return failed_result("timeout")

    executor = ScriptedExecutor({"a": [slow]})
    run = LoopRun(plan(step("a", strategy="retry", retries=9), step("b")), executor, seconds=0.1)
    assert (run.stop_reason.kind, run.stop_reason.cause) == (stop_reasons.FAILED, "timeout")
    assert executor.ran == ["a"]


def test_a_run_that_is_done_when_its_time_is_up_is_done() -> None:
    def slow(context: Any) -> AttemptResult:
        threading.Event().wait(max(context.deadline - monotonic(), 0))
        return AttemptResult(True)

    assert LoopRun(plan(step("a")), ScriptedExecutor({"a": [slow]}), seconds=0.1).stop_reason.kind == stop_reasons.DONE


OUTCOMES = st.sampled_from([AttemptResult(True), failed_result(), failed_result("timeout"), failed_result("test")])
STRATEGIES = st.sampled_from(["fail_fast", "skip", "retry", "ask", "replan"])


@given(documents(), st.data(), st.integers(1, 3), st.sampled_from(["again", "skip", "stop", None]))
@settings(max_examples=60)
def test_a_failed_step_never_ends_as_completed(
    steps: list[dict[str, Any]], data: st.DataObject, jobs: int, answer: str | None
) -> None:
    for step_fields in steps:
        if step_fields["on_failure"]["strategy"] == "fail_fast":
            step_fields["on_failure"]["strategy"] = data.draw(STRATEGIES)
            step_fields["on_failure"]["max_retries"] = data.draw(st.integers(1, 2))
    outcomes = {step_fields["id"]: data.draw(st.lists(OUTCOMES, min_size=1, max_size=3)) for step_fields in steps}
    for results in outcomes.values():
        if answer == "again":
            results.append(AttemptResult(True))
    document = plan(*steps)
    run = LoopRun(document, ScriptedExecutor(outcomes), watch=AnsweringObserver(ask=answer), jobs=jobs)
    last_results = {name: attempts[-1].performed for name, attempts in run.run_state.attempts.items()}
    for name, status in run.run_state.status_of.items():
        performed = last_results.get(name)
        assert (status == states.COMPLETED) == (performed is not None and performed.ok), (name, status)
    if run.stop_reason.kind == stop_reasons.DONE:
        assert set(run.run_state.status_of.values()) <= set(states.SUCCESS_STATES)
    assert not run.run_state.open_attempts()
