"""What git says about a plan and the files that it names: when each was created, changed and deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.git.path_changes import ADDED, DELETED, count_deleted_lines, read_steps
from execplan.staleness.named_paths import TrackedFiles, candidates, read_plan_paths

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.git.path_changes import Step
    from execplan.plan_store.plan_store import StoredPlan
    from execplan.project.project import Project
    from execplan.staleness.named_paths import PlanPaths

_DRIFT_SHARE = 0.5
"""Share of a file's lines that must be gone before the file has changed a lot."""
_MIN_LINES = 10
"""Minimum lines of a file for which that share means anything."""


class Drift(NamedTuple):
    """A file that a plan cites, and that has changed a lot since the plan's last change."""

    path: str
    is_deleted: bool
    step: Step
    """The step that deleted it, or the last one that changed it."""


class PlanTimeline(NamedTuple):
    """A plan in the history of its branch."""

    created: Step | None
    """The step that added the plan; None if it is not committed."""
    changed: Step | None
    """The last step that changed the plan."""
    existing: tuple[str, ...]
    """Promised files that exist."""
    missing: tuple[str, ...]
    """Promised files that don't exist."""
    shipped: Step | None
    """The last step that created an existing promised file, together with the plan or after it; None if none did."""
    drifts: tuple[Drift, ...]


NO_TIMELINE = PlanTimeline(None, None, (), (), None, ())
"""The timeline of a plan that git doesn't know."""


def load_timelines(project: Project, stored_plans: Sequence[StoredPlan]) -> dict[str, PlanTimeline]:
    """Return the timelines of plans of one repository by absolute path. Raises ExecplanError if git fails."""
    from execplan.git.git_query import tracked_files

    tracked = TrackedFiles(tracked_files(project))
    paths_by_plan = {
        stored_plan.ref.path: read_plan_paths(stored_plan.plan)
        for stored_plan in stored_plans
        if stored_plan.plan is not None
    }
    wanted = {project.display_path(stored_plan.ref.real_path) for stored_plan in stored_plans}
    for stored_plan in stored_plans:
        plan_paths = paths_by_plan.get(stored_plan.ref.path)
        for path in (*plan_paths.promised, *plan_paths.cited) if plan_paths is not None else ():
            wanted.update(candidates(stored_plan.project, path))
    steps = read_steps(project, wanted)
    return {
        stored_plan.ref.path: _make_timeline(stored_plan, paths_by_plan[stored_plan.ref.path], tracked, steps)
        for stored_plan in stored_plans
        if stored_plan.ref.path in paths_by_plan
    }


def _make_timeline(
    stored_plan: StoredPlan, plan_paths: PlanPaths, tracked: TrackedFiles, steps: list[Step]
) -> PlanTimeline:
    project = stored_plan.project
    plan_path = project.display_path(stored_plan.ref.real_path)
    plan_steps = [step for step in steps if plan_path in step.changes]
    if not plan_steps:
        return NO_TIMELINE
    changed = plan_steps[0]
    created = next((step for step in plan_steps if step.changes[plan_path] == ADDED), plan_steps[-1])
    existing = [path for path in plan_paths.promised if tracked.resolve(project, path)]
    missing = [path for path in plan_paths.promised if tracked.is_missing(project, path)]
    promised_files = {tracked.resolve(project, path) for path in existing}
    shipped = next((step for step in steps if _creates(step, promised_files, created)), None)
    drifts = tuple(_find_drifts(project, plan_paths, tracked, steps, changed))
    return PlanTimeline(created, changed, tuple(existing), tuple(missing), shipped, drifts)


def _creates(step: Step, files: set[str], plan_created: Step) -> bool:
    """Return whether a step creates one of the files, together with the plan or after it."""
    is_late_enough = step.has_parent and step.position <= plan_created.position
    return is_late_enough and any([step.changes.get(path) == ADDED for path in files])


def _find_drifts(
    project: Project, plan_paths: PlanPaths, tracked: TrackedFiles, steps: list[Step], plan_changed: Step
) -> Iterator[Drift]:
    """Yield the cited files that were deleted, or lost most of their lines, after the plan's last change."""
    later_steps = [step for step in steps if step.position < plan_changed.position]
    changed_files: dict[str, tuple[str, Step]] = {}
    for path in plan_paths.cited if later_steps else ():
        for candidate in candidates(project, path):
            step = next((later_step for later_step in later_steps if candidate in later_step.changes), None)
            if step is None:
                continue
            if step.changes[candidate] != DELETED:
                changed_files[candidate] = path, step
            elif path not in plan_paths.excused and not tracked.resolve(project, path):
                yield Drift(path, True, step)
    counts = count_deleted_lines(project, plan_changed.commit, changed_files)
    for candidate, (path, step) in changed_files.items():
        deleted, total = counts.get(candidate, (0, 0))
        if total >= _MIN_LINES and deleted >= total * _DRIFT_SHARE:
            yield Drift(path, False, step)
