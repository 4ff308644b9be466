"""The changes of plans in the working tree that are not committed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.git.commit_log import FileChange, changes_since
from execplan.core.git.git_history import committed_files
from execplan.core.plan_store import missing_plans, plan_store
from execplan.core.plan_store.missing_plans import MissingPlan
from execplan.core.project.plan_journal import former_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.project.project import Project

ON_DISK = "disk:"
"""Start of what stands for the blob of a file in the working tree; its path from the repository root follows."""


def uncommitted_changes(project: Project, head: str | None, folders: Sequence[str]) -> list[FileChange]:
    """Return the plans that differ from a commit, or all plans if there is none. Raises ExecplanError if git fails.

    A plan that was renamed or moved is a single change. Links to plans have no history of their own.
    """
    refs = [ref for ref in plan_store.all_refs(project) if not os.path.islink(ref.path)]
    on_disk = [project.display_path(ref.real_path) for ref in refs]
    if head is None:
        return [_new_file(path) for path in on_disk]
    changes, deleted = [], {}
    for change in changes_since(project, head, folders):
        exists = bool(change.blob) or os.path.lexists(os.path.join(project.root, change.path))
        if exists:
            changes.append(change._replace(blob=ON_DISK + change.path))
        else:
            deleted[change.path] = change
    known_paths = {file.path for file in committed_files(project, head, folders)}
    known_paths.update([change.path for change in changes])
    for path in on_disk:
        if path not in known_paths:
            source = _find_source(project, path, deleted)
            changes.append(_new_file(path) if source is None else source._replace(path=path, blob=ON_DISK + path))
            if source is not None:
                del deleted[source.path]
    return [*changes, *deleted.values()]


def _new_file(path: str) -> FileChange:
    return FileChange(path, (path,), ON_DISK + path, ("",))


def _find_source(project: Project, path: str, deleted: dict[str, FileChange]) -> FileChange | None:
    """Return the deleted file that was moved to a path, by execplan or by hand; None if there is none."""
    if not deleted:
        return None
    absolute_path = os.path.join(project.root, path)
    for former_path in former_paths(project, absolute_path):
        source = deleted.get(project.display_path(former_path))
        if source is not None:
            return source
    for source in deleted.values():
        old_path = os.path.join(project.root, source.path)
        missing_plan = MissingPlan(project.split_plan_path(old_path)[1], old_path, source.former_blobs[0])
        moved_ref = missing_plans.find_moved_file(project, missing_plan)
        if moved_ref is not None and moved_ref.real_path == absolute_path:
            return source
    return None
