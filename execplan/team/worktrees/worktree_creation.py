"""Creation of a worktree and a branch for a plan; an existing worktree is returned as it is."""

from __future__ import annotations

import os
from shlex import quote
from time import monotonic, sleep
from typing import NamedTuple

from execplan.core import features
from execplan.core.edits.plan_preconditions import ensure_not_archived
from execplan.core.errors import ExecplanError
from execplan.core.files.file_lock import timeout
from execplan.core.git import git_commit, git_history, git_process, git_query
from execplan.core.git.git_directory import current_branch, operation_in_progress
from execplan.core.git.linked_worktrees import Worktree, list_worktrees, project_in
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.implied_plan import set_plan_of_worktree
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.scaffold.settings_commit import settings_path
from execplan.team.worktrees.worktree_branch import (
    choose_branch,
    ensure_not_of_other_plan,
    follow_branch,
    worktree_directory,
)
from execplan.team.worktrees.worktree_merge import full_name, has_branch
from execplan.team.worktrees.worktree_record import (
    WorktreeRecord,
    find_worktree,
    load_record,
    lock_record,
    plan_key,
    remove_record,
    save_record,
)

_BRANCH_PREFIX = "refs/heads/"


class OpenedWorktree(NamedTuple):
    """The worktree of a plan, new or existing."""

    record: WorktreeRecord
    worktree: Worktree
    is_new: bool
    warnings: tuple[str, ...]


def open_worktree(
    project: Project, ref: PlanRef, name: str, *, branch: str | None = None, directory: str | None = None
) -> OpenedWorktree:
    """Return the worktree of a plan, and create it with its branch if there is none.

    `name` is who works in it. `branch` and `directory` replace those of the settings; an existing branch is continued.
    If git has created a worktree of that branch, it becomes the plan's. Raises ExecplanError if the plan is not
    committed, if the branch is another plan's, or if git can't create the worktree.
    """
    git_query.require_repository(project)
    ensure_not_archived(project, ref)
    key = plan_key(project, ref)
    record = load_record(project, key)
    if record is not None:
        key = record.plan  # another one than that of `ref` if one of both branches has renamed the plan
    with lock_record(project, key, f"worktree of {ref.id}"):
        record = load_record(project, key)
        worktree = find_worktree(record, list_worktrees(project)) if record is not None else None
        if record is not None and branch is not None and branch != record.branch:
            record = follow_branch(project, ref, record, worktree, branch)
            save_record(project, record)
        if record is not None and directory is not None:
            _ensure_directory(ref, record.root_of(worktree), directory)
        if record is not None and worktree is not None and worktree.exists:
            worktree = _wait_until_created(project, record, worktree)
            set_plan_of_worktree(project_in(project, worktree), key)  # also if the command that created it was killed
            return OpenedWorktree(record, worktree, is_new=False, warnings=())
        existing, is_new_record = None, record is None
        if record is None:
            record, existing = _new_record(project, ref, key, name, branch, directory)
        save_record(project, record)
        if existing is None:
            try:
                _add_worktree(project, ref, record, is_registered=worktree is not None)
            except ExecplanError:
                if is_new_record:
                    remove_record(project, record)
                raise
        worktree = existing or find_worktree(record, list_worktrees(project))
        if worktree is None:
            raise git_query.git_failed_error(f"git has created no worktree in {record.root}")
        set_plan_of_worktree(project_in(project, worktree), key)
        return OpenedWorktree(record, worktree, is_new=existing is None, warnings=_warnings(record, worktree))


def _new_record(
    project: Project, ref: PlanRef, key: str, name: str, branch: str | None, directory: str | None
) -> tuple[WorktreeRecord, Worktree | None]:
    """Return the record of a worktree to create, or with it the existing worktree of the branch.

    Raises ExecplanError if the plan can't have such a worktree.
    """
    into = (current_branch(project.git or "") or "").removeprefix(_BRANCH_PREFIX)
    if not into:
        raise ExecplanError(
            "detached-head",
            f"HEAD is detached in {project.root}: there is no branch into which the work could be merged later",
            hint="check out a branch first: git switch BRANCH",
        )
    _ensure_committed(project, ref, key)
    chosen_branch, existing = choose_branch(project, ref, branch, into)
    base = os.path.relpath(project.base, project.root)
    root = os.path.realpath(directory or worktree_directory(project, ref.id))
    if existing is not None:
        if directory is not None and root != existing.root:
            raise ExecplanError(
                "branch-exists",
                f"the branch {chosen_branch} is checked out in {existing.root}, so it can't be checked out in {root}",
                hint=f"use that worktree: execplan worktree {ref.shell_name} --branch {quote(chosen_branch)}",
            )
        return WorktreeRecord(key, ref.id, chosen_branch, into, existing.root, name, base), existing
    if "\n" in root:  # git writes the path into files that are read by line
        raise ExecplanError(
            "usage",
            f"a worktree can't be in {root!r}, because the path contains a line break",
            hint=f"choose another directory: execplan worktree {ref.shell_name} --directory DIR",
        )
    if os.path.lexists(root) and not (os.path.isdir(root) and not os.listdir(root)):
        raise ExecplanError(
            "directory-exists",
            f"{root} already exists and is not empty",
            hint=f"remove it, or choose another directory: execplan worktree {ref.shell_name} --directory DIR",
        )
    return WorktreeRecord(key, ref.id, chosen_branch, into, root, name, base), None


def _ensure_directory(ref: PlanRef, root: str, directory: str) -> None:
    """Raise ExecplanError if the plan's worktree with a root is in another directory."""
    if os.path.realpath(directory) != root:
        raise ExecplanError(
            "worktree-exists",
            f"{ref.id} already has a worktree, {root}, so none was created in {directory}",
            hint=f"use it without --directory: execplan worktree {ref.shell_name}; or move it: git worktree move {quote(root)} {quote(directory)}",
        )


def _ensure_committed(project: Project, ref: PlanRef, key: str) -> None:
    """Raise ExecplanError if the plan, its artifacts or the settings differ from the last commit, which the worktree will contain."""
    artifacts = project.plan_artifacts_dir(ref.path, archived=False)
    files = git_commit.uncommitted_files(project, [ref.path, artifacts])
    settings_files = git_commit.uncommitted_files(project, [settings_path(project)])
    is_in_head = git_history.resolve_commit(project, "HEAD") is not None and git_history.head_blob(project, key)
    if files or settings_files or not is_in_head:
        features.load(features.MARKER_CHECK)(project, ref, plan_store.load(project, ref).plan)
        again = f"execplan worktree {ref.shell_name} --commit"
        is_busy = project.git is not None and operation_in_progress(project.git) is not None
        subject = f"{ref.id} has changes that are"
        if not files and is_in_head:
            subject, files = f"the project's settings in {settings_files[0]} are", settings_files
        raise ExecplanError(
            "uncommitted-plan",
            f"{subject} not committed, so a new worktree would not contain them",
            hint=features.load(features.MERGE_HINT)(project, [ref.path, artifacts], again)
            if is_busy
            else f"commit them, too: {again}",
            candidates=files or [key],
            data={"reasons": files or [key]},
        )


def _add_worktree(project: Project, ref: PlanRef, record: WorktreeRecord, *, is_registered: bool) -> None:
    """Let git create the worktree; without it, remove a new branch again. Raises ExecplanError if git fails."""
    is_new_branch = not has_branch(project.root, record.branch)
    head = git_history.resolve_commit(project, "HEAD")
    target = ("--no-track", "-b", record.branch, record.root, "HEAD") if is_new_branch else (record.root, record.branch)
    args = ("worktree", "add", "--quiet", *target)
    # git fails if it reads a worktree that another git process is creating
    with lock_record(project, "worktrees", f"worktree of {record.id}"):
        if is_registered:  # its directory was removed, but git still lists it, and `add --force` would list it twice
            if os.path.isdir(record.root):
                os.rmdir(record.root)  # git doesn't remove a worktree whose directory is empty
            git_process.run_git(project.root, "worktree", "remove", "--force", record.root)
        result = git_process.run_git(project.root, *args)
    if any([worktree.root == record.root and worktree.exists for worktree in list_worktrees(project)]):
        return  # also if a post-checkout hook failed, which git reports as a failure
    ensure_not_of_other_plan(project, ref, record.branch)  # its worktree may have been created at the same time
    if is_new_branch and head is not None:
        # git creates the branch first; one with a commit of its own, which somebody else made, stays
        git_process.run_git(project.root, "update-ref", "-d", full_name(record.branch), head)
    raise git_process.command_failed_error(args, result)


def _wait_until_created(project: Project, record: WorktreeRecord, worktree: Worktree) -> Worktree:
    """Wait for a git process that still creates the worktree for a killed command. Raises ExecplanError if it was killed, too."""
    deadline = monotonic() + timeout()
    while worktree.is_initializing:
        if monotonic() >= deadline:
            raise ExecplanError(
                "git-busy",
                f"git has not finished the creation of {worktree.root}; waited {timeout():g} s",
                hint=f"if no git process is running, remove it: git worktree remove -f -f {quote(worktree.root)}",
            )
        sleep(0.05)
        worktree = find_worktree(record, list_worktrees(project)) or worktree
    return worktree


def _warnings(record: WorktreeRecord, worktree: Worktree) -> tuple[str, ...]:
    """Return warnings about what a new worktree lacks."""
    warnings = []
    if not os.path.lexists(os.path.join(worktree.root, record.plan)):
        warnings.append(f"{record.plan} is not checked out in it: add its directory with git sparse-checkout add")
    if os.path.lexists(os.path.join(worktree.root, ".gitmodules")):
        warnings.append(f"its submodules are empty: git -C {quote(worktree.root)} submodule update --init")
    return tuple(warnings)


def worktree_ref(project: Project, record: WorktreeRecord) -> PlanRef | None:
    """Return the plan of a record in the worktree of a project: at one of its paths or archived; None if it is in neither."""
    for path in [os.path.join(project.root, plan) for plan in record.plans]:
        if os.path.lexists(path):
            return plan_store.ref_for_path(project, path)
    archived = [ref for ref in plan_store.refs(project, archive=True) if ref.id == record.id]
    return archived[0] if archived else None
