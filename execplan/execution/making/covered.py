"""Whether an approval of an execution plan covers a later revision: it does nothing that the approved one could not have done."""

from __future__ import annotations

from execplan.execution.attributes import ALTERNATIVE, ENDED
from execplan.execution.binding import bound_paths
from execplan.execution.documents.touched import written
from execplan.execution.world import plain
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from execplan.execution.model import ExecutionPlan, Step

_FREE = {"revision": None, "steps": None, "metadata": {"history"}, "intent": {"risk_level"}}
"""What of a document may differ beside its steps: which revision it is, why, and the highest risk of what is left."""
_MOVES = {"number", "depends_on"}
"""What of a step may differ, and is compared by itself; every other field, also one that is added later, may not."""


class Standing(NamedTuple):
    """How the run stands for which the revision was made."""

    settled: Collection[str]
    """The steps that are completed, skipped or recovered: nothing of them is run any more."""
    stands: Mapping[str, str]
    """By step that failed as its alternative is for, that alternative."""

    def last(self, name: str) -> str:
        """The step that has come in place of a step, or itself."""
        seen = {name}
        while (name := self.stands.get(name, name)) not in seen:
            seen.add(name)
        return name


def uncovered(approved: ExecutionPlan, revised: ExecutionPlan, run: Standing) -> list[str]:
    """Why a person has to approve a revision, a line each; nothing where what was approved covers all of it.

    Steps may be gone, tried again, in another order, or replaced by the alternative that was approved with them. What was
    approved as coming before something else (a need, a checkpoint, a question, a validation) still does.
    """
    old, names = {step.id: step for step in approved.steps}, {step.id for step in revised.steps}
    run = Standing(run.settled, {name: other for name, other in run.stands.items() if name not in names})
    found = _around(approved, revised)
    fresh = [step for step in revised.steps if step.id not in old]
    found += [f"the step {step.id} is new" for step in fresh]
    for step in revised.steps:
        if step.id in old:
            found += [f"the step {step.id} has another {name}" for name in _changes(old[step.id], step, run)]
    if not found:
        found += _Order(approved, revised, run).broken()
    return list(dict.fromkeys(found))


def _around(approved: ExecutionPlan, revised: ExecutionPlan) -> list[str]:
    """What differs outside the steps."""
    before, after = [each.model_dump(mode="json", by_alias=True) for each in (approved, revised)]
    for each in (before, after):
        for name, parts in _FREE.items():
            if parts is None:
                del each[name]
            else:
                each[name] = {key: value for key, value in each[name].items() if key not in parts}
    found = [f"another {name}" for name in before if before[name] != after[name]]
    return found if revised.revision > approved.revision else ["it is no later revision", *found]


def _changes(old: Step, new: Step, run: Standing) -> Iterator[str]:
    """The fields of a step that are not as they were approved."""
    before, after = [each.model_dump(mode="json", by_alias=True) for each in (old, new)]
    for name in before.keys() - _MOVES:
        if before[name] != after[name] and not _may_differ(name, old, new, run):
            yield name


def _may_differ(name: str, old: Step, new: Step, run: Standing) -> bool:
    """Whether a field differs in a way that replanning brings along, and that lets nothing more happen."""
    if name == "source":
        return new.source is None  # it says where to read it, and decides nothing
    if name == "when":
        failed = old.when is not None and old.when.kind == "failed" and old.when.of in run.stands
        return new.when is None and (failed or old.id in run.settled)
    if name == "on_failure" and old.id in run.settled:
        return new.on_failure == old.on_failure.model_copy(update={"strategy": "fail_fast"})
    return False


class _Order:
    """What was approved as coming before what, and whether it still does."""

    def __init__(self, approved: ExecutionPlan, revised: ExecutionPlan, run: Standing) -> None:
        self._run = run
        self._old = {step.id: step for step in approved.steps}
        self._new = {step.id: step for step in revised.steps}
        self._before = [step for step in approved.steps if step.id not in run.settled]
        """What was to be done still, before the revision."""
        self._left = [step for step in revised.steps if step.id not in run.settled]
        self._strict = approved.constraints.require_sequential
        self._owners: dict[str, list[str]] = {}
        for step in approved.steps:
            if other := _alternative(step):
                self._owners.setdefault(other, []).append(step.id)

    def broken(self) -> Iterator[str]:
        """What does not come before what it should, or is gone though something hangs on it."""
        for step in self._left:
            yield from self._needs(step)
            yield from self._alone(step)
        yield from self._gone()
        left = [self._old[step.id] for step in self._left]
        for at, later in enumerate(left):
            for earlier in left[:at]:
                if self._turn(earlier) > self._turn(later) and (why := self._bound(later, earlier)):
                    yield f"the step {earlier.id} comes before {later.id} now: {why}"

    def _turn(self, step: Step) -> int:
        """Where a step was to come: the alternative of one that failed comes in its place."""
        owners = [self._old[name].number for name in self._owners.get(step.id, ()) if name in self._run.stands]
        return min([step.number, *owners])

    def _needs(self, step: Step) -> Iterator[str]:
        """Needs may be met, but neither forgotten nor put in."""
        old, new = self._old[step.id], set(step.depends_on)
        due = {self._run.last(name) for name in old.depends_on}
        yield from [f"the step {step.id} needs {name} now" for name in sorted(new - due)]
        for name in sorted(new & due):
            if name not in self._new or self._new[name].number > step.number:
                yield f"the step {step.id} comes before {name} now, which it needs"
        for name in sorted(due - new):
            if not self._may_do_without(name):
                yield f"the step {step.id} needs {name} no more"

    def _may_do_without(self, name: str) -> bool:
        """Whether what needs a step may run without it: it is settled, or is gone and would have been skipped."""
        if name in self._run.settled:
            return True
        step = self._old[name]
        return name not in self._new and step.on_failure.strategy == "skip" and not step.on_failure.triggers

    def _alone(self, step: Step) -> Iterator[str]:
        """An alternative runs only in place of a step that has failed."""
        for name in self._owners.get(step.id, ()):
            new = self._new.get(name)
            if name not in self._run.stands and (new is None or _alternative(new) != step.id):
                yield f"the step {step.id} is the alternative of {name}, which has not failed"

    def _gone(self) -> Iterator[str]:
        """Steps that are left out though they were to hold up, to ask or to check."""
        for step in self._before:
            if self._run.last(step.id) in self._new:
                continue
            after = [each.id for each in self._left if self._old[each.id].number > step.number]
            if step.phase == "validate":
                yield f"the validation {step.id} is gone"
            elif after and (step.checkpoint or step.confirm):
                yield f"the step {step.id} is gone, and {after[0]} came after its question"
            elif after and self._strict and step.id not in self._owners and not self._may_do_without(step.id):
                yield f"the step {step.id} is gone, and the steps run one after the other"

    def _bound(self, one: Step, two: Step) -> str:
        """Why a step must stay before another that came after it; nothing where the order of the two is free."""
        if self._strict:
            return "the steps run one after the other"
        if one.checkpoint or one.confirm or two.checkpoint or two.confirm:
            return "one of them asks whether the run goes on"
        if one.phase != two.phase:
            return "a validation comes after the work"
        shared = _shared(one, two)
        return f"both have to do with {shared}" if shared else ""


def _alternative(step: Step) -> str:
    strategy = step.on_failure.strategy
    return strategy.removeprefix(ALTERNATIVE) if strategy.startswith(ALTERNATIVE) else ""


def _shared(one: Step, two: Step) -> str:
    """A path that one of two steps writes and the other writes or reads, as far as they say so; or nothing."""
    for some, others in ((_writes(one), _touches(two)), (_writes(two), _touches(one))):
        for path in sorted(some):
            if any([_within(path, other) or _within(other, path) for other in others]):
                return path
    return ""


def _writes(step: Step) -> set[str]:
    return _plain([*written(step.model_dump(mode="json")), *([step.target] if step.target is not None else [])])


def _touches(step: Step) -> set[str]:
    looks = [step.when.of] if step.when is not None and step.when.kind not in ENDED else []
    return _writes(step) | _plain([*bound_paths(step), *looks, *([step.cwd] if step.cwd != "." else [])])


def _plain(paths: list[str]) -> set[str]:
    return {found for path in paths if (found := plain(path)) is not None}


def _within(path: str, folder: str) -> bool:
    return folder == "." or path == folder or path.startswith(f"{folder}/")
