"""The history of plans in git: the events of all plans of a project, or of one, in one pass over the commits.

One plan may be deleted or renamed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from execplan.core.errors import ExecplanError
from execplan.core.git.blob_reader import BlobReader
from execplan.core.git.commit_log import Commit, absent_blobs, read_commits
from execplan.core.git.git_directory import is_partial, is_shallow
from execplan.core.git.git_history import resolve_commit
from execplan.core.git.git_query import FETCH_ALL_COMMAND, require_repository
from execplan.core.plan.plan_lookup import is_specific_enough
from execplan.core.plan_store import plan_selection
from execplan.core.plan_store.plan_store import PlanRef, normalize_id
from execplan.core.project import project_discovery
from execplan.core.project.project import Project
from execplan.core.worker_processes import process_count, run_in_processes
from execplan.team.history.change_events import ChangeReader, uncommitted_changes
from execplan.team.history.history_event import HistoryEvent
from execplan.team.history.plan_lineages import Lineage, LineageTracker, PlanFileChange, PlanPathMatcher, add_commits

Tick = Callable[[int, int], None]

_BATCH_SIZE = 16
"""Number of changes whose versions are read together."""
_PARTS_PER_PROCESS = 4
"""Parts of the changes for each process, which make the processes end at about the same time."""
_SHALLOW_WARNING = (
    "the clone is shallow: earlier history is missing, and its first commit seems to have created all plans;"
    " to get the history: git fetch --unshallow"
)

_PARTIAL_WARNING = (
    "the clone is partial: git lacks some versions of plans, so their changes are not shown;"
    f" to get them: {FETCH_ALL_COMMAND}"
)


def load_history(project: Project, ref: PlanRef | None = None, *, tick: Tick | None = None) -> list[HistoryEvent]:
    """Return the events of a plan, or of all plans of a project with archived and deleted ones, newest first.

    Changes that are not committed come first. Within a commit, the events of a plan are in the order of its sections.
    `tick` is called with the number of changes that were read, and that of all. Raises ExecplanError without a git
    repository, or if git fails.
    """
    changes = _find_changes(project, ref)
    absent_versions = absent_blobs(project, plan_folders(project))
    workers = process_count(len(changes))
    if workers == 1:
        return list(_read_events(project, changes, absent_versions, tick))
    size = -(-len(changes) // (workers * _PARTS_PER_PROCESS))
    starts = range(0, len(changes), size)

    def read_part(part: int) -> list[tuple[Any, ...]]:
        part_changes = changes[starts[part] : starts[part] + size]
        return [tuple(event) for event in _read_events(project, part_changes, absent_versions, None)]

    parts = run_in_processes(
        read_part,
        len(starts),
        workers,
        lambda count: tick(min(count * size, len(changes)), len(changes)) if tick is not None else None,
    )
    return [HistoryEvent._make(fields) for part in parts for fields in part]


def iter_history(project: Project, ref: PlanRef | None = None, *, tick: Tick | None = None) -> Iterator[HistoryEvent]:
    """Yield what `load_history` returns; versions are read only as far as the events are taken."""
    yield from _read_events(project, _find_changes(project, ref), absent_blobs(project, plan_folders(project)), tick)


def _find_changes(project: Project, ref: PlanRef | None) -> list[tuple[Commit | None, PlanFileChange]]:
    """Return the changes of a plan, or of all plans, with their commits, newest first."""
    require_repository(project)
    tracker, committed, uncommitted = track_changes(project)
    path = project.display_path(ref.real_path) if ref is not None else ""
    lineage = tracker.find(path) if ref is not None else None
    if ref is not None and lineage is None:
        return []
    return [
        (commit, change)
        for commit, plan_changes in [(None, uncommitted), *committed]
        for change in plan_changes
        if lineage in (None, change.lineage)
    ]


def _read_events(
    project: Project,
    changes: Sequence[tuple[Commit | None, PlanFileChange]],
    absent_versions: Collection[str],
    tick: Tick | None,
) -> Iterator[HistoryEvent]:
    """Yield the events of changes."""
    with BlobReader(project) as blobs:
        reader = ChangeReader(project, blobs, absent_versions)
        for index, (commit, change) in enumerate(changes):
            if index % _BATCH_SIZE == 0:
                reader.prefetch([batch_change for _, batch_change in changes[index : index + _BATCH_SIZE]])
            yield from reader.events(change, commit)
            if tick is not None:
                tick(index + 1, len(changes))


def track_changes(
    project: Project,
) -> tuple[LineageTracker, list[tuple[Commit, list[PlanFileChange]]], list[PlanFileChange]]:
    """Return the lineages of a project's plans, the changes of each commit, newest first, and those not committed."""
    tracker = LineageTracker(PlanPathMatcher(project))
    head = resolve_commit(project, "HEAD")
    folders = plan_folders(project)
    committed = add_commits(tracker, read_commits(project, head, folders)) if head is not None else []
    return tracker, committed, tracker.add_changes(uncommitted_changes(project, head, folders))


def incomplete_history_warnings(project: Project) -> tuple[str, ...]:
    """Return the warnings for a shallow clone, and for a partial clone that lacks versions of plans."""
    return (*shallow_clone_warnings(project), *((_PARTIAL_WARNING,) if lacks_versions(project) else ()))


def lacks_versions(project: Project) -> bool:
    """Return whether the repository is a partial clone without all versions of the plans."""
    if not is_partial(project):
        return False
    try:
        return bool(absent_blobs(project, plan_folders(project)))
    except ExecplanError:
        return True  # git lacks the directories, too, so it can't list what is in them


def shallow_clone_warnings(project: Project) -> tuple[str, ...]:
    """Return the warning for a repository without its early history, in which the first commit has all plans."""
    return (_SHALLOW_WARNING,) if is_shallow(project) else ()


def plan_folders(project: Project) -> list[str]:
    """Return the directories of plans and archived plans, from the repository root, with links resolved."""
    folders = [os.path.realpath(folder) for folder in project.plan_paths]
    return list(dict.fromkeys([project.display_path(folder) or "." for folder in folders]))


def find_past_plan(project: Project, name: str) -> PlanRef | None:
    """Return the plan that has or had an ID or a path from the repository root, also if it was deleted; or None.

    A part of an ID is enough if only one plan had it. Raises ExecplanError if several had it, or if git fails.
    """
    tracker = track_changes(project)[0]
    lineage = tracker.find(name)
    if lineage is not None:
        return lineage.ref
    folded_name = normalize_id(name.removesuffix(".md"))
    lineages_by_id: dict[str, dict[Lineage, None]] = {}
    for plan_lineage in tracker.lineages:
        for path in plan_lineage.paths:
            plan_id = project.split_plan_path(path)[1]
            lineages_by_id.setdefault(plan_id, {})[plan_lineage] = None
    same = [plan_id for plan_id in lineages_by_id if normalize_id(plan_id) == folded_name]
    if same:
        return next(iter(lineages_by_id[same[0]])).ref
    similar = [plan_id for plan_id in lineages_by_id if folded_name in normalize_id(plan_id)]
    matches = {match: None for plan_id in similar for match in lineages_by_id[plan_id]}
    if len(matches) > 1 and is_specific_enough(name):
        raise ExecplanError(
            "ambiguous-plan",
            f"{name!r} matches {len(matches)} plans that were renamed or deleted",
            hint="use the full ID",
            candidates=sorted(similar),
        )
    return next(iter(matches)).ref if matches and is_specific_enough(name) else None


def select_past_plan(start: str, query: str | None) -> tuple[Project, PlanRef]:
    """Select a plan as other commands do or, if there is none, a plan that once had this ID or path.

    Raises ExecplanError if no single plan fits.
    """
    try:
        return plan_selection.select_plan(start, query)
    except ExecplanError as error:
        name = query or plan_selection.plan_from_environment()
        if error.code not in ("no-such-plan", "plan-deleted") or name is None:
            raise
        for project in project_discovery.with_nested_projects(project_discovery.require(start)):
            ref = find_past_plan(project, name) if project.git is not None else None
            if ref is not None:
                return project, ref
        raise
