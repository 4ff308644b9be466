"""The directory and the branch of a plan's worktree, by the settings, and their removal after a merge."""

from __future__ import annotations

import os
from itertools import chain, count
from shlex import quote

from execplan.core.errors import ExecplanError
from execplan.core.git import git_process
from execplan.core.git.linked_worktrees import Worktree, list_worktrees, main_directory
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import plan_names
from execplan.core.project.project import Project
from execplan.core.project.setting_forms import fill
from execplan.team.worktrees.newest_plans import with_newest_version
from execplan.team.worktrees.worktree_merge import full_name, has_branch, is_ancestor
from execplan.team.worktrees.worktree_record import WorktreeRecord, find_worktree, load_records, plan_key, remove_record

_MAX_PART_LENGTH = 100
"""Maximum characters of a part of a branch name, which git stores as a file name."""


def worktrees_directory(project: Project) -> str:
    """Return the directory that contains the worktrees of plans; the setting is relative to the main worktree."""
    main = main_directory(project)
    name = os.path.basename(main).removesuffix(".git").lstrip(".") or "repository"
    return os.path.normpath(os.path.join(main, fill(project.settings.worktrees, {"repository": name})))


def worktree_directory(project: Project, plan_id: str) -> str:
    """Return the directory of the worktree of the plan with an ID."""
    return os.path.join(worktrees_directory(project), plan_id)


def branch_name(project: Project, plan_id: str) -> str:
    """Return the branch of the worktree of the plan with an ID."""
    slugs = plan_names.extract_slugs(project.settings.name, plan_id)
    fields = {"slug": _branch_part(min(slugs, key=len, default=plan_id)), "id": _branch_part(plan_id)}
    return fill(project.settings.worktree_branch, fields)


def _branch_part(text: str) -> str:
    """Convert a text to a part of a branch name: letters, digits and `-_.`."""
    chars = [char if char.isalnum() or char in "-_." else "-" for char in text[:_MAX_PART_LENGTH]]
    part = "".join(chars)
    while ".." in part or "--" in part:
        part = part.replace("..", ".").replace("--", "-")
    return part.strip("-.").removesuffix(".lock").strip("-.") or "plan"


def choose_branch(project: Project, ref: PlanRef, branch: str | None, into: str) -> tuple[str, Worktree | None]:
    """Return the branch for a plan that has no worktree yet, and the worktree that has it checked out, if any.

    Without `branch`, it is that of the settings, which must be new. Raises ExecplanError if the plan can't have the branch.
    """
    if branch is not None:
        _ensure_valid_name(project, branch)
    else:
        _ensure_newest_here(project, ref)
    name = branch if branch is not None else branch_name(project, ref.id)
    ensure_not_of_other_plan(project, ref, name)
    if branch is None and has_branch(project.root, name):
        command = f"execplan worktree {ref.shell_name} --branch"
        hint = (
            f"continue it: {command} {quote(name)}; or create a new one: {command} {quote(_free_branch(project, name))}"
        )
        message = f"the branch {name} already exists, and no worktree of {ref.id} uses it"
        raise ExecplanError("branch-exists", message, hint=hint)
    worktree = next((worktree for worktree in list_worktrees(project) if worktree.branch == name), None)
    if name == into or (worktree is not None and worktree.is_main):
        place = "here" if name == into or worktree is None else f"in {worktree.root}"
        message = f"the branch {name} is checked out {place}; a plan's worktree needs a branch of its own"
        raise ExecplanError("branch-exists", message, hint="name another one with --branch")
    return name, worktree if worktree is not None and worktree.exists else None


def follow_branch(
    project: Project, ref: PlanRef, record: WorktreeRecord, worktree: Worktree | None, branch: str
) -> WorktreeRecord:
    """Return the record of a plan's worktree with another branch, to which somebody switched there or renamed its own.

    Raises ExecplanError if the worktree is not on that branch, or if the plan can't have the branch.
    """
    _ensure_valid_name(project, branch)
    if worktree is not None and worktree.exists:
        current_branch, is_renamed = worktree.branch, worktree.branch == branch
    else:
        is_renamed = has_branch(project.root, branch) and not has_branch(project.root, record.branch)
        current_branch = record.branch
    if not is_renamed:
        position = f"on branch {current_branch}" if current_branch else "at a detached HEAD"
        command = f"execplan worktree {ref.shell_name}"
        raise ExecplanError(
            "worktree-exists",
            f"{ref.id} already has a worktree, {record.root_of(worktree)}, {position}, not on {branch}",
            hint=f"use it without --branch: {command}; or finish it first: {command} --finish",
        )
    ensure_not_of_other_plan(project, ref, branch)
    return record._replace(branch=branch)


def _ensure_newest_here(project: Project, ref: PlanRef) -> None:
    """Raise ExecplanError if another worktree has a newer version of a plan, which a new worktree would not contain."""
    stored_plan, location = with_newest_version(project, plan_store.load(project, ref))
    if location is None or stored_plan.project.root == project.root:
        return
    worktrees = list_worktrees(project)
    plan_roots = [record.root_of(find_worktree(record, worktrees)) for record in load_records(project)]
    command = f"execplan worktree {ref.shell_name} --branch"
    if location.branch and location.root not in plan_roots:
        hint = f"continue there: {command} {quote(location.branch)}"
    else:
        hint = "commit and merge that first"
    free_name = quote(_free_branch(project, branch_name(project, ref.id)))
    raise ExecplanError(
        "newer-version",
        f"{ref.id} has a newer version {location.describe()}, which a new worktree would not contain",
        hint=f"{hint}; or start from the version here: {command} {free_name}",
    )


def _ensure_valid_name(project: Project, branch: str) -> None:
    """Raise ExecplanError if git does not accept the name of a branch."""
    is_valid = not git_process.run_git(project.root, "check-ref-format", full_name(branch)).status
    if not is_valid or branch.startswith("-") or branch == "HEAD":
        message = f"{branch!r} is not a valid name of a branch"
        hint = "use letters, digits, hyphens and slashes, such as --branch plan/parser"
        raise ExecplanError("usage", message, hint=hint)


def ensure_not_of_other_plan(project: Project, ref: PlanRef, name: str) -> None:
    """Raise ExecplanError if another plan's worktree has a branch, by its record or because it is checked out there."""
    plan, worktrees = plan_key(project, ref), list_worktrees(project)
    for record in load_records(project):
        worktree = find_worktree(record, worktrees)
        if plan in record.plans or name not in (record.branch, worktree.branch if worktree is not None else ""):
            continue
        free_name = quote(_free_branch(project, branch_name(project, ref.id)))
        raise ExecplanError(
            "branch-exists",
            f"the branch {name} belongs to the worktree of {record.id}: {record.root_of(worktree)}",
            hint=f"create another one: execplan worktree {ref.shell_name} --branch {free_name}",
        )


def _free_branch(project: Project, name: str) -> str:
    """Return the name of a branch that does not exist: `plan/parser`, or else `plan/parser-2` and so on."""
    recorded_branches = {record.branch for record in load_records(project)}
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(
        candidate
        for candidate in names
        if candidate not in recorded_branches and not has_branch(project.root, candidate)
    )


def remove_worktree(
    project: Project, record: WorktreeRecord, worktree: Worktree | None, target: Worktree, into: str
) -> tuple[str, ...]:
    """Remove the merged worktree of a plan, its branch and its record; return warnings.

    `project` is that of the target's worktree. Raises ExecplanError if git does not remove the worktree, because it has
    changes again.
    """
    if has_branch(target.root, record.branch) and not is_ancestor(target.root, record.branch, into):
        message = f"{record.branch} is not merged into {into}, so its worktree was not removed"
        raise ExecplanError("target-changed", message, hint="try again")
    if worktree is not None:
        _remove_with_git(record, worktree, target)
    _remove_if_empty(project, record.root_of(worktree))
    warnings: tuple[str, ...] = ()
    if has_branch(target.root, record.branch):
        result = git_process.run_git(target.root, "branch", "--quiet", "-d", record.branch)
        if result.status:
            warnings = (f"git keeps the branch {record.branch}: {result.lines[0] if result.lines else 'no reason'}",)
    remove_record(project, record)
    return warnings


def ensure_merged_without_worktree(record: WorktreeRecord, target: Worktree, into: str) -> None:
    """Raise ExecplanError if a branch whose worktree is gone has commits that are not merged."""
    if not has_branch(target.root, record.branch) or is_ancestor(target.root, record.branch, into):
        return
    message = f"the worktree {record.root} was removed, but its branch {record.branch} is not merged into {into}"
    hint = f"create it again, then finish it: execplan worktree {quote(record.plan)}"
    raise ExecplanError("worktree-missing", message, hint=hint)


def _remove_with_git(record: WorktreeRecord, worktree: Worktree, target: Worktree) -> None:
    args = ("worktree", "remove", worktree.root)
    result = git_process.run_git(target.root, *args)
    if not result.status:
        return
    error = git_process.command_failed_error(args, result)
    if "containing submodules" in result.errors:
        error.message = f"{record.branch} is merged, but git does not remove {worktree.root}, because it has submodules"
        error.hint = (
            "if all commits in them are pushed, remove it, then try again: "
            f"git -C {quote(target.root)} worktree remove --force {quote(worktree.root)}; "
            f"execplan worktree {quote(record.id)} --finish"
        )
    raise error


def _remove_if_empty(project: Project, root: str) -> None:
    """Remove the directory of all worktrees if the one with this root was the last."""
    directory = os.path.dirname(root)
    if directory == os.path.realpath(worktrees_directory(project)):
        try:
            os.rmdir(directory)
        except OSError:
            return  # it contains other worktrees
