"""Changes in the repository since a plan was last written, and the state of the working tree."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile

from execplan.context.plan_overview import PlanDrift, WorkingTree
from execplan.core.files.tree_walk import walk_tree
from execplan.core.git import git_query
from execplan.core.git.git_directory import head_commit, operation_in_progress
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.plan_journal import former_paths
from execplan.core.project.project import Project
from execplan.core.text.pure_paths import is_inside

IsOurs = Callable[[str, str], bool]

MAX_COMMITS = 50
"""Maximum number of commits to inspect."""
_STATUS_ARGS = ("status", "--porcelain=v2", "--branch", "-z", "--no-renames", "--ignore-submodules=all")
_LOG_ARGS = (
    "log",
    "--first-parent",
    "-m",
    "--no-renames",
    "--no-ext-diff",
    "--no-show-signature",
    "--name-status",
    "-z",
)
_LS_FILES_ARGS = ("--literal-pathspecs", "ls-files", "-z", "--")
_BRANCH_PREFIX = b"# branch."
_INITIAL, _DETACHED = "(initial)", "(detached)"
_PATH_FIELD_INDEXES = {b"1": 8, b"2": 9, b"u": 10, b"?": 1}
"""Index of the path field in a status line, by the first character of the line."""


def git_queries(project: Project) -> list[tuple[str, ...]]:
    """Return the git queries whose outputs `inspect_worktree` needs; empty without git."""
    if project.git is None:
        return []
    status = ("--no-optional-locks", *_STATUS_ARGS, "--untracked-files=normal")
    log = [(*_LOG_ARGS, f"-n{MAX_COMMITS}", "--format=%x01%H %ct %s")] if head_commit(project) else []
    return [status, *log]


def inspect_worktree(
    project: Project,
    ref: PlanRef,
    outputs: Sequence[bytes],
    excluded_files: Sequence[str] = (),
    is_ours: IsOurs = lambda path, commit: False,
) -> tuple[WorkingTree, PlanDrift]:
    """Return the state of the working tree, and the drift since the plan was last written.

    `excluded_files` are absolute paths to leave out. `is_ours` takes a path and the last commit before the drift, or an
    empty string, and returns whether only execplan has changed the file since. Such a change is no drift.
    Raises ExecplanError if git fails.
    """
    status, *log_outputs = outputs
    commits = _parse_log(log_outputs[0]) if log_outputs else []
    working_tree = _parse_status(status, project.root, excluded_files)
    last_commit = _last_relevant_commit(commits, project.root, excluded_files)
    working_tree = working_tree._replace(pending_operation=operation_in_progress(project.git or "") or "")
    if last_commit is not None:
        working_tree = working_tree._replace(head=last_commit.id, subject=last_commit.subject)
    return working_tree, _find_drift(project, ref, working_tree, commits, is_ours)


def _last_relevant_commit(commits: list[_Commit], root: str, excluded_files: Sequence[str]) -> _Commit | None:
    """Return the last commit that changes more than the excluded files.

    This way a committed page does not report its own commit.
    """
    for commit in commits:
        if not commit.files or any([os.path.join(root, path) not in excluded_files for path in commit.files]):
            return commit
    return commits[0] if commits else None


def _find_drift(
    project: Project, ref: PlanRef, working_tree: WorkingTree, commits: list[_Commit], is_ours: IsOurs
) -> PlanDrift:
    """Find newer changes outside the plan and its artifacts.

    If the plan has no uncommitted changes, its last commit determines when it was last written. Otherwise its
    modification time does.
    """
    plan_path = os.path.relpath(ref.real_path, os.path.realpath(project.root))
    uncommitted_paths = {*working_tree.staged, *working_tree.changed, *working_tree.untracked}
    plan_mtime = _modification_time(ref.real_path)
    is_committed = plan_path not in uncommitted_paths and _is_tracked(project, plan_path, commits)
    later_commits = list(
        takewhile(
            lambda commit: plan_path not in commit.files if is_committed else commit.timestamp > plan_mtime, commits
        )
    )
    plan_paths = [plan_path, project.display_path(project.plan_artifacts_dir(ref.path, archived=ref.archived))]

    def outside_plan(paths: Iterable[str]) -> list[str]:
        return [
            path
            for path in paths
            if not any([is_inside(path, plan_path) or is_inside(plan_path, path) for plan_path in plan_paths])
        ]

    drifted_paths = {path for commit in later_commits for path in outside_plan(commit.files)}
    drifted_paths.update(
        outside_plan(
            [path for path in uncommitted_paths if _modification_time(os.path.join(project.root, path)) > plan_mtime]
        )
    )
    if drifted_paths:
        former_plan_paths = [os.path.relpath(path, project.root) for path in former_paths(project, ref.path)]
        drifted_paths = {
            path
            for path in drifted_paths
            if not any([is_inside(path, former_path) for former_path in former_plan_paths])
        }
    base_commit = commits[len(later_commits)].id if len(later_commits) < len(commits) else ""
    drifted_paths = {path for path in drifted_paths if not is_ours(path, base_commit)}
    drifted_commits = [
        commit for commit in later_commits if not commit.files or any([path in drifted_paths for path in commit.files])
    ]
    return PlanDrift(len(drifted_commits), len(later_commits) == MAX_COMMITS, tuple(sorted(drifted_paths)))


def _is_tracked(project: Project, path: str, commits: list[_Commit]) -> bool:
    """Return whether git tracks a file; git is queried only if none of the last commits changes the file."""
    for commit in commits:
        if path in commit.files:
            return commit.files[path] != "D"
    return bool(git_query.output(project, *_LS_FILES_ARGS, path))


class _Commit(NamedTuple):
    id: str
    timestamp: int
    """Commit time in seconds since 1970."""
    subject: str
    files: dict[str, str]
    """Status of each changed file by its path: `A`, `M`, `D`, and so on."""


def _parse_status(status: bytes, root: str, excluded_files: Sequence[str]) -> WorkingTree:
    """Parse the output of `git status`, without the excluded files."""
    branch_headers: dict[bytes, str] = {}
    paths_by_kind: dict[str, list[str]] = {"staged": [], "changed": [], "untracked": []}
    for entry in status.split(b"\0"):
        if entry.startswith(_BRANCH_PREFIX):
            name, _, value = entry[len(_BRANCH_PREFIX) :].partition(b" ")
            branch_headers[name] = os.fsdecode(value)
        elif (path_index := _PATH_FIELD_INDEXES.get(entry[:1])) is not None:
            path = os.fsdecode(entry.split(b" ", path_index)[-1])
            for kind in _change_kinds(entry) if not _contains_only(os.path.join(root, path), excluded_files) else ():
                paths_by_kind[kind].append(path)
    head, branch = branch_headers.get(b"oid", _INITIAL), branch_headers.get(b"head", _DETACHED)
    staged, changed, untracked = [tuple(sorted(kind_paths)) for kind_paths in paths_by_kind.values()]
    branch, head = "" if branch == _DETACHED else branch, "" if head == _INITIAL else head
    return WorkingTree(branch, head, "", staged, changed, untracked)


def _change_kinds(entry: bytes) -> Iterator[str]:
    """Yield the kinds of change that a status line reports for its path."""
    if entry[:1] == b"?":
        yield "untracked"
        return
    if entry[2:3] != b".":
        yield "staged"
    if entry[3:4] != b".":
        yield "changed"


def _parse_log(log: bytes) -> list[_Commit]:
    """Parse the log into the last commits of the branch, newest first."""
    commits: list[_Commit] = []
    fields = iter(log.split(b"\0"))
    for field in fields:
        commit, timestamp, subject = [*field[1:].split(b" ", 2), b"", b""][:3]
        if field[:1] == b"\1" and timestamp.isdigit():
            commits.append(_Commit(commit.decode(), int(timestamp), os.fsdecode(subject).strip(), {}))
        elif file_status := field.strip():
            commits[-1].files[os.fsdecode(next(fields, b""))] = file_status.decode()
    return commits


def _contains_only(path: str, files: Sequence[str]) -> bool:
    """Return whether a path is one of the files, or a directory that contains nothing else.

    The path of a directory ends with a slash.
    """
    if not path.endswith("/"):
        return path in files
    if not any([file_path.startswith(path) for file_path in files]):
        return False
    return all([os.path.join(directory, name) in files for directory, _, names in walk_tree(path) for name in names])


def _modification_time(path: str) -> float:
    """Return when a file was modified; for a deleted file, when its nearest existing parent directory was modified."""
    while True:
        try:
            return os.lstat(path).st_mtime
        except (FileNotFoundError, NotADirectoryError):
            path = os.path.dirname(path.rstrip("/"))
