"""Merging of a plan's branch: the target branch into it first, in the plan's worktree, and then it into the target.

So a conflict is resolved in the plan's own worktree, and the worktree of the target branch is never left in a merge.
"""

from __future__ import annotations

import os
import tempfile
from shlex import quote
from time import monotonic, sleep

from execplan.core import features
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.files.file_lock import timeout
from execplan.core.git import git_process
from execplan.core.git.git_directory import operation_in_progress
from execplan.core.git.git_process import GitOutput
from execplan.core.git.linked_worktrees import Worktree
from execplan.core.git_merge.driver_settings import ATTRIBUTE, DRIVER_SETTING, attribute_lines, driver_command
from execplan.core.project.project import Project
from execplan.team.worktrees.worktree_record import WorktreeRecord

_MERGE_ARGS = ("merge", "--no-edit", "--no-autostash")
_INDEX_ERROR = "Unable to write index"
"""What git prints if it can't start a merge because the index is locked or can't be written."""


def run_merge(worktree: Worktree, ref: str, *options: str, settings: tuple[str, ...] = ()) -> GitOutput:
    """Merge a ref in a worktree that is in no merge, and return git's result, waiting while another process locks the index.

    Raises ExecplanError if git is missing or the wait times out.
    """
    commit = git_process.run_git_checked(worktree.root, "rev-parse", ref).strip()
    lock = os.path.join(worktree.git, "index.lock")
    deadline = monotonic() + timeout()
    while True:
        result = git_process.run_git(worktree.root, *settings, *_MERGE_ARGS, *options, ref)
        if not result.status or _INDEX_ERROR not in result.errors:
            return result
        # Then git has merged nothing, but says that the merge only has to be committed. That commit would drop all
        # changes of the other branch.
        if git_process.run_git(worktree.root, "rev-parse", "-q", "--verify", "MERGE_HEAD").output.strip() == commit:
            git_process.run_git_checked(worktree.root, "merge", "--quit")
        if monotonic() >= deadline:
            if os.path.lexists(lock):
                raise git_process.git_busy_error(worktree.root, f"{lock} exists")
            return result
        sleep(0.05)


def has_merged_nothing(worktree: Worktree) -> bool:
    """Return whether the index of a worktree in a merge is as before it. Raises ExecplanError if git fails."""
    return git_process.run_git(worktree.root, "diff", "--cached", "--quiet", "--no-ext-diff", "HEAD").status == 0


def failed_merge_error(root: str, message: str, result: GitOutput) -> ExecplanError:
    """Return the error for a merge that git or a hook has stopped, with what they printed."""
    lines = result.lines
    if any(["would be overwritten by merge" in line for line in lines]):
        hint = f"commit or remove the changes, then try again: git -C {quote(root)} status"
        reason = f"files in {root} have changes that are not committed"
        return ExecplanError(
            "merge-blocked", f"{message}: {reason}", hint=hint, candidates=lines, data={"reasons": lines}
        )
    hint = "fix what git or the hook reports, then try again"
    return ExecplanError("merge-failed", message, hint=hint, candidates=lines)


_STATUS_ARGS = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=none")


def changed_files(root: str) -> list[str]:
    """Return the files of a worktree that differ from its last commit or that git does not track."""
    out = git_process.run_git_checked(root, *_STATUS_ARGS)
    return [*[entry[3:] for entry in out.split("\0") if entry], *_hidden_changes(root)]


def _hidden_changes(root: str) -> list[str]:
    """Return the changed files that `git status` leaves out, which a person has marked so that git ignores their changes."""
    out = git_process.run_git_checked(root, "ls-files", "-v", "-z")
    paths = [entry[2:] for entry in out.split("\0") if entry and (entry[0] == "S" or entry[0].islower())]
    return [path for path in paths if os.path.lexists(os.path.join(root, path)) and _differs_from_index(root, path)]


def _differs_from_index(root: str, path: str) -> bool:
    """Return whether a file differs from its version in the index, however it is marked."""
    staged = git_process.run_git_checked(root, "ls-files", "-s", "-z", "--", f":(literal){path}").split()
    hashed = git_process.run_git(root, "hash-object", f"--path={path}", "--", path)
    return hashed.status != 0 or len(staged) < 2 or hashed.output.strip() != staged[1]


def ensure_finishable(project: Project, record: WorktreeRecord, worktree: Worktree) -> None:
    """Raise ExecplanError if a worktree has changes or is not on its branch, so that it can't be merged and removed."""
    directory = quote(worktree.root)
    operation = operation_in_progress(worktree.git)
    if operation is not None:
        _ensure_no_conflicts(project, record, worktree)
        message = f"{operation} is in progress in {worktree.root}"
        hint = f"finish it, then try again: git -C {directory} status"
        if operation == "a merge":
            hint = f"finish it, then try again: git -C {directory} commit --no-edit"
            if has_merged_nothing(worktree):
                message += ", but no file has changed; a commit would drop the other branch's changes"
                hint = f"to drop them: git -C {directory} commit --no-edit; to merge them again: git -C {directory} merge --abort"
        raise ExecplanError("under-way", message, hint=hint)
    if worktree.branch != record.branch:
        position = f"on {worktree.branch}" if worktree.branch else "at a detached HEAD"
        message = f"{worktree.root} is {position}, not on {record.branch}"
        hint = f"check out the branch: git -C {directory} switch {quote(record.branch)}"
        if not has_branch(worktree.root, record.branch):
            message += ", which no longer exists"
            hint = f"create it again: git -C {directory} switch -c {quote(record.branch)}"
            if worktree.branch:
                command = f"execplan worktree {quote(record.id)}"
                hint = (
                    f"if it was renamed, use the new name, then try again: {command} --branch {quote(worktree.branch)}"
                )
        raise ExecplanError("wrong-branch", message, hint=hint)
    if worktree.lock_reason is not None:
        reason = f": {worktree.lock_reason}" if worktree.lock_reason else ""
        message = f"{worktree.root} is locked{reason}, so it can't be removed"
        raise ExecplanError("worktree-locked", message, hint=f"unlock it: git worktree unlock {directory}")
    files = changed_files(worktree.root)
    if files:
        hint = f"commit or remove them: git -C {directory} status"
        if files == [record.plan]:
            hint = f"commit the plan, too: execplan worktree {quote(record.id)} --finish --commit"
        raise ExecplanError(
            "uncommitted-changes",
            f"{worktree.root} has changes that are not committed; nothing was merged or removed",
            hint=hint,
            candidates=files,
            data={"reasons": files},
        )


def update_branch(project: Project, record: WorktreeRecord, worktree: Worktree, into: str) -> tuple[str, ...]:
    """Merge the target branch into the plan's branch, with the merge driver; return what the driver reports.

    Raises ExecplanError if there are conflicts, which stay in the plan's worktree, or if git fails.
    """
    if is_ancestor(worktree.root, into, record.branch):
        return ()
    with tempfile.NamedTemporaryFile(prefix="execplan-", suffix=".attributes") as attributes:
        attributes.write(_all_attributes(project, worktree.root).encode("utf-8", "surrogateescape"))
        attributes.flush()
        settings: tuple[str, ...] = ("-c", f"core.attributesFile={attributes.name}")
        if not _has_driver(worktree.root):
            settings += ("-c", f"{DRIVER_SETTING}={driver_command()}")
        message = f"Merge {into} into {record.branch}"
        result = run_merge(worktree, full_name(into), "--ff", "-m", message, settings=settings)
    if result.status:
        _ensure_no_conflicts(project, record, worktree, result)
        if os.path.exists(os.path.join(worktree.git, "MERGE_HEAD")):  # a hook has stopped it
            git_process.run_git_checked(worktree.root, "merge", "--abort")
        raise failed_merge_error(worktree.root, f"git can't merge {into} into {record.branch}", result)
    return tuple(_driver_messages(result))


def merge_into_target(record: WorktreeRecord, target: Worktree, into: str) -> int:
    """Merge the plan's branch, which contains the target branch, into it; return the number of new commits.

    The first parent of a merge is the target's last commit. Raises ExecplanError and leaves the target's worktree as it
    was if git can't merge.
    """
    count_text = git_process.run_git_checked(
        target.root, "rev-list", "--count", f"{full_name(into)}..{full_name(record.branch)}"
    )
    count = int(count_text.strip() or 0)
    if not count:
        return 0
    operation = operation_in_progress(target.git)
    if operation is not None:
        message = f"{operation} is in progress in {target.root}; nothing was merged into {into}"
        raise ExecplanError("under-way", message, hint=f"finish it, then try again: git -C {quote(target.root)} status")
    keeps_parents = () if _is_linear(target.root, record.branch, into) else ("--no-ff",)
    message = f"Merge {record.branch}: plan {record.id}"
    result = run_merge(target, full_name(record.branch), *keeps_parents, "-m", message)
    if result.status:
        has_conflicts = bool(unmerged_files(target.root))
        if os.path.exists(os.path.join(target.git, "MERGE_HEAD")):
            git_process.run_git_checked(target.root, "merge", "--abort")
        if has_conflicts:
            message = f"{into} has changed during the merge; nothing was merged into it"
            raise ExecplanError("target-changed", message, hint="try again")
        raise failed_merge_error(target.root, f"git can't merge {record.branch} into {into}", result)
    return count


def full_name(branch: str) -> str:
    """Return the full name of a branch, which git never takes for a tag of the same name."""
    return f"refs/heads/{branch}"


def has_branch(root: str, name: str) -> bool:
    """Return whether a repository has a branch. Raises ExecplanError if git fails."""
    args = ("rev-parse", "-q", "--verify", "--end-of-options", full_name(name))
    result = git_process.run_git(root, *args)
    if result.status > 1:
        raise git_process.command_failed_error(args, result)
    return not result.status


def is_ancestor(root: str, older: str, newer: str) -> bool:
    """Return whether a branch contains all commits of an older one. Raises ExecplanError if git fails."""
    args = ("merge-base", "--is-ancestor", full_name(older), full_name(newer))
    result = git_process.run_git(root, *args)
    if result.status > 1:
        raise git_process.command_failed_error(args, result)
    return result.status == 0


def unmerged_files(root: str) -> list[str]:
    """Return the files of a worktree with conflicts that nobody has resolved yet."""
    out = git_process.run_git_checked(root, "diff", "--name-only", "--diff-filter=U", "-z", "--no-ext-diff")
    return [path for path in dict.fromkeys(out.split("\0")) if path]


def _ensure_no_conflicts(
    project: Project, record: WorktreeRecord, worktree: Worktree, result: GitOutput | None = None
) -> None:
    """Raise ExecplanError if files in the plan's worktree have conflicts."""
    files = unmerged_files(worktree.root)
    if not files:
        return
    steps = features.load(features.MERGE_STEPS)(project, [worktree.root], "")
    hint = steps.to_text(f"execplan worktree {quote(record.id)} --finish")
    hint += f"; or give up the merge: git -C {quote(worktree.root)} merge --abort"
    error = ExecplanError(
        "merge-conflicts",
        f"{len(files)} {'file has' if len(files) == 1 else 'files have'} conflicts in {worktree.root}; nothing was merged into {record.into}",
        hint=hint,
        candidates=files,
        data={"reasons": files},
    )
    error.warnings = tuple(_driver_messages(result)) if result else ()
    raise error


def _driver_messages(result: GitOutput) -> list[str]:
    """Return what the merge driver has reported during a merge, each with the file."""
    begin = "execplan: "
    return [line.removeprefix(begin) for line in result.errors.splitlines() if line.startswith(begin)]


def _is_linear(root: str, branch: str, into: str) -> bool:
    """Return whether the target's last commit is the first parent of the branch's first new one.

    Then a fast-forward keeps the order of the target's history.
    """
    commits = git_process.run_git_checked(
        root, "rev-list", "--first-parent", f"{full_name(into)}..{full_name(branch)}"
    ).split()
    tip = git_process.run_git_checked(root, "rev-parse", full_name(into)).strip()
    return git_process.run_git(root, "rev-parse", "-q", "--verify", f"{commits[-1]}^1").output.strip() == tip


def _all_attributes(project: Project, root: str) -> str:
    """Return the attributes of the user's own attributes file, with those of plan files; a repository's come first for git."""
    result = git_process.run_git(root, "config", "--type=path", "--get", "core.attributesFile")
    config_home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    path = result.output.rstrip("\n") or os.path.join(config_home, "git", "attributes")
    try:
        with open(file_access.open_regular(path), encoding="utf-8", errors="surrogateescape") as file:
            own_text = file.read()
    except OSError:
        own_text = ""
    return "\n".join([own_text, *attribute_lines(project), ""])


def _has_driver(root: str) -> bool:
    """Return whether git already has a driver for the attribute of plans."""
    return not git_process.run_git(root, "config", "--get", f"merge.{ATTRIBUTE}.driver").status
