"""What git says of the working tree, and what has changed in it since a plan was last written."""

from __future__ import annotations

import os
from itertools import takewhile

from execplan.context.bearings import PlanDrift, WorkingTree
from execplan.record import NamedTuple
from execplan.repo import ask
from execplan.repo.edits.moved import former_paths
from execplan.repo.git import head_commit, operation_in_progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from execplan.repo.home import Project
    from execplan.repo.shelf import PlanRef

    IsOurs = Callable[[str, str], bool]

COMMITS = 50
"""How many commits are looked at."""
_STATUS = ("status", "--porcelain=v2", "--branch", "-z", "--no-renames", "--ignore-submodules=all")
_LOG = ("log", "--first-parent", "-m", "--no-renames", "--no-ext-diff", "--no-show-signature", "--name-status", "-z")
_TRACKED = ("--literal-pathspecs", "ls-files", "-z", "--")
_HEAD = b"# branch."
_INITIAL, _DETACHED = "(initial)", "(detached)"
_PATHS_AT = {b"1": 8, b"2": 9, b"u": 10, b"?": 1}
"""How many fields stand before the path, by what a line of the status is about."""


def _nothing_is_ours(path: str, commit: str) -> bool:
    return False


def questions(home: Project) -> list[tuple[str, ...]]:
    """What git is to be asked before `looked`; nothing without git."""
    if home.git is None:
        return []
    status = ("--no-optional-locks", *_STATUS, "--untracked-files=normal")
    log = [(*_LOG, f"-n{COMMITS}", "--format=%x01%H %ct %s")] if head_commit(home) else []
    return [status, *log]


def looked(
    home: Project, ref: PlanRef, answers: Sequence[bytes], but: Sequence[str] = (), is_ours: IsOurs = _nothing_is_ours
) -> tuple[WorkingTree, PlanDrift]:
    """The working tree without some files, absolute paths, and the drift since the plan was last written.

    `is_ours` says of a path and the last commit before the drift, if any, whether only execplan has changed the file
    since: that is no drift. Raises ExecplanError.
    """
    status, *log = answers
    commits = _commits(log[0]) if log else []
    tree = _tree(status, home.root, but)
    at = _at(commits, home.root, but)
    tree = tree._replace(pending_operation=operation_in_progress(home.git or "") or "")
    if at is not None:
        tree = tree._replace(head=at.id, subject=at.subject)
    return tree, _drift(home, ref, tree, commits, is_ours)


def _at(commits: list[_Commit], root: str, but: Sequence[str]) -> _Commit | None:
    """The last commit that changes more than some files: a page that is committed tells of none of its own."""
    for each in commits:
        if not each.files or any([os.path.join(root, path) not in but for path in each.files]):
            return each
    return commits[0] if commits else None


def _drift(home: Project, ref: PlanRef, tree: WorkingTree, commits: list[_Commit], is_ours: IsOurs) -> PlanDrift:
    """What is neither the plan nor in its artifacts, and newer.

    A plan that is committed as it is was last written by that commit; else its file's time says when.
    """
    own = os.path.relpath(ref.real_path, os.path.realpath(home.root))
    loose = {*tree.staged, *tree.changed, *tree.untracked}
    written = _time(ref.real_path)
    committed = own not in loose and _is_tracked(home, own, commits)
    since = list(takewhile(lambda each: own not in each.files if committed else each.moment > written, commits))
    ours = [own, home.display_path(home.plan_artifacts_dir(ref.path, archived=ref.archived))]

    def others(paths: Iterable[str]) -> list[str]:
        return [each for each in paths if not any([_within(each, mine) or _within(mine, each) for mine in ours])]

    found = {path for each in since for path in others(each.files)}
    found.update(others([each for each in loose if _time(os.path.join(home.root, each)) > written]))
    if found:
        left = [os.path.relpath(path, home.root) for path in former_paths(home, ref.path)]
        found = {path for path in found if not any([_within(path, each) for each in left])}
    base = commits[len(since)].id if len(since) < len(commits) else ""
    found = {path for path in found if not is_ours(path, base)}
    told = [each for each in since if not each.files or any([path in found for path in each.files])]
    return PlanDrift(len(told), len(since) == COMMITS, tuple(sorted(found)))


def _is_tracked(home: Project, path: str, commits: list[_Commit]) -> bool:
    """Whether git tracks a file; it is asked where none of the last commits tells."""
    for each in commits:
        if path in each.files:
            return each.files[path] != "D"
    return bool(ask.output(home, *_TRACKED, path))


class _Commit(NamedTuple):
    id: str
    moment: int
    """In seconds since 1970."""
    subject: str
    files: dict[str, str]
    """What became of each: `A`, `M`, `D`, …"""


def _tree(status: bytes, root: str, but: Sequence[str]) -> WorkingTree:
    """What the status says, without some files."""
    heads: dict[bytes, str] = {}
    found: dict[str, list[str]] = {"staged": [], "changed": [], "untracked": []}
    for entry in status.split(b"\0"):
        if entry.startswith(_HEAD):
            name, _, value = entry[len(_HEAD) :].partition(b" ")
            heads[name] = os.fsdecode(value)
        elif (at := _PATHS_AT.get(entry[:1])) is not None:
            path = os.fsdecode(entry.split(b" ", at)[-1])
            for what in _whats(entry) if not _holds_only(os.path.join(root, path), but) else ():
                found[what].append(path)
    head, branch = heads.get(b"oid", _INITIAL), heads.get(b"head", _DETACHED)
    staged, changed, untracked = [tuple(sorted(each)) for each in found.values()]
    branch, head = "" if branch == _DETACHED else branch, "" if head == _INITIAL else head
    return WorkingTree(branch, head, "", staged, changed, untracked)


def _whats(entry: bytes) -> Iterator[str]:
    """What a line of the status says of its path."""
    if entry[:1] == b"?":
        yield "untracked"
        return
    if entry[2:3] != b".":
        yield "staged"
    if entry[3:4] != b".":
        yield "changed"


def _commits(log: bytes) -> list[_Commit]:
    """The last commits of the branch, the newest first."""
    found: list[_Commit] = []
    parts = iter(log.split(b"\0"))
    for part in parts:
        commit, moment, subject = [*part[1:].split(b" ", 2), b"", b""][:3]
        if part[:1] == b"\1" and moment.isdigit():
            found.append(_Commit(commit.decode(), int(moment), os.fsdecode(subject).strip(), {}))
        elif what := part.strip():
            found[-1].files[os.fsdecode(next(parts, b""))] = what.decode()
    return found


def _holds_only(path: str, files: Sequence[str]) -> bool:
    """Whether a path is one of these files, or a folder that holds nothing else; that of a folder ends with a slash."""
    if not path.endswith("/"):
        return path in files
    if not any([each.startswith(path) for each in files]):
        return False
    return all([os.path.join(folder, name) in files for folder, _, names in os.walk(path) for name in names])


def _time(path: str) -> float:
    """When a file was changed; of one that is gone, when something was last put into or taken from its folder."""
    while True:
        try:
            return os.lstat(path).st_mtime
        except (FileNotFoundError, NotADirectoryError):
            path = os.path.dirname(path.rstrip("/"))


def _within(path: str, folder: str) -> bool:
    """Whether a path is another one, or below it."""
    return f"{path.rstrip('/')}/".startswith(f"{folder.rstrip('/')}/")
