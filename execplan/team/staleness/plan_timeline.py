"""What git says about a plan and the files that it names: when each was created, changed and deleted."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from execplan.core.git.git_query import index_files, tracked_files
from execplan.core.git.path_changes import ADDED, DELETED, ContentComparison, HistoryStep, read_steps
from execplan.core.plan import outline
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.plan_metadata import read_metadata
from execplan.core.plan_store.plan_store import StoredPlan
from execplan.core.project.project import Project
from execplan.core.text.pure_paths import resolve_relative
from execplan.linter.plan_paths import MissingPathExcuses, extract_path, find_named_paths, repository_path
from execplan.linter.plan_source import PlanSource
from execplan.linter.rule import RuleContext

_DRIFT_SHARE = 0.5
"""Share of a file's lines that must be gone before the file has changed a lot."""
_MIN_LINES = 10
"""Minimum lines of a file for which that share means anything."""
_EMPTY_BLOBS = {digest(b"blob 0\0").hexdigest() for digest in (hashlib.sha1, hashlib.sha256)}
"""IDs that git gives an empty file, whose content does not tell where it was moved."""


class NamedPaths(NamedTuple):
    """The paths that a plan names, as it writes them."""

    promised: tuple[str, ...]
    """Paths of Interfaces and Dependencies and of the metadata's `shipped`; without any, all that are certainly paths."""
    cited: tuple[str, ...]
    """Every path that makes up a code span outside the logs."""
    excused: frozenset[str]
    """Cited paths of which the plan says that they may be missing, for example because it removes them."""


def read_plan_paths(plan: ParsedPlan) -> NamedPaths:
    """Return the paths that a plan names."""
    source = PlanSource(plan)
    cited = tuple(find_named_paths(plan, source))
    section = plan.section(outline.INTERFACES)
    spans = source.code_spans_in(section.body_start, section.notes_start) if section is not None else []
    promised = [path for span in spans if (path := extract_path(span.text))]
    promised += [path for path in read_metadata(plan).links.shipped if repository_path(path)]
    excuses = MissingPathExcuses(plan, RuleContext(source=source))
    return NamedPaths(
        tuple(dict.fromkeys(promised)) or tuple(filter(repository_path, cited)),
        cited,
        frozenset([path for path in cited if excuses.is_excused(path)]),
    )


class TrackedFiles:
    """The files that git tracks in a repository, to find those that plans mean."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = frozenset(paths)
        self._names = {os.path.basename(path) for path in self.paths}

    def resolve(self, project: Project, path: str) -> str:
        """Return the tracked file that a plan means, by a path from the repository's or the project's root, or empty."""
        return next((candidate for candidate in candidates(project, path) if candidate in self.paths), "")

    def is_missing(self, project: Project, path: str) -> bool:
        """Return whether a text is certainly the path of a file in the repository, and no file has this path or a longer one."""
        if not repository_path(path) or not any(candidates(project, path)) or self.resolve(project, path):
            return False
        return os.path.basename(path) not in self._names


def candidates(project: Project, path: str) -> Iterator[str]:
    """Yield the paths from the repository's root that a path in a plan of the project may mean; none outside of it."""
    for directory in dict.fromkeys((".", os.path.relpath(project.base, project.root))):
        candidate = resolve_relative(directory, path)
        if candidate:
            yield candidate


class Drift(NamedTuple):
    """A file that a plan cites, and that has changed a lot since the plan's last change."""

    path: str
    is_deleted: bool
    step: HistoryStep
    """The step that deleted it, or the last one that changed it."""
    new_path: str = ""
    """Path of the tracked file that has the content of a deleted one; empty if there is none, or several."""


class PlanTimeline(NamedTuple):
    """A plan in the history of its branch."""

    created: HistoryStep | None
    """The step that added the plan; None if it is not committed."""
    changed: HistoryStep | None
    """The last step that changed the plan."""
    existing: tuple[str, ...]
    """Promised files that exist."""
    missing: tuple[str, ...]
    """Promised files that don't exist."""
    shipped: HistoryStep | None
    """The last step that created an existing promised file, together with the plan or after it; None if none did."""
    drifts: tuple[Drift, ...]


NO_TIMELINE = PlanTimeline(None, None, (), (), None, ())
"""The timeline of a plan that git doesn't know."""


class MovedFiles:
    """The files that have the content of deleted ones; git is asked when the first is looked up."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._paths_by_blob: dict[str, list[str]] | None = None

    def find_new_path(self, blob: str) -> str:
        """Return the only tracked file with some content, or empty. Raises ExecplanError if git fails."""
        if blob in _EMPTY_BLOBS:
            return ""
        if self._paths_by_blob is None:
            self._paths_by_blob = {}
            for file in index_files(self._project, []):
                self._paths_by_blob.setdefault(file.blob, []).append(file.path)
        paths = self._paths_by_blob.get(blob, [])
        return paths[0] if len(paths) == 1 else ""


class RepositoryHistory(NamedTuple):
    """The history of a repository, for the files that its plans name."""

    project: Project
    tracked: TrackedFiles
    steps_by_path: dict[str, list[HistoryStep]]
    """The steps that changed each file, newest first."""
    comparison: ContentComparison
    moved_files: MovedFiles


def load_timelines(project: Project, stored_plans: Sequence[StoredPlan]) -> dict[str, PlanTimeline]:
    """Return the timelines of plans of one repository by absolute path. Raises ExecplanError if git fails."""
    paths_by_plan = {
        stored_plan.ref.path: read_plan_paths(stored_plan.plan)
        for stored_plan in stored_plans
        if stored_plan.plan is not None
    }
    requested_paths = {project.display_path(stored_plan.ref.real_path) for stored_plan in stored_plans}
    for stored_plan in stored_plans:
        plan_paths = paths_by_plan.get(stored_plan.ref.path)
        for path in (*plan_paths.promised, *plan_paths.cited) if plan_paths is not None else ():
            requested_paths.update(candidates(stored_plan.project, path))
    steps_by_path: dict[str, list[HistoryStep]] = {}
    for step in read_steps(project, requested_paths):
        for path in step.changes:
            steps_by_path.setdefault(path, []).append(step)
    with ContentComparison(project) as comparison:
        history = RepositoryHistory(
            project, TrackedFiles(tracked_files(project)), steps_by_path, comparison, MovedFiles(project)
        )
        return {
            stored_plan.ref.path: _make_timeline(stored_plan, paths_by_plan[stored_plan.ref.path], history)
            for stored_plan in stored_plans
            if stored_plan.ref.path in paths_by_plan
        }


def _make_timeline(stored_plan: StoredPlan, plan_paths: NamedPaths, history: RepositoryHistory) -> PlanTimeline:
    project, tracked = stored_plan.project, history.tracked
    plan_path = project.display_path(stored_plan.ref.real_path)
    plan_steps = history.steps_by_path.get(plan_path)
    if not plan_steps:
        return NO_TIMELINE
    created = next((step for step in plan_steps if step.changes[plan_path].kind == ADDED), plan_steps[-1])
    existing = [path for path in plan_paths.promised if tracked.resolve(project, path)]
    missing = [path for path in plan_paths.promised if tracked.is_missing(project, path)]
    creations = [
        step
        for file in [tracked.resolve(project, path) for path in existing]
        for step in history.steps_by_path.get(file, ())
        if step.changes[file].kind == ADDED and step.has_parent and step.position <= created.position
    ]
    shipped = min(creations, key=lambda step: step.position, default=None)
    drifts = tuple(_find_drifts(project, plan_paths, plan_steps[0], history))
    return PlanTimeline(created, plan_steps[0], tuple(existing), tuple(missing), shipped, drifts)


def _find_drifts(
    project: Project, plan_paths: NamedPaths, plan_changed: HistoryStep, history: RepositoryHistory
) -> Iterator[Drift]:
    """Yield the cited files that were deleted, or lost most of their lines, after the plan's last change."""
    for path in plan_paths.cited:
        for candidate in candidates(project, path):
            steps = [step for step in history.steps_by_path.get(candidate, ()) if step.position < plan_changed.position]
            if not steps:
                continue
            last_change, first_change = steps[0].changes[candidate], steps[-1].changes[candidate]
            if last_change.kind == DELETED:
                if path not in plan_paths.excused and not history.tracked.resolve(project, path):
                    new_path = history.moved_files.find_new_path(last_change.former_blob)
                    yield Drift(path, True, steps[0], new_path)
            elif first_change.kind != ADDED:
                old_blob, new_blob = first_change.former_blob, last_change.blob
                if history.comparison.share_of_lost_lines(old_blob, new_blob, _MIN_LINES) >= _DRIFT_SHARE:
                    yield Drift(path, False, steps[0])
