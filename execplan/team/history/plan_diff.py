"""What changed in a plan between two revisions, or between a revision and the working tree."""

from __future__ import annotations

import os
from functools import cached_property
from typing import NamedTuple

from execplan.core.errors import ExecplanError
from execplan.core.git.blob_reader import BlobReader
from execplan.core.git.commit_log import CommittedChange
from execplan.core.git.git_history import committed_files, merge_base, resolve_commit
from execplan.core.git.git_query import require_repository
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.team.history.change_events import ON_DISK, ChangeReader
from execplan.team.history.history_event import HistoryEvent
from execplan.team.history.plan_history import plan_folders, track_changes
from execplan.team.history.plan_lineages import Lineage, PlanFileChange


class PlanDiff(NamedTuple):
    """The changes of a plan between two versions; a path is empty where the plan does not exist."""

    events: list[HistoryEvent]
    old_path: str
    new_path: str
    old_data: bytes
    new_data: bytes


class _Version(NamedTuple):
    path: str
    blob: str


_NO_VERSION = _Version("", "")


def compare_revisions(project: Project, ref: PlanRef, old_commit: str | None, new_commit: str | None) -> PlanDiff:
    """Return the changes of a plan from a commit to another one or, for None, to the working tree.

    Without an old commit, the whole plan is new. Raises ExecplanError if neither has the plan.
    """
    require_repository(project)
    finder = _VersionFinder(project, ref)
    old = finder.find(old_commit) if old_commit is not None else _NO_VERSION
    new = finder.find(new_commit) if new_commit is not None else _version_on_disk(project, ref)
    if not old.path and not new.path:
        places = [commit[:10] for commit in (old_commit, new_commit) if commit is not None]
        if new_commit is None:
            places.append("the working tree")
        message = f"the plan {ref.id} does not exist in {' or '.join(places)}"
        hint = f"see when it was created or deleted: execplan log {ref.shell_name}"
        raise ExecplanError("not-in-revision", message, hint=hint)
    old_ref, new_ref = [
        plan_store.ref_for_path(project, os.path.join(project.root, version.path)) if version.path else None
        for version in (old, new)
    ]
    change = CommittedChange(new.path or old.path, (old.path or new.path,), new.blob, (old.blob,))
    lineage = Lineage(ref)
    plan_change = PlanFileChange(lineage, change, new_ref or old_ref or ref, (old_ref,), is_comeback=False)
    with BlobReader(project) as blobs:
        reader = ChangeReader(project, blobs)
        if old.blob and isinstance(reader.version(old.blob), ExecplanError):
            lineage.former_blobs = finder.find_former_blobs()
        events = reader.events(plan_change, None)
        old_data, new_data = [reader.data(version.blob) if version.blob else b"" for version in (old, new)]
    return PlanDiff(events, old.path, new.path, old_data, new_data)


def require_base(project: Project, old: tuple[str, str], new: tuple[str, str]) -> str:
    """Return the commit where the second branch left the first; each is given by its name and its last commit.

    Raises ExecplanError if there is none.
    """
    base = merge_base(project, old[1], new[1])
    if base is None:
        message = f"{old[0]} and {new[0]} have no commit in common"
        hint = f"compare them directly: {old[0]}..{new[0]}"
        raise ExecplanError("no-such-revision", message, hint=hint)
    return base


def require_commit(project: Project, revision: str) -> str:
    """Return the ID of the commit that a revision names; raises ExecplanError if it names none."""
    require_repository(project)
    commit = resolve_commit(project, revision)
    if commit is None:
        hint = "list branches and commits: git branch -a, git log --oneline; a date is written 2026-10-01"
        raise ExecplanError("no-such-revision", f"{revision!r} does not name a commit", hint=hint)
    return commit


def _version_on_disk(project: Project, ref: PlanRef) -> _Version:
    path = project.display_path(ref.real_path)
    return _Version(path, ON_DISK + path) if os.path.lexists(ref.path) else _NO_VERSION


class _VersionFinder:
    """Finds a plan in commits under its current path, or else under its earlier ones."""

    def __init__(self, project: Project, ref: PlanRef) -> None:
        self._project = project
        self._path = project.display_path(ref.real_path)

    def find(self, commit: str) -> _Version:
        """Return the plan's version in a commit."""
        files = {file.path: file.blob for file in committed_files(self._project, commit, plan_folders(self._project))}
        if self._path in files:
            return _Version(self._path, files[self._path])
        former_paths = reversed(self._lineage.paths) if self._lineage is not None else ()
        path = next((path for path in former_paths if path in files), "")  # the latest one
        return _Version(path, files[path]) if path else _NO_VERSION

    def find_former_blobs(self) -> dict[str, str]:
        """Return the version before each version of the plan."""
        return self._lineage.former_blobs if self._lineage is not None else {}

    @cached_property
    def _lineage(self) -> Lineage | None:
        return track_changes(self._project)[0].find(self._path)
