"""Before each attempt the engine asks what a guard asks: expiry lets nothing more begin, and the order of both is the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from execplan.engine.agent_runs.permission_request import build_permission_request
from execplan.engine.journal.journal_entries import AttemptResult
from execplan.engine.plain_document import parse_plain_document
from execplan.engine.run_observer import RunObserver
from execplan.engine.run_state import RunState
from execplan.engine.step_order import StepOrder
from execplan.errors import CONFLICT, ExecplanError
from execplan.execution.permission import DENY, ApprovalTerms, allowed_calls, check_permission
from tests.conftest import CLOCK
from tests.engine.agent.agent import MAKE, Agent
from tests.engine.fakes import Told, Try, no
from tests.engine.plans import plan, step

if TYPE_CHECKING:
    from execplan.engine.journal.journal import Entry

TERMS = ApprovalTerms("digest", None, None, True, 0, float("inf"), "MEDIUM")


@some.composite
def documents(draw: some.DrawFn) -> Any:
    """Up to five steps that need, stand in for, and look at each other."""
    names = "abcde"[: draw(some.integers(2, 5))]
    steps, stand_ins = [], set[str]()
    for at, name in enumerate(names):
        said: dict[str, Any] = {"retries": draw(some.integers(0, 1))}
        others = [each for each in names[at + 1 :] if each not in stand_ins]
        stands_in: bool = draw(some.booleans())
        if others and stands_in:
            stand_ins.add(other := draw(some.sampled_from(others)))
            said["strategy"] = f"alternative:{other}"
        else:
            said["strategy"] = draw(some.sampled_from(["fail_fast", "skip"]))
        before = [each for each in names[:at] if name not in stand_ins]
        needs = draw(some.sets(some.sampled_from(before), max_size=2)) if before else set()
        said["depends_on"] = tuple(sorted(needs))
        steps.append(step(name, **said))
    return plan(*steps, constraints={"require_sequential": draw(some.booleans())})


class Guard(Told):
    """Hands that ask before each step what a guard would be told of it, from plain JSON."""

    def __init__(self, document: Any, outcomes: dict[str, Any]) -> None:
        super().__init__(outcomes)
        self._plain = parse_plain_document(document.model_dump(mode="json"))
        self._order = StepOrder(self._plain.steps, sequential=document.constraints.require_sequential)
        self.course = RunState(document)

    def prepare(self, bench: Any, step: Any, expected: Any) -> Any:
        """Ask, then do as told."""
        (plain,) = [each for each in self._plain.steps if each.id == step.id]
        found = build_permission_request(
            plain, "LOW", self.course, self._order, interval=99, path_exists=lambda path: False
        )
        assert check_permission(found, TERMS, self.course.status_of, 0).kind != DENY, found
        return super().prepare(bench, step, expected)


class Reader(RunObserver):
    """One who keeps the course of the run for the hands."""

    def __init__(self, hands: Guard) -> None:
        self._hands = hands

    def entry(self, entry: Entry) -> None:
        """Read on."""
        self._hands.course.apply_entries([entry])


@settings(max_examples=40)
@given(documents(), some.data())
def test_what_the_engine_begins_a_guard_allows(document: Any, data: Any) -> None:
    fails = {each.id: data.draw(some.lists(some.booleans(), min_size=1, max_size=2)) for each in document.steps}
    outcomes = {name: [no() if each else AttemptResult(True) for each in every] for name, every in fails.items()}
    hands = Guard(document, outcomes)
    Try(document, hands, watch=Reader(hands))
    assert hands.ran


def test_nothing_begins_once_the_approval_has_expired(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(bench: Any) -> AttemptResult:
        monkeypatch.setenv("SOURCE_DATE_EPOCH", str(CLOCK + 60))
        return AttemptResult(True)

    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(CLOCK))
    hands = Told({"a": [late]})
    with pytest.raises(ExecplanError, match="expired") as caught:
        Try(plan(step("a"), step("b")), hands, expires=CLOCK + 60)
    assert (caught.value.exit, caught.value.code) == (CONFLICT, "approval-expired")
    assert hands.ran == ["a"], "what runs comes to its end, and nothing begins"


def test_a_run_that_is_overtaken_by_its_expiry_goes_on_when_it_is_approved_again(agent: Agent) -> None:
    second = MAKE.replace("#make", "#other").replace("made.py", "other.py").replace("Write it", "Check it")
    agent.planned(MAKE.replace("target=", "confirm=true target="), second)
    assert agent.type("run").exit == 8
    agent.later(2 * 86_400)
    agent.refused(4, "approval-expired", "resume")
    agent.approve()
    assert agent.type("resume", "--answer", "go").exit == 0


def test_a_diff_may_be_carried_out_place_by_place() -> None:
    patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-@@ c\n+d\nrename from y\nrename to z\n"
    assert [allowed_calls(1, patch), allowed_calls(2, patch), allowed_calls(2, None), allowed_calls(1, "")] == [
        3,
        6,
        2,
        1,
    ]
    found = parse_plain_document({"steps": [{"number": 1, "id": "a", "description": "A", "patch": patch}]})
    assert found.steps[0].max_invocations == 3
