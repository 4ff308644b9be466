"""What git says of the working tree, and what has changed in it since a plan was last written."""

from __future__ import annotations

import os

from execplan.context.bearings import Drift, Tree
from execplan.repo import ask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

COMMITS = 50
"""How many commits are looked at."""
_STATUS = ("status", "--porcelain=v2", "--branch", "-z", "--no-renames", "--ignore-submodules=all")
_LOG = ("log", "--first-parent", "-m", "--no-renames", "--no-ext-diff", "--no-show-signature", "--name-only", "-z")
_TRACKED = ("--literal-pathspecs", "ls-files", "-z", "--")
_PATHS_AT = {b"1": 8, b"2": 9, b"u": 10, b"?": 1}
"""How many fields stand before the path, by what a line of the status is about."""


def tree(home: Home, but: Sequence[str] = ()) -> Tree | None:
    """The working tree without these files and folders, absolute paths; None without git. Raises ExecplanError."""
    if home.git is None:
        return None
    heads: dict[bytes, str] = {}
    found: dict[str, list[str]] = {"staged": [], "changed": [], "untracked": []}
    ours = [home.shown(each) for each in but]
    for entry in ask.output(home, "--no-optional-locks", *_STATUS, "--untracked-files=normal").split(b"\0"):
        if entry.startswith(b"# branch."):
            name, _, value = entry[len(b"# branch.") :].partition(b" ")
            heads[name] = os.fsdecode(value)
        elif (at := _PATHS_AT.get(entry[:1])) is not None:
            path = os.fsdecode(entry.split(b" ", at)[-1])
            if not _within(path, ours):
                for what in _whats(entry):
                    found[what].append(path)
    head = heads.get(b"oid", "(initial)")
    head = "" if head == "(initial)" else head
    branch = heads.get(b"head", "(detached)")
    subject = os.fsdecode(ask.output(home, "log", "-1", "--no-show-signature", "--format=%s")) if head else ""
    paths = [tuple(sorted(each)) for each in found.values()]
    return Tree("" if branch == "(detached)" else branch, head, subject.strip(), *paths)


def drift(home: Home, ref: Ref, tree: Tree | None) -> Drift | None:
    """What has changed since the plan was last written, its own artifacts apart; None without git. Raises ExecplanError.

    A plan that is committed as it is was last written by that commit; else its file's time says when.
    """
    if home.git is None or tree is None:
        return None
    own = os.path.relpath(ref.real, os.path.realpath(home.root))
    ours = [own, home.shown(home.artifacts_of(ref.path, archived=ref.archived))]
    loose = {*tree.staged, *tree.changed, *tree.untracked}
    written = os.stat(ref.real).st_mtime
    commits = list(_commits(home)) if tree.head else []
    committed = not any([_within(own, [each.rstrip("/")]) for each in loose]) and (
        any([own in files for _, files in commits]) or bool(ask.output(home, *_TRACKED, own))
    )
    since = 0
    paths: set[str] = set()
    for moment, files in commits:
        if own in files if committed else moment <= written:
            break
        since += 1
        paths.update(files)
    paths.update([each for each in loose if _time(os.path.join(home.root, each)) > written])
    left = sorted([each for each in paths if not _within(each, ours)])
    return Drift(since, since == COMMITS, tuple(left))


def _whats(entry: bytes) -> Iterator[str]:
    """What a line of the status says of its path."""
    if entry[:1] == b"?":
        yield "untracked"
        return
    if entry[2:3] != b".":
        yield "staged"
    if entry[3:4] != b".":
        yield "changed"


def _commits(home: Home) -> Iterator[tuple[int, list[str]]]:
    """The last commits of the branch, the newest first: when each was made, and its files. Raises ExecplanError."""
    moment, files = 0, list[str]()
    for part in ask.output(home, *_LOG, f"-n{COMMITS}", "--format=%x01%ct").split(b"\0"):
        if part[:1] == b"\1" and part[1:].isdigit():
            if moment:
                yield moment, files
            moment, files = int(part[1:]), []
        elif path := os.fsdecode(part.removeprefix(b"\n")):
            files.append(path)
    if moment:
        yield moment, files


def _time(path: str) -> float:
    """When a file was changed; of one that is gone, when something was last put into or taken from its folder."""
    while True:
        try:
            return os.lstat(path).st_mtime
        except (FileNotFoundError, NotADirectoryError):
            path = os.path.dirname(path.rstrip("/"))


def _within(path: str, folders: Sequence[str]) -> bool:
    return any([path.rstrip("/") == each or path.startswith(f"{each}/") for each in folders])
