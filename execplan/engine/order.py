"""What the steps of a document wait for, and when one has its turn: for the engine and for the guard of an agent alike."""

from __future__ import annotations

from execplan.engine.recover import ALTERNATIVE as STANDS_IN
from execplan.engine.recover import RETRY, recover
from execplan.execution import states
from execplan.execution.attributes import ALTERNATIVE, STEP_OUTCOMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from execplan.engine.course import RunState
    from execplan.engine.plain import Step, When


class Order:
    """The order of the steps of a document, as far as their fields tell it."""

    def __init__(
        self, steps: Sequence[Step], chosen: Collection[str] | None = None, *, sequential: bool = False
    ) -> None:
        """None for chosen: all steps. `sequential`: each waits for all before it, whatever it needs of them."""
        self.steps = {step.id: step for step in steps}
        self.chosen = set(self.steps) if chosen is None else set(chosen)
        self.stands_for: dict[str, list[str]] = {}
        """By step that is an alternative, the steps that it stands in for: it is not done by itself."""
        for step in steps:
            other = alternative(step)
            if step.id in self.chosen and other in self.chosen:
                self.stands_for.setdefault(other, []).append(step.id)
        self._sequential = sequential

    def stands_in(self, step: Step) -> str:
        """The chosen step that is to stand in for a step, or nothing."""
        other = alternative(step)
        return other if step.id in self.stands_for.get(other, ()) else ""

    def waits(self, step: Step) -> list[str]:
        """What must be settled before a step can have its turn; an alternative waits for the failure in another way."""
        seen = [step.when.of] if step.when is not None and step.when.kind in STEP_OUTCOMES else []
        return [*step.depends_on, *[name for name in seen if name not in self.stands_for.get(step.id, ())]]

    def needs(self, step: Step, course: RunState) -> list[str]:
        """What must be settled before, as the run stands: with what comes before it, where the order is strict."""
        if not self._sequential:
            return self.waits(step)
        waiting = self.waiting(course)
        turn = self._turn(step, waiting)
        ahead = [each for each in self.steps.values() if self._turn(each, waiting) < turn]
        ahead = [each for each in ahead if each.id not in self.stands_for or each.id in waiting.values()]
        open_still = [each.id for each in ahead if self._is_open(each, course)]
        return list(dict.fromkeys([*self.waits(step), *open_still]))

    def _turn(self, step: Step, waiting: Mapping[str, str]) -> tuple[int, int]:
        """Where a step comes: an alternative has the turn of the step that it stands in for."""
        owners = [self.steps[name].number for name, other in waiting.items() if other == step.id]
        return min(owners, default=step.number), step.number

    def _is_open(self, step: Step, course: RunState) -> bool:
        """Whether a step is in hand, or is to be done and waits for none of those that it needs."""
        found = status(step, course)
        settled = all([course.status_of.get(name) in states.SUCCESS_STATES for name in self.waits(step)])
        return found == states.RUNNING or (found in (states.PENDING, states.AWAITING) and settled)

    def waiting(self, course: RunState) -> dict[str, str]:
        """By step that has failed, the one that is to stand in for it now."""
        found = {}
        for name in course.named(states.FAILED):
            step = self.steps[name]
            if (other := self.stands_in(step)) and leads_to(step, course) == STANDS_IN:
                found[name] = other
        return found

    def refused(self, step: Step, course: RunState, there: Callable[[str], bool]) -> str:
        """Why a step does not have its turn now, whatever it needs: its condition, or that nobody needs it; or nothing."""
        owners = self.stands_for.get(step.id, ())
        if owners and step.id not in self.waiting(course).values():
            return f"it stands in for {', '.join(owners)}, which has not failed"
        return unmet(step.when, course, there)


def alternative(step: Step) -> str:
    """The step that a step names to stand in for it, or nothing."""
    strategy = step.on_failure.strategy
    return strategy.removeprefix(ALTERNATIVE) if strategy.startswith(ALTERNATIVE) else ""


def leads_to(step: Step, course: RunState) -> str:
    """What the last attempt of a step that failed leads to, as recover.py has it; nothing where none has ended."""
    last = course.attempts.get(step.id, [])[-1:]
    performed = last[0].performed if last else None
    return recover(step, performed, course.tries(step.id)).kind if performed is not None else ""


def status(step: Step, course: RunState) -> str:
    """How a step stands: one that failed and is to be tried again is pending."""
    found = course.status_of[step.id]
    if found != states.FAILED:
        return found
    ended = course.attempts[step.id][-1].entry if course.attempts.get(step.id) else 0
    again = any(
        [
            (entry.said["step"], entry.said["answer"]) == (step.id, "again") and entry.number > ended
            for entry in course.answers
        ]
    )
    return states.PENDING if again or leads_to(step, course) == RETRY else found


def unmet(when: When | None, course: RunState, there: Callable[[str], bool]) -> str:
    """Why a condition does not hold now, or nothing."""
    return "" if when is None or _holds(when, course, there) else f"{_said(when)} does not hold"


def _holds(when: When, course: RunState, there: Callable[[str], bool]) -> bool:
    if when.kind not in STEP_OUTCOMES:
        path = _inside(when.of)
        return (path is not None and there(path)) == (when.kind == "exists")
    found = course.status_of[when.of]
    if when.kind == "succeeded":
        return found in (states.COMPLETED, states.RECOVERED)
    if when.kind == "skipped":
        return found == states.SKIPPED
    last = course.attempts.get(when.of, [])[-1:]
    return bool(last) and last[0].performed is not None and not last[0].performed.ok


def _inside(path: str) -> str | None:
    from execplan.execution.world import normalize_path

    return normalize_path(path)


def _said(when: When) -> str:
    return f"{when.of}.{when.kind}" if when.kind in STEP_OUTCOMES else f"{when.kind}:{when.of}"
