"""Records of the worktrees of plans: for each plan its branch, and the branch into which it will be merged.

Git knows everything else. A record is in the main git directory, so all worktrees share it. It is written before the
worktree is created and removed after it, so that an interrupted command can be repeated.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.files.file_lock import FileLock
from execplan.core.git.linked_worktrees import Worktree, list_worktrees, project_in, worktree_of
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.implied_plan import set_plan_of_worktree, worktree_plan_path
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_state
from execplan.core.project.project import Project
from execplan.core.text import fast_json
from execplan.core.text.message_parts import quote

_FOLDER = "worktrees"
_SUFFIX = ".json"
_MAX_BYTES = 1 << 16


class WorktreeRecord(NamedTuple):
    """What git does not know about the worktree of a plan."""

    plan: str
    """Path of the plan from the root of its worktree."""
    id: str
    """ID of the plan in its worktree."""
    branch: str
    """Short name of the branch."""
    into: str
    """Short name of the branch from which it came, and into which `--finish` merges it."""
    root: str
    """Absolute path of the worktree when it was created; `git worktree move` may have moved it."""
    name: str
    """Who claimed the plan."""
    base: str = "."
    """Path of the plan's project from the root, equal in all worktrees."""
    target_plan: str = ""
    """Path of the plan from the root on the branch `into`, if one of both branches has renamed it; otherwise empty."""
    is_archiving: bool = False
    """Whether `--finish` has begun to archive the plan in its clean worktree, and has not committed that yet."""

    @property
    def plans(self) -> tuple[str, str]:
        """Paths of the plan from the root: in its worktree, and on the branch `into`."""
        return self.plan, self.target_plan or self.plan

    def root_of(self, worktree: Worktree | None) -> str:
        """Return the root of the plan's worktree, or where it was if it is gone."""
        return worktree.root if worktree is not None else self.root

    def directory_in(self, root: str) -> str:
        """Return the directory of the plan's project in the worktree at a root; the root if it is not checked out there."""
        directory = os.path.normpath(os.path.join(root, self.base))
        return directory if os.path.isdir(directory) else root


def plan_key(project: Project, ref: PlanRef) -> str:
    """Return the path of a plan from the root of its worktree."""
    return os.path.relpath(ref.real_path, os.path.realpath(project.root))


def lock_record(project: Project, plan: str, holder: str) -> FileLock:
    """Return the lock of a plan's worktree, which all worktrees share; `plan` is its path from the root."""
    atomic_files.make_directory(_directory(project))
    return FileLock(os.path.join(_directory(project), f"{project_state.path_key(plan)}.lock"), holder)


def load_records(project: Project) -> list[WorktreeRecord]:
    """Return the records of a repository by the IDs of the plans; a damaged record is left out."""
    try:
        names = os.listdir(_directory(project))
    except (FileNotFoundError, NotADirectoryError):
        return []
    paths = [os.path.join(_directory(project), name) for name in names if name.endswith(_SUFFIX)]
    records = [record for path in paths for record in [_read_record(path)] if record is not None]
    return sorted(records, key=lambda record: (record.id, record.plan))


def load_record(project: Project, plan: str) -> WorktreeRecord | None:
    """Return the record of the plan at a path from the root of its own or of the target's worktree, or None."""
    record = _read_record(_path(project, plan))
    return record or next((record for record in load_records(project) if record.target_plan == plan), None)


def list_archived(project: Project) -> list[WorktreeRecord]:
    """Return the records of the plans that still have a worktree, and are archived there or in the current one."""
    records = load_records(project)
    worktrees = list_worktrees(project) if records else []
    return [record for record in records if _is_archived(project, record, find_worktree(record, worktrees))]


def _is_archived(project: Project, record: WorktreeRecord, worktree: Worktree | None) -> bool:
    if worktree is None or not worktree.exists:
        return False
    places = zip((project_in(project, worktree), project), record.plans, strict=True)
    return any([_is_archived_in(place, path, record.id) for place, path in places])


def _is_archived_in(project: Project, path: str, plan_id: str) -> bool:
    if os.path.lexists(os.path.join(project.root, path)):
        return False
    return plan_id in [ref.id for ref in plan_store.refs(project, archive=True)]


def merge_command(project: Project, ref: PlanRef) -> str:
    """Return the command that merges the plan's own worktree and removes it; empty if that is this one, or not there."""
    record = load_record(project, plan_key(project, ref))
    if record is None or worktree_plan_path(project) == record.plan:
        return ""
    worktree = find_worktree(record, list_worktrees(project))
    return finish_command(project, record) if worktree is not None and worktree.exists else ""


def finish_command(project: Project, record: WorktreeRecord) -> str:
    """Return the command that merges the worktree of a plan and removes it."""
    is_here = worktree_plan_path(project) == record.plan
    return f"execplan worktree{'' if is_here else ' ' + quote(record.id)} --finish"


def save_record(project: Project, record: WorktreeRecord) -> None:
    """Write the record of a worktree. The caller holds its lock. Raises ExecplanError on failure."""
    import json

    atomic_files.replace(_path(project, record.plan), json.dumps(record._asdict()).encode())


def remove_record(project: Project, record: WorktreeRecord) -> None:
    """Remove a record, if it still exists. The caller holds its lock."""
    try:
        os.unlink(_path(project, record.plan))
    except FileNotFoundError:
        return


def follow_rename(project: Project, old_plan: str, ref: PlanRef) -> None:
    """Update the record of a plan that was renamed in its own worktree or on the branch into which it will be merged.

    Raises ExecplanError on failure.
    """
    new_plan = plan_key(project, ref)
    if worktree_plan_path(project) == old_plan:
        _change_record(
            project, old_plan, lambda record: _with_paths(record._replace(id=ref.id), new_plan, record.plans[1])
        )
        set_plan_of_worktree(project, new_plan)
        return
    current = worktree_of(project, list_worktrees(project))
    for record in load_records(project):
        if current is not None and current.branch == record.into and record.plans[1] == old_plan:
            _change_record(project, record.plan, lambda record: _with_paths(record, record.plan, new_plan))


def _change_record(project: Project, plan: str, change: Callable[[WorktreeRecord], WorktreeRecord]) -> None:
    """Replace the record of the plan at a path from the root of its worktree, if there is one."""
    with lock_record(project, plan, f"rename of {plan}"):
        record = _read_record(_path(project, plan))
        if record is None:
            return
        changed = change(record)
        save_record(project, changed)
        if changed.plan != plan:
            remove_record(project, record)


def _with_paths(record: WorktreeRecord, plan: str, target_plan: str) -> WorktreeRecord:
    return record._replace(plan=plan, target_plan=target_plan if target_plan != plan else "")


def find_worktree(record: WorktreeRecord, worktrees: list[Worktree]) -> Worktree | None:
    """Return the worktree that has the record's branch checked out, or else the one at the recorded path; or None."""
    linked = [worktree for worktree in worktrees if not worktree.is_main]
    return next(
        (worktree for worktree in linked if worktree.branch == record.branch),
        next((worktree for worktree in linked if worktree.root == record.root), None),
    )


def _read_record(path: str) -> WorktreeRecord | None:
    try:
        fields = fast_json.loads(file_access.read(path, _MAX_BYTES)[0])
        is_archiving = fields.pop("is_archiving") is True
        fields = {**WorktreeRecord._field_defaults, **fields}
        texts = {name: str(fields[name]) for name in WorktreeRecord._fields if name != "is_archiving"}
        return WorktreeRecord(**texts, is_archiving=is_archiving)
    except (ExecplanError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _path(project: Project, plan: str) -> str:
    return os.path.join(_directory(project), f"{project_state.path_key(plan)}{_SUFFIX}")


def _directory(project: Project) -> str:
    return os.path.join(project.shared_state, _FOLDER)
