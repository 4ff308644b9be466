"""Before each attempt the engine asks what a guard asks: expiry lets nothing more begin, and the order of both is the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from execplan.core.errors import CONFLICT, ExecplanError
from execplan.execution.engine.journal.journal_entries import AttemptResult
from execplan.execution.engine.ordering_fields import parse_ordering_fields
from execplan.execution.engine.run_observer import RunObserver
from execplan.execution.engine.run_state import RunState
from execplan.execution.engine.step_order import StepOrder
from execplan.execution.engine.step_permission import build_permission_request
from execplan.execution.permission import DENY, ApprovalTerms, allowed_calls, check_permission
from tests.conftest import CLOCK
from tests.execution.engine.agent_runs.agent import MAKE, Agent
from tests.execution.engine.execution_plans import plan, step
from tests.execution.engine.fakes import LoopRun, ScriptedExecutor, failed_result

if TYPE_CHECKING:
    from execplan.execution.engine.journal.journal import RunEntry

TERMS = ApprovalTerms("digest", None, None, True, 0, float("inf"), "MEDIUM")


@some.composite
def documents(draw: some.DrawFn) -> Any:
    """Up to five steps that need, stand in for, and look at each other."""
    names = "abcde"[: draw(some.integers(2, 5))]
    steps, stand_ins = [], set[str]()
    for at, name in enumerate(names):
        fields: dict[str, Any] = {"retries": draw(some.integers(0, 1))}
        candidates = [candidate for candidate in names[at + 1 :] if candidate not in stand_ins]
        stands_in: bool = draw(some.booleans())
        if candidates and stands_in:
            stand_ins.add(alternative := draw(some.sampled_from(candidates)))
            fields["strategy"] = f"alternative:{alternative}"
        else:
            fields["strategy"] = draw(some.sampled_from(["fail_fast", "skip"]))
        earlier_names = [earlier for earlier in names[:at] if name not in stand_ins]
        needs = draw(some.sets(some.sampled_from(earlier_names), max_size=2)) if earlier_names else set()
        fields["depends_on"] = tuple(sorted(needs))
        steps.append(step(name, **fields))
    return plan(*steps, constraints={"require_sequential": draw(some.booleans())})


class GuardedExecutor(ScriptedExecutor):
    """Hands that ask before each step what a guard would be told of it, from plain JSON."""

    def __init__(self, document: Any, outcomes: dict[str, Any]) -> None:
        super().__init__(outcomes)
        self._plain_document = parse_ordering_fields(document.model_dump())
        self._order = StepOrder(self._plain_document.steps, sequential=document.constraints.require_sequential)
        self.run_state = RunState(document)

    def prepare(self, context: Any, step: Any, run_state: Any) -> Any:
        """Ask, then do as told."""
        (plain,) = [candidate for candidate in self._plain_document.steps if candidate.id == step.id]
        request = build_permission_request(
            plain, "LOW", self.run_state, self._order, interval=99, path_exists=lambda path: False
        )
        assert check_permission(request, TERMS, self.run_state.status_of, 0).kind != DENY, request
        return super().prepare(context, step, run_state)


class RunStateObserver(RunObserver):
    """One who keeps the course of the run for the hands."""

    def __init__(self, executor: GuardedExecutor) -> None:
        self._executor = executor

    def entry(self, entry: RunEntry) -> None:
        """Read on."""
        self._executor.run_state.apply_entries([entry])


@settings(max_examples=40)
@given(documents(), some.data())
def test_what_the_engine_begins_a_guard_allows(document: Any, data: Any) -> None:
    fails = {
        plan_step.id: data.draw(some.lists(some.booleans(), min_size=1, max_size=2)) for plan_step in document.steps
    }
    outcomes = {
        name: [failed_result() if failed else AttemptResult(True) for failed in attempts]
        for name, attempts in fails.items()
    }
    executor = GuardedExecutor(document, outcomes)
    LoopRun(document, executor, watch=RunStateObserver(executor))
    assert executor.ran


def test_nothing_begins_once_the_approval_has_expired(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(context: Any) -> AttemptResult:
        monkeypatch.setenv("SOURCE_DATE_EPOCH", str(CLOCK + 60))
        return AttemptResult(True)

    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(CLOCK))
    executor = ScriptedExecutor({"a": [late]})
    with pytest.raises(ExecplanError, match="expired") as caught:
        LoopRun(plan(step("a"), step("b")), executor, expires=CLOCK + 60)
    assert (caught.value.exit, caught.value.code) == (CONFLICT, "approval-expired")
    assert executor.ran == ["a"], "what runs comes to its end, and nothing begins"


def test_a_run_that_is_overtaken_by_its_expiry_goes_on_when_it_is_approved_again(agent: Agent) -> None:
    second = MAKE.replace("#make", "#other").replace("made.py", "other.py").replace("Write it", "Check it")
    agent.plan_steps(MAKE.replace("target=", "confirm=true target="), second)
    assert agent.type("run").exit == 8
    agent.later(2 * 86_400)
    agent.refused(4, "approval-expired", "resume", "--answer", "go")
    agent.approve()
    assert agent.type("resume", "--answer", "go").exit == 0


def test_a_diff_may_be_carried_out_place_by_place() -> None:
    patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-@@ c\n+d\nrename from y\nrename to z\n"
    steps: list[dict[str, Any]] = [
        {"patch": patch},
        {"patch": patch, "max_invocations": 2},
        {"patch": None, "max_invocations": 2},
        {"patch": ""},
        {"replacement": {"count": 8}},
        {"type": "copy", "from": "a", "files": ["a/b", "a/c"]},
        {"type": "move", "from": "a", "files": ["a/b", "a/c"]},
    ]
    assert [allowed_calls(step) for step in steps] == [3, 6, 2, 1, 8, 2, 4]
    document = parse_ordering_fields({"steps": [{"number": 1, "id": "a", "description": "A", "patch": patch}]})
    assert document.steps[0].max_invocations == 3
