"""Check whether an approval of an execution plan covers a later revision, which may do nothing unapproved."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from execplan.core.named_tuple import NamedTuple
from execplan.core.text.pure_paths import do_overlap
from execplan.execution.attributes import STEP_OUTCOMES, named_alternative
from execplan.execution.binding import bound_paths
from execplan.execution.documents.written_paths import written_paths
from execplan.execution.execution_plan import ExecutionPlan, Step
from execplan.execution.world import normalize_path

_FREE_FIELDS = {"revision": None, "steps": None, "metadata": {"history"}, "intent": {"risk_level"}}
"""Document fields that may differ besides the steps: revision number, history, and highest remaining risk."""
_ORDER_FIELDS = {"number", "depends_on"}
"""Step fields that may differ and are compared separately; all other fields, including future ones, must be equal."""


class RunProgress(NamedTuple):
    """Progress of the run for which the revision was made."""

    finished_steps: Collection[str]
    """Steps that are completed, skipped or recovered, and do not run again."""
    replacements: Mapping[str, str]
    """Alternatives by the failed steps that they replace."""

    def resolve_replacement(self, name: str) -> str:
        """Return the step that replaces a step, or the step itself."""
        visited = {name}
        while (name := self.replacements.get(name, name)) not in visited:
            visited.add(name)
        return name


def find_uncovered_changes(
    approved_plan: ExecutionPlan, revised_plan: ExecutionPlan, progress: RunProgress
) -> list[str]:
    """Return the reasons why a person must approve a revision, one line each; empty if the approval covers all of it.

    Steps may be removed, retried, reordered, or replaced by their approved alternative. Whatever was approved as coming
    first (a dependency, a checkpoint, a question, a validation) still must come first.
    """
    old, names = {step.id: step for step in approved_plan.steps}, {step.id for step in revised_plan.steps}
    progress = RunProgress(
        progress.finished_steps,
        {name: alternative for name, alternative in progress.replacements.items() if name not in names},
    )
    reasons = _plan_differences(approved_plan, revised_plan)
    new_steps = [step for step in revised_plan.steps if step.id not in old]
    reasons += [f"step {step.id} was added" for step in new_steps]
    for step in revised_plan.steps:
        if step.id in old:
            reasons += [
                f"step {step.id} has a different {name}" for name in _changed_fields(old[step.id], step, progress)
            ]
    if not reasons:
        reasons += _OrderCheck(approved_plan, revised_plan, progress).find_violations()
    return sorted(dict.fromkeys(reasons), key=lambda reason: reason == "different source")  # which says least


def _plan_differences(approved_plan: ExecutionPlan, revised_plan: ExecutionPlan) -> list[str]:
    """Return the differences outside the steps."""
    before, after = [plan.model_dump() for plan in (approved_plan, revised_plan)]
    for fields in (before, after):
        for name, free_keys in _FREE_FIELDS.items():
            if free_keys is None:
                del fields[name]
            else:
                fields[name] = {key: value for key, value in fields[name].items() if key not in free_keys}
    differences = [f"different {name}" for name in before if before[name] != after[name]]
    if revised_plan.revision > approved_plan.revision:
        return differences
    return ["it is not a later revision", *differences]


def _changed_fields(old: Step, new: Step, progress: RunProgress) -> Iterator[str]:
    """Yield the fields of a step that differ from the approved ones."""
    before, after = [step.model_dump() for step in (old, new)]
    for name in before:
        if name not in _ORDER_FIELDS and before[name] != after[name] and not _may_differ(name, old, new, progress):
            yield name


def _may_differ(name: str, old: Step, new: Step, progress: RunProgress) -> bool:
    """Return whether a change of a field results from replanning and allows nothing more to happen."""
    if name in ("source", "files"):
        return True  # lines of the plan move with each edit above them, and files are compared by their states
    if name == "when":
        failed = old.when is not None and old.when.kind == "failed" and old.when.of in progress.replacements
        return new.when is None and (failed or old.id in progress.finished_steps)
    if name == "on_failure" and old.id in progress.finished_steps:
        return new.on_failure == old.on_failure.model_copy(update={"strategy": "fail_fast"})
    return False


class _OrderCheck:
    """Checks that the approved order of steps is still kept."""

    def __init__(self, approved_plan: ExecutionPlan, revised_plan: ExecutionPlan, progress: RunProgress) -> None:
        self._progress = progress
        self._old = {step.id: step for step in approved_plan.steps}
        self._new = {step.id: step for step in revised_plan.steps}
        self._approved_steps = [step for step in approved_plan.steps if step.id not in progress.finished_steps]
        """Steps that were not finished before the revision."""
        self._remaining_steps = [step for step in revised_plan.steps if step.id not in progress.finished_steps]
        self._is_sequential = approved_plan.constraints.require_sequential
        self._owners: dict[str, list[str]] = {}
        for step in approved_plan.steps:
            if alternative := named_alternative(step.on_failure.strategy):
                self._owners.setdefault(alternative, []).append(step.id)

    def find_violations(self) -> Iterator[str]:
        """Yield order violations, and removed steps that others rely on."""
        for step in self._remaining_steps:
            yield from self._dependency_violations(step)
            yield from self._alternative_violations(step)
        yield from self._removal_violations()
        remaining = [self._old[step.id] for step in self._remaining_steps]
        for index, later in enumerate(remaining):
            for earlier in remaining[:index]:
                if self._position(earlier) > self._position(later) and (why := self._order_reason(later, earlier)):
                    yield f"step {earlier.id} now comes before {later.id}: {why}"

    def _position(self, step: Step) -> int:
        """Return the position of a step in the order; an alternative takes the position of the failed step."""
        owners = [
            self._old[name].number for name in self._owners.get(step.id, ()) if name in self._progress.replacements
        ]
        return min([step.number, *owners])

    def _dependency_violations(self, step: Step) -> Iterator[str]:
        """Yield changes of a step's dependencies: they may be met, but not dropped or added."""
        old, new = self._old[step.id], set(step.depends_on)
        expected = {self._progress.resolve_replacement(name) for name in old.depends_on}
        yield from [f"step {step.id} now needs {name}" for name in sorted(new - expected)]
        for name in sorted(new & expected):
            if name not in self._new or self._new[name].number > step.number:
                yield f"step {step.id} now comes before {name}, which it needs"
        for name in sorted(expected - new):
            if not self._is_dispensable(name):
                yield f"step {step.id} no longer needs {name}"

    def _is_dispensable(self, name: str) -> bool:
        """Return whether a dependency may be dropped.

        It may if the step is finished, or if it was removed and would be skipped on failure.
        """
        if name in self._progress.finished_steps:
            return True
        step = self._old[name]
        return name not in self._new and step.on_failure.strategy == "skip" and not step.on_failure.triggers

    def _alternative_violations(self, step: Step) -> Iterator[str]:
        """Yield alternatives that run although the step they replace has not failed."""
        for name in self._owners.get(step.id, ()):
            new = self._new.get(name)
            if name not in self._progress.replacements and (
                new is None or named_alternative(new.on_failure.strategy) != step.id
            ):
                yield f"step {step.id} is the alternative to {name}, which has not failed"

    def _removal_violations(self) -> Iterator[str]:
        """Yield removed steps that were to block, ask or validate."""
        for step in self._approved_steps:
            if self._progress.resolve_replacement(step.id) in self._new:
                continue
            later_ids = [later.id for later in self._remaining_steps if self._old[later.id].number > step.number]
            if step.phase == "validate":
                yield f"validation {step.id} was removed"
            elif later_ids and (step.checkpoint or step.confirm):
                yield f"step {step.id} was removed, but {later_ids[0]} came after its question"
            elif (
                later_ids and self._is_sequential and step.id not in self._owners and not self._is_dispensable(step.id)
            ):
                yield f"step {step.id} was removed, but the steps run one after the other"

    def _order_reason(self, first: Step, second: Step) -> str:
        """Return why a step must stay before another, or an empty string if their order is free."""
        if self._is_sequential:
            return "the steps run one after the other"
        if first.checkpoint or first.confirm or second.checkpoint or second.confirm:
            return "one of them asks whether to continue"
        if first.phase != second.phase:
            return "a validation must come after the work"
        path = _shared_path(first, second)
        return f"both use {path}" if path else ""


def _shared_path(first: Step, second: Step) -> str:
    """Return a path that one step writes and the other reads or writes, as far as they declare it, or empty text."""
    for writes, touched in ((_step_writes(first), _step_paths(second)), (_step_writes(second), _step_paths(first))):
        for path in sorted(writes):
            if any([do_overlap(path, touched_path) for touched_path in touched]):
                return path
    return ""


def _step_writes(step: Step) -> set[str]:
    return _normalize([*written_paths(step.model_dump()), *([step.target] if step.target is not None else [])])


def _step_paths(step: Step) -> set[str]:
    condition_paths = [step.when.of] if step.when is not None and step.when.kind not in STEP_OUTCOMES else []
    return _step_writes(step) | _normalize(
        [*bound_paths(step), *condition_paths, *([step.cwd] if step.cwd != "." else [])]
    )


def _normalize(paths: list[str]) -> set[str]:
    return {normalized for path in paths if (normalized := normalize_path(path)) is not None}
