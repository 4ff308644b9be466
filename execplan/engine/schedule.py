"""What follows in a run from what is known of it: which steps may begin now, and which are skipped, recovered or blocked."""

from __future__ import annotations

from graphlib import TopologicalSorter

from execplan.engine.entries import BLOCKED, RECOVERED, SKIPPED
from execplan.engine.order import Order, unmet
from execplan.execution import states
from execplan.execution.documents.touched import written_paths
from execplan.execution.model import PROGRAM_TYPES, Type
from execplan.execution.world import normalize_path
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from execplan.engine.course import RunState
    from execplan.execution.model import ExecutionPlan, Step

NOT_CHOSEN = "not chosen"


class Move(NamedTuple):
    """What is to be written of a step that is not begun."""

    kind: str
    """SKIPPED, BLOCKED or RECOVERED, as entries.py has them."""
    step: str
    words: str
    """The reason, or the step that stood in for it."""


class Following(NamedTuple):
    """What is to be done now; with moves nothing is begun, for more may follow from them."""

    moves: tuple[Move, ...] = ()
    begin: tuple[Step, ...] = ()


class Schedule:
    """The order of a run: it knows the document and what was chosen of it, and is told how far the run has come."""

    def __init__(self, document: ExecutionPlan, chosen: Collection[str] | None, there: Callable[[str], bool]) -> None:
        """None for chosen: all steps. `there` says whether there is something at a path."""
        self.steps = document.steps
        self.step = {step.id: step for step in self.steps}
        self.order = Order(self.steps, chosen, sequential=document.constraints.require_sequential)
        self.chosen = self.order.chosen
        self.there = there
        self._writes = {step.id: frozenset(_paths(_written(step))) for step in self.steps}
        self._reads = {step.id: frozenset(_paths(step.inputs)) for step in self.steps}
        sorter = TopologicalSorter({step.id: self.order.waits(step) for step in self.steps})
        sorter.prepare()
        self._sorter, self._free = sorter, set(sorter.get_ready())

    def following(self, course: RunState, waiting: Mapping[str, str], running: Collection[str], jobs: int) -> Following:
        """What follows; `waiting` names the steps that failed and whose alternative is to be run, each with it."""
        moves = [*self._not_chosen(course), *self._recovered(course, waiting), *self._spare(course, waiting)]
        if moves:
            return Following(tuple(moves))
        self._advance(course)
        begin: list[Step] = []
        for step in [each for each in self._candidates(course, waiting) if each.id not in running]:
            together = jobs > 1 and runs_beside(step)
            busy = [*running, *[each.id for each in begin]]
            if busy and not (together and len(busy) < jobs and self._may_join(step, busy)):
                if together:
                    continue
                break
            if why := self.refused(step, course):
                return Following((Move(SKIPPED, step.id, why),), ()) if not begin else Following((), tuple(begin))
            begin.append(step)
            if not together:
                break
        return Following((), tuple(begin))

    def refused(self, step: Step, course: RunState) -> str:
        """Why the condition of a step does not hold now, or nothing."""
        return unmet(step.when, course, self.there)

    def blocked(self, course: RunState) -> list[Move]:
        """The steps that need one which failed for good, near or far; nothing is begun any more."""
        lost = {name: name for name, status in course.status_of.items() if status == states.FAILED}
        moves = []
        for step in self.steps:
            cause = next((lost[name] for name in step.depends_on if name in lost), "")
            if cause and course.status_of[step.id] in (states.PENDING, states.AWAITING):
                lost[step.id] = cause
                moves.append(Move(BLOCKED, step.id, f"it needs {cause}, which failed"))
        return moves

    def unchosen_needs(self) -> list[str]:
        """What chosen steps need and is not chosen, a line each."""
        return [
            f"{step.id} needs {name}, which is not chosen: it is taken for done"
            for step in self.steps
            if step.id in self.chosen
            for name in step.depends_on
            if name not in self.chosen
        ]

    def stands_in(self, step: Step) -> str:
        """The chosen step that is to stand in for a step, or nothing."""
        return self.order.stands_in(step)

    def stands_for(self, name: str) -> list[str]:
        """The chosen steps whose alternative a step is: it is not run by itself."""
        return self.order.stands_for.get(name, [])

    def _not_chosen(self, course: RunState) -> list[Move]:
        left = [step.id for step in self.steps if step.id not in self.chosen]
        return [Move(SKIPPED, name, NOT_CHOSEN) for name in left if course.status_of[name] == states.PENDING]

    def _recovered(self, course: RunState, waiting: Mapping[str, str]) -> list[Move]:
        done = (states.COMPLETED, states.RECOVERED)
        ready = [(name, other) for name, other in waiting.items() if course.status_of[other] in done]
        return [Move(RECOVERED, name, other) for name, other in ready if course.status_of[name] == states.FAILED]

    def _spare(self, course: RunState, waiting: Mapping[str, str]) -> list[Move]:
        """Alternatives that nobody needs any more."""
        spare = [
            (name, owners)
            for name, owners in self.order.stands_for.items()
            if course.status_of[name] == states.PENDING
            and all([course.status_of[each] in states.SUCCESS_STATES for each in owners])
        ]
        return [
            Move(SKIPPED, name, f"it stands in for {', '.join(owners)}, and is not needed") for name, owners in spare
        ]

    def _advance(self, course: RunState) -> None:
        """Let the order know what is settled by now."""
        settled = [name for name in self._free if course.status_of[name] in states.SUCCESS_STATES]
        while settled:
            self._free.difference_update(settled)
            self._sorter.done(*settled)
            new = self._sorter.get_ready()
            self._free.update(new)
            settled = [name for name in new if course.status_of[name] in states.SUCCESS_STATES]

    def _candidates(self, course: RunState, waiting: Mapping[str, str]) -> list[Step]:
        """The steps that wait for nothing but their turn: an alternative has the turn of the step that it stands in for."""
        turn = {other: self.step[name].number for name, other in reversed(list(waiting.items()))}
        found = []
        for name in self._free:
            own = course.status_of[name] == states.PENDING
            if own and (name in turn or name not in self.order.stands_for):
                found.append(self.step[name])
        return sorted(found, key=lambda step: (turn.get(step.id, step.number), step.number))

    def _may_join(self, step: Step, busy: list[str]) -> bool:
        """Whether a step may run beside all of these: each of them may, and they share no path that one of them writes."""
        return all([runs_beside(self.step[name]) and not self._shares(step.id, name) for name in busy])

    def _shares(self, one: str, two: str) -> bool:
        writes = _meet(self._writes[one], self._writes[two])
        return writes or _meet(self._writes[one], self._reads[two]) or _meet(self._reads[one], self._writes[two])


def runs_beside(step: Step) -> bool:
    """Whether a step may run beside others at all: what it changes must be known before, and nobody is to be asked."""
    known = step.type not in PROGRAM_TYPES or bool(step.outputs)
    return step.parallel and known and not step.confirm


def _written(step: Step) -> list[str]:
    """What a step says that it writes; the environment of an installation too."""
    return [*written_paths(step.model_dump(mode="json", include={"target", "type", "patch", "outputs"})), *_environment(step)]


def _environment(step: Step) -> list[str]:
    return [step.target] if step.type is Type.INSTALL and step.target is not None else []


def _paths(said: Collection[str]) -> list[str]:
    return [path for path in map(normalize_path, said) if path is not None]


def _meet(some: Collection[str], others: Collection[str]) -> bool:
    """Whether a path is among both, or lies in a folder that is."""
    return any([_within(one, two) or _within(two, one) for one in some for two in others])


def _within(path: str, folder: str) -> bool:
    return folder == "." or path == folder or path.startswith(f"{folder}/")
