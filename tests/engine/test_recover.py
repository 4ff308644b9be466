"""What a failure leads to: every strategy, for every cause, and the loop that carries it out."""

from __future__ import annotations

import threading
from time import monotonic
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execplan.engine import stop_reasons
from execplan.engine.journal.journal_entries import AttemptResult
from execplan.engine.recovery.failure_recovery import Recovery, choose_recovery
from execplan.errors import CONFLICT, ENVIRONMENT, ExecplanError
from execplan.execution import states
from execplan.execution.policy import Policy
from tests.engine.fakes import Clerk, Paper, Told, Try, no
from tests.engine.plans import file, plan, step
from tests.engine.test_schedule import documents

CAUSES = ("exit", "timeout", "expectation", "syntax", "test", "limit", "error")


@pytest.mark.parametrize("strategy", ["fail_fast", "skip", "replan", "ask", "alternative:other"])
@pytest.mark.parametrize("cause", CAUSES)
def test_a_strategy_is_for_what_triggers_it(strategy: str, cause: str) -> None:
    wanted = {"fail_fast": "fail"}.get(strategy, strategy.partition(":")[0])
    for triggers, fits in (((), True), ((cause,), True), (("timeout", "limit"), cause in ("timeout", "limit"))):
        if cause == "error" and triggers == (cause,):
            continue
        made = plan(step("a", strategy=strategy, triggers=triggers), step("other")).steps[0]
        assert choose_recovery(made, no(cause), 1).kind == (wanted if fits else "fail"), (strategy, cause, triggers)


def test_one_exit_status_may_be_named() -> None:
    made = plan(step("a", strategy="skip", triggers=("exit:3",))).steps[0]
    assert choose_recovery(made, no(exit=3), 1).kind == "skip"
    assert choose_recovery(made, no(exit=4), 1).kind == "fail"
    assert choose_recovery(made, no("test", exit=3), 1).kind == "fail"
    killed = plan(step("a", strategy="skip", triggers=("exit",))).steps[0]
    assert choose_recovery(killed, no(exit=None), 1).kind == "skip"


def test_retries_come_first_and_each_pause_is_twice_as_long() -> None:
    made = plan(step("a", strategy="skip", retries=3, backoff=500)).steps[0]
    assert [choose_recovery(made, no(), tries) for tries in (1, 2, 3, 4)] == [
        Recovery("retry", 0.5),
        Recovery("retry", 1.0),
        Recovery("retry", 2.0),
        Recovery("skip"),
    ]


def test_what_was_interrupted_or_has_drifted_is_never_recovered() -> None:
    made = plan(step("a", strategy="skip", retries=3)).steps[0]
    assert [choose_recovery(made, no(cause), 1).kind for cause in ("interrupted", "drift")] == ["fail", "fail"]


def test_fail_fast_begins_nothing_more() -> None:
    run = Try(plan(step("a"), step("b")), Told({"a": [no()]}))
    assert run.fate == stop_reasons.StopReason("failed", "a", "failure", "a failed: it failed by exit")
    assert run.told == ["intent a", "result a", "retaken a"]


def test_fail_fast_waits_for_the_parallel_steps_that_are_under_way() -> None:
    late = threading.Event()

    def slow(bench: Any) -> AttemptResult:
        assert late.wait(5)
        return AttemptResult(True)

    def failing(bench: Any) -> AttemptResult:
        threading.Timer(0.05, late.set).start()
        return no()

    hands = Told({"a": [failing], "b": [slow]})
    document = plan(file("a", "a", parallel=True), file("b", "b", parallel=True), file("c", "c", parallel=True))
    run = Try(document, hands, jobs=2)
    assert (run.fate.kind, run.fate.step) == (stop_reasons.FAILED, "a")
    assert sorted(hands.ran) == ["a", "b"]
    assert run.course.status_of == {"a": "failed", "b": "completed", "c": "pending"}


def test_a_retry_that_works_is_completed() -> None:
    hands = Told({"a": [no(), no(), AttemptResult(True)]})
    run = Try(plan(step("a", strategy="retry", retries=2), step("b")), hands)
    assert run.fate.kind == stop_reasons.DONE
    assert hands.ran == ["a", "a", "a", "b"]
    assert [each.fields["attempt"] for each in run.paper.entries if each.kind == "intent"] == [1, 2, 3, 1]
    assert len(hands.retaken) == 2


def test_retries_have_an_end() -> None:
    hands = Told({"a": [no()]})
    run = Try(plan(step("a", strategy="retry", retries=2), step("b")), hands)
    assert run.fate.kind == stop_reasons.FAILED
    assert hands.ran == ["a", "a", "a"]


def test_skip_goes_on_with_what_needs_it() -> None:
    hands = Told({"a": [no()]})
    run = Try(plan(step("a", strategy="skip"), step("b", depends_on=("a",))), hands)
    assert run.fate.kind == stop_reasons.DONE
    assert run.course.status_of == {"a": "skipped", "b": "completed"}
    assert run.told[:4] == ["intent a", "result a", "retaken a", "skipped a"]
    assert "it failed by exit" in run.reason("a")


def test_an_alternative_is_run_in_its_place_and_else_skipped() -> None:
    document = plan(step("a", strategy="alternative:c"), step("b", depends_on=("a",)), step("c"))
    hands = Told({"a": [no()]})
    run = Try(document, hands)
    assert run.fate.kind == stop_reasons.DONE
    assert hands.ran == ["a", "c", "b"]
    assert run.course.status_of == {"a": "recovered", "b": "completed", "c": "completed"}
    hands = Told({})
    run = Try(document, hands)
    assert hands.ran == ["a", "b"]
    assert run.course.status_of == {"a": "completed", "b": "completed", "c": "skipped"}


def test_alternatives_of_alternatives() -> None:
    document = plan(
        step("a", strategy="alternative:b"),
        step("b", strategy="alternative:c"),
        step("c"),
        step("d", depends_on=("a",)),
    )
    run = Try(document, Told({"a": [no()], "b": [no()]}))
    assert run.fate.kind == stop_reasons.DONE
    assert run.course.status_of == {"a": "recovered", "b": "recovered", "c": "completed", "d": "completed"}


@pytest.mark.parametrize("more", [{}, {"strategy": "skip"}, {"when": "exists:nowhere"}])
def test_an_alternative_that_does_not_stand_in_fails_the_step(more: dict[str, Any]) -> None:
    document = plan(step("a", strategy="alternative:b"), step("b", **more), step("c"))
    run = Try(document, Told({"a": [no()], "b": [no()]}))
    assert run.fate.kind == stop_reasons.FAILED
    assert run.course.status_of["a"] == states.FAILED
    assert run.course.status_of["c"] == states.PENDING


def test_an_alternative_that_waits_for_what_waits_for_the_step_fails_it() -> None:
    document = plan(
        step("a", strategy="alternative:c"), step("b", depends_on=("a",)), step("c", depends_on=("b",)), step("d")
    )
    run = Try(document, Told({"a": [no()]}))
    assert (run.fate.kind, run.fate.step) == (stop_reasons.FAILED, "a")
    hidden = plan(
        step("a", strategy="alternative:d"),
        step("b", depends_on=("a",), strategy="alternative:c"),
        step("c"),
        step("d", depends_on=("c",)),
    )
    run = Try(hidden, Told({"a": [no()]}))
    assert (run.fate.kind, run.fate.step) == (stop_reasons.FAILED, "a")
    assert run.course.status_of["d"] == states.PENDING


def test_an_alternative_that_was_not_chosen_is_none() -> None:
    document = plan(step("a", strategy="alternative:b"), step("b"))
    run = Try(document, Told({"a": [no()]}), chosen={"a"})
    assert (run.fate.kind, run.fate.step) == (stop_reasons.FAILED, "a")


def test_replan_ends_the_leg() -> None:
    run = Try(plan(step("a", strategy="replan"), step("b")), Told({"a": [no()]}))
    assert (run.fate.kind, run.fate.step) == (stop_reasons.REPLAN, "a")
    assert run.told == ["intent a", "result a", "retaken a"]


def test_ask_again_skip_stop_or_nobody() -> None:
    document = plan(step("a", strategy="ask"), step("b"))
    again = Clerk(ask="again")
    run = Try(document, Told({"a": [no(), AttemptResult(True)]}), watch=again)
    assert run.fate.kind == stop_reasons.DONE
    assert again.asked == [("ask", "a")]
    assert run.course.status_of == {"a": "completed", "b": "completed"}
    run = Try(document, Told({"a": [no()]}), watch=Clerk(ask="skip"))
    assert run.course.status_of == {"a": "skipped", "b": "completed"}
    run = Try(document, Told({"a": [no()]}), watch=Clerk(ask="stop"))
    assert (run.fate.kind, run.fate.cause) == (stop_reasons.FAILED, "cancellation")
    assert run.course.status_of["a"] == states.FAILED
    run = Try(document, Told({"a": [no()]}), watch=Clerk())
    assert run.fate.kind == stop_reasons.PAUSED
    assert run.fate.question is not None
    assert (run.fate.question.why, run.fate.question.step) == ("ask", "a")
    run = Try(document, Told({"a": [no()]}), watch=Clerk(ask="go"))
    assert run.fate.kind == stop_reasons.PAUSED, "go is no answer to it"


def test_nobody_is_asked_while_another_step_runs() -> None:
    late = threading.Event()

    def slow(bench: Any) -> AttemptResult:
        late.wait(5)
        return AttemptResult(True)

    class Waiting(Clerk):
        def ask(self, question: Any) -> str | None:
            assert hands.together
            assert not hands._now
            return super().ask(question)

    def failing(bench: Any) -> AttemptResult:
        threading.Timer(0.05, late.set).start()
        return no()

    hands = Told({"a": [failing], "b": [slow]})
    document = plan(file("a", "a", strategy="ask", parallel=True), file("b", "b", parallel=True), step("c"))
    run = Try(document, hands, watch=Waiting(ask="skip"), jobs=2)
    assert run.fate.kind == stop_reasons.DONE
    assert run.course.status_of == {"a": "skipped", "b": "completed", "c": "completed"}


def test_confirm_asks_before_the_step() -> None:
    document = plan(step("a"), step("b", confirm=True), step("c"))
    for answer, ran in (("go", ["a", "b", "c"]), ("skip", ["a", "c"]), ("stop", ["a"]), (None, ["a"])):
        hands, clerk = Told({}), Clerk(confirm=answer)
        run = Try(document, hands, watch=clerk)
        assert hands.ran == ran, answer
        assert clerk.asked == [("confirm", "b")]
        kinds = {
            "go": stop_reasons.DONE,
            "skip": stop_reasons.DONE,
            "stop": stop_reasons.FAILED,
            None: stop_reasons.PAUSED,
        }
        assert run.fate.kind == kinds[answer]


def test_checkpoints_every_so_many_steps_and_never_behind_the_last() -> None:
    document = plan(*[step(name) for name in "abcdef"])
    clerk = Clerk(checkpoint="go")
    run = Try(document, Told({}), watch=clerk, policy=Policy(checkpoint_interval=2))
    assert run.fate.kind == stop_reasons.DONE
    assert clerk.asked == [("checkpoint", "b"), ("checkpoint", "d")]
    hands, clerk = Told({}), Clerk()
    run = Try(document, hands, watch=clerk, policy=Policy(checkpoint_interval=4))
    assert (hands.ran, run.fate.kind) == (list("abcd"), stop_reasons.PAUSED)


def test_a_marked_step_is_a_checkpoint_once() -> None:
    document = plan(step("a", checkpoint=True), step("b"), step("c", checkpoint=True))
    clerk = Clerk(checkpoint="go")
    assert Try(document, Told({}), watch=clerk).fate.kind == stop_reasons.DONE
    assert clerk.asked == [("checkpoint", "a")]


def test_what_a_failed_attempt_changed_is_taken_back_unless_the_step_says_no() -> None:
    hands = Told({"a": [no()]})
    run = Try(plan(step("a", rollback={"enabled": False}, strategy="skip")), hands)
    assert hands.retaken == []
    assert run.told == ["intent a", "result a", "skipped a"]


def test_a_file_that_is_not_as_expected_ends_the_run_before_the_step() -> None:
    drifted = ExecplanError("drifted", "x is not as it was", exit=CONFLICT, candidates=["x: other bytes"])
    hands = Told({"before b": [drifted]})
    run = Try(plan(step("a"), step("b", strategy="skip"), step("c")), hands)
    assert (run.fate.kind, run.fate.cause) == (stop_reasons.FAILED, "drift")
    assert "x: other bytes" in run.fate.reason
    assert hands.ran == ["a"]


def test_a_full_disk_stops_what_runs_and_is_raised() -> None:
    full = ExecplanError("disk-full", "no space", exit=ENVIRONMENT)
    paper = Paper()
    paper.refuses = lambda kind, said: full if kind == "result" and said.get("step") == "a" else None
    runs, stopped = threading.Event(), threading.Event()

    def until_stopped(bench: Any) -> AttemptResult:
        runs.set()
        assert bench.stop.event.wait(5)
        stopped.set()
        return no("interrupted", None)

    def at_once(bench: Any) -> AttemptResult:
        runs.wait(5)
        return AttemptResult(True)

    begun = plan(file("a", "a", parallel=True), file("b", "b", parallel=True), step("c"))
    with pytest.raises(ExecplanError) as caught:
        Try(begun, Told({"a": [at_once], "b": [until_stopped]}), jobs=2, paper=paper)
    assert caught.value is full
    assert stopped.is_set()
    assert [each.kind for each in paper.entries].count("intent") == 2


def test_a_bug_is_raised_when_all_that_runs_has_ended() -> None:
    runs, ended = threading.Event(), threading.Event()

    def until_stopped(bench: Any) -> AttemptResult:
        runs.set()
        assert bench.stop.event.wait(5)
        ended.set()
        return no("interrupted", None)

    def wrong(bench: Any) -> AttemptResult:
        runs.wait(5)
        raise ZeroDivisionError

    document = plan(file("a", "a", parallel=True), file("b", "b", parallel=True))
    with pytest.raises(ZeroDivisionError):
        Try(document, Told({"a": [wrong], "b": [until_stopped]}), jobs=2)
    assert ended.is_set()


def test_a_run_that_takes_too_long_fails_by_timeout_and_tries_nothing_again() -> None:
    hands = Told({"a": [no("timeout")]})
    run = Try(plan(step("a", strategy="retry", retries=9), step("b")), hands, seconds=0.0)
    assert (run.fate.kind, run.fate.cause) == (stop_reasons.FAILED, "timeout")
    assert hands.ran == []

    def slow(bench: Any) -> AttemptResult:
        threading.Event().wait(max(bench.deadline - monotonic(), 0))
        return no("timeout")

    hands = Told({"a": [slow]})
    run = Try(plan(step("a", strategy="retry", retries=9), step("b")), hands, seconds=0.1)
    assert (run.fate.kind, run.fate.cause) == (stop_reasons.FAILED, "timeout")
    assert hands.ran == ["a"]


def test_a_run_that_is_done_when_its_time_is_up_is_done() -> None:
    def slow(bench: Any) -> AttemptResult:
        threading.Event().wait(max(bench.deadline - monotonic(), 0))
        return AttemptResult(True)

    assert Try(plan(step("a")), Told({"a": [slow]}), seconds=0.1).fate.kind == stop_reasons.DONE


OUTCOMES = st.sampled_from([AttemptResult(True), no(), no("timeout"), no("test")])
STRATEGIES = st.sampled_from(["fail_fast", "skip", "retry", "ask", "replan"])


@given(documents(), st.data(), st.integers(1, 3), st.sampled_from(["again", "skip", "stop", None]))
@settings(max_examples=60)
def test_a_failed_step_never_ends_as_completed(
    steps: list[dict[str, Any]], data: st.DataObject, jobs: int, answer: str | None
) -> None:
    for each in steps:
        if each["on_failure"]["strategy"] == "fail_fast":
            each["on_failure"]["strategy"] = data.draw(STRATEGIES)
            each["on_failure"]["max_retries"] = data.draw(st.integers(1, 2))
    outcomes = {each["id"]: data.draw(st.lists(OUTCOMES, min_size=1, max_size=3)) for each in steps}
    for told in outcomes.values():
        if answer == "again":
            told.append(AttemptResult(True))
    document = plan(*steps)
    run = Try(document, Told(outcomes), watch=Clerk(ask=answer), jobs=jobs)
    last = {name: each[-1].performed for name, each in run.course.attempts.items()}
    for name, status in run.course.status_of.items():
        performed = last.get(name)
        assert (status == states.COMPLETED) == (performed is not None and performed.ok), (name, status)
    if run.fate.kind == stop_reasons.DONE:
        assert set(run.course.status_of.values()) <= set(states.SUCCESS_STATES)
    assert not run.course.open_attempts()
