"""Whether an approval of an execution plan covers a later revision: it does nothing that the approved one could not have done."""

from __future__ import annotations

from execplan.execution.attributes import ALTERNATIVE, STEP_OUTCOMES
from execplan.execution.binding import bound_paths
from execplan.execution.documents.written_paths import written_paths
from execplan.execution.world import normalize_path
from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from execplan.execution.execution_plan import ExecutionPlan, Step

_FREE_FIELDS = {"revision": None, "steps": None, "metadata": {"history"}, "intent": {"risk_level"}}
"""What of a document may differ beside its steps: which revision it is, why, and the highest risk of what is left."""
_ORDER_FIELDS = {"number", "depends_on"}
"""What of a step may differ, and is compared by itself; every other field, also one that is added later, may not."""


class RunProgress(NamedTuple):
    """How the run stands for which the revision was made."""

    finished_steps: Collection[str]
    """The steps that are completed, skipped or recovered: nothing of them is run any more."""
    replacements: Mapping[str, str]
    """By step that failed as its alternative is for, that alternative."""

    def resolve_replacement(self, name: str) -> str:
        """The step that has come in place of a step, or itself."""
        visited = {name}
        while (name := self.replacements.get(name, name)) not in visited:
            visited.add(name)
        return name


def find_uncovered_changes(
    approved_plan: ExecutionPlan, revised_plan: ExecutionPlan, progress: RunProgress
) -> list[str]:
    """Why a person has to approve a revision, a line each; nothing where what was approved covers all of it.

    Steps may be gone, tried again, in another order, or replaced by the alternative that was approved with them. What was
    approved as coming before something else (a need, a checkpoint, a question, a validation) still does.
    """
    old, names = {step.id: step for step in approved_plan.steps}, {step.id for step in revised_plan.steps}
    progress = RunProgress(
        progress.finished_steps,
        {name: alternative for name, alternative in progress.replacements.items() if name not in names},
    )
    reasons = _plan_differences(approved_plan, revised_plan)
    new_steps = [step for step in revised_plan.steps if step.id not in old]
    reasons += [f"the step {step.id} is new" for step in new_steps]
    for step in revised_plan.steps:
        if step.id in old:
            reasons += [
                f"the step {step.id} has another {name}" for name in _changed_fields(old[step.id], step, progress)
            ]
    if not reasons:
        reasons += _OrderCheck(approved_plan, revised_plan, progress).find_violations()
    return list(dict.fromkeys(reasons))


def _plan_differences(approved_plan: ExecutionPlan, revised_plan: ExecutionPlan) -> list[str]:
    """What differs outside the steps."""
    before, after = [plan.model_dump(mode="json", by_alias=True) for plan in (approved_plan, revised_plan)]
    for fields in (before, after):
        for name, free_keys in _FREE_FIELDS.items():
            if free_keys is None:
                del fields[name]
            else:
                fields[name] = {key: value for key, value in fields[name].items() if key not in free_keys}
    differences = [f"another {name}" for name in before if before[name] != after[name]]
    return differences if revised_plan.revision > approved_plan.revision else ["it is no later revision", *differences]


def _changed_fields(old: Step, new: Step, progress: RunProgress) -> Iterator[str]:
    """The fields of a step that are not as they were approved."""
    before, after = [step.model_dump(mode="json", by_alias=True) for step in (old, new)]
    for name in before.keys() - _ORDER_FIELDS:
        if before[name] != after[name] and not _may_differ(name, old, new, progress):
            yield name


def _may_differ(name: str, old: Step, new: Step, progress: RunProgress) -> bool:
    """Whether a field differs in a way that replanning brings along, and that lets nothing more happen."""
    if name == "source":
        return new.source is None  # it says where to read it, and decides nothing
    if name == "when":
        failed = old.when is not None and old.when.kind == "failed" and old.when.of in progress.replacements
        return new.when is None and (failed or old.id in progress.finished_steps)
    if name == "on_failure" and old.id in progress.finished_steps:
        return new.on_failure == old.on_failure.model_copy(update={"strategy": "fail_fast"})
    return False


class _OrderCheck:
    """What was approved as coming before what, and whether it still does."""

    def __init__(self, approved_plan: ExecutionPlan, revised_plan: ExecutionPlan, progress: RunProgress) -> None:
        self._progress = progress
        self._old = {step.id: step for step in approved_plan.steps}
        self._new = {step.id: step for step in revised_plan.steps}
        self._approved_steps = [step for step in approved_plan.steps if step.id not in progress.finished_steps]
        """What was to be done still, before the revision."""
        self._remaining_steps = [step for step in revised_plan.steps if step.id not in progress.finished_steps]
        self._is_sequential = approved_plan.constraints.require_sequential
        self._owners: dict[str, list[str]] = {}
        for step in approved_plan.steps:
            if alternative := _alternative_id(step):
                self._owners.setdefault(alternative, []).append(step.id)

    def find_violations(self) -> Iterator[str]:
        """What does not come before what it should, or is gone though something hangs on it."""
        for step in self._remaining_steps:
            yield from self._dependency_violations(step)
            yield from self._alternative_violations(step)
        yield from self._removal_violations()
        remaining = [self._old[step.id] for step in self._remaining_steps]
        for index, later in enumerate(remaining):
            for earlier in remaining[:index]:
                if self._position(earlier) > self._position(later) and (why := self._order_reason(later, earlier)):
                    yield f"the step {earlier.id} comes before {later.id} now: {why}"

    def _position(self, step: Step) -> int:
        """Where a step was to come: the alternative of one that failed comes in its place."""
        owners = [
            self._old[name].number for name in self._owners.get(step.id, ()) if name in self._progress.replacements
        ]
        return min([step.number, *owners])

    def _dependency_violations(self, step: Step) -> Iterator[str]:
        """Needs may be met, but neither forgotten nor put in."""
        old, new = self._old[step.id], set(step.depends_on)
        expected = {self._progress.resolve_replacement(name) for name in old.depends_on}
        yield from [f"the step {step.id} needs {name} now" for name in sorted(new - expected)]
        for name in sorted(new & expected):
            if name not in self._new or self._new[name].number > step.number:
                yield f"the step {step.id} comes before {name} now, which it needs"
        for name in sorted(expected - new):
            if not self._is_dispensable(name):
                yield f"the step {step.id} needs {name} no more"

    def _is_dispensable(self, name: str) -> bool:
        """Whether what needs a step may run without it: it is settled, or is gone and would have been skipped."""
        if name in self._progress.finished_steps:
            return True
        step = self._old[name]
        return name not in self._new and step.on_failure.strategy == "skip" and not step.on_failure.triggers

    def _alternative_violations(self, step: Step) -> Iterator[str]:
        """An alternative runs only in place of a step that has failed."""
        for name in self._owners.get(step.id, ()):
            new = self._new.get(name)
            if name not in self._progress.replacements and (new is None or _alternative_id(new) != step.id):
                yield f"the step {step.id} is the alternative of {name}, which has not failed"

    def _removal_violations(self) -> Iterator[str]:
        """Steps that are left out though they were to hold up, to ask or to check."""
        for step in self._approved_steps:
            if self._progress.resolve_replacement(step.id) in self._new:
                continue
            later_ids = [later.id for later in self._remaining_steps if self._old[later.id].number > step.number]
            if step.phase == "validate":
                yield f"the validation {step.id} is gone"
            elif later_ids and (step.checkpoint or step.confirm):
                yield f"the step {step.id} is gone, and {later_ids[0]} came after its question"
            elif (
                later_ids and self._is_sequential and step.id not in self._owners and not self._is_dispensable(step.id)
            ):
                yield f"the step {step.id} is gone, and the steps run one after the other"

    def _order_reason(self, first: Step, second: Step) -> str:
        """Why a step must stay before another that came after it; nothing where the order of the two is free."""
        if self._is_sequential:
            return "the steps run one after the other"
        if first.checkpoint or first.confirm or second.checkpoint or second.confirm:
            return "one of them asks whether the run goes on"
        if first.phase != second.phase:
            return "a validation comes after the work"
        path = _shared_path(first, second)
        return f"both have to do with {path}" if path else ""


def _alternative_id(step: Step) -> str:
    strategy = step.on_failure.strategy
    return strategy.removeprefix(ALTERNATIVE) if strategy.startswith(ALTERNATIVE) else ""


def _shared_path(first: Step, second: Step) -> str:
    """A path that one of two steps writes and the other writes or reads, as far as they say so; or nothing."""
    for writes, touched in ((_step_writes(first), _step_paths(second)), (_step_writes(second), _step_paths(first))):
        for path in sorted(writes):
            if any([_is_within(path, touched_path) or _is_within(touched_path, path) for touched_path in touched]):
                return path
    return ""


def _step_writes(step: Step) -> set[str]:
    return _normalize(
        [*written_paths(step.model_dump(mode="json")), *([step.target] if step.target is not None else [])]
    )


def _step_paths(step: Step) -> set[str]:
    condition_paths = [step.when.of] if step.when is not None and step.when.kind not in STEP_OUTCOMES else []
    return _step_writes(step) | _normalize(
        [*bound_paths(step), *condition_paths, *([step.cwd] if step.cwd != "." else [])]
    )


def _normalize(paths: list[str]) -> set[str]:
    return {normalized for path in paths if (normalized := normalize_path(path)) is not None}


def _is_within(path: str, folder: str) -> bool:
    return folder == "." or path == folder or path.startswith(f"{folder}/")
