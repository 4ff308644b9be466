"""The commits that changed some files, with the content of each file before and after."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from execplan.core.git import git_query
from execplan.core.git.git_directory import is_partial
from execplan.core.git.git_history import resolve_commit
from execplan.core.git.git_query import REGULAR_MODES
from execplan.core.project.project import Project

_LOG_ARGS = ("log", "--date-order", "--no-show-signature", "--raw", "--no-abbrev", "-z", "-M")
_MERGE_ARGS = ("-c", "--combined-all-paths")
"""Of a merge, list only the files that differ from those of every parent."""
_FORMAT = "--format=%H%x00%at%x00%aN"
_MAX_SECONDS = 253_402_300_799
"""End of the year 9999; git accepts later times, and Python does not."""


class CommittedChange(NamedTuple):
    """A change of a regular file; `former` fields have a value for each parent of the commit, or one for a root."""

    path: str
    """Path from the repository root; of a deleted file, the path that it had."""
    former_paths: tuple[str, ...]
    """The file's path in each parent."""
    blob: str
    """ID of the content, or empty if there is no regular file any more."""
    former_blobs: tuple[str, ...]
    """ID of the content in each parent, or empty if it has no regular file there."""


class Commit(NamedTuple):
    """A commit with its changes."""

    id: str
    author: str
    time: int
    """When the author wrote it, in seconds since 1970."""
    changes: list[CommittedChange]


def read_commits(project: Project, revision: str, folders: Sequence[str]) -> list[Commit]:
    """Return the commits up to a revision that changed files below the directories, children before their parents.

    A side branch is left out if a merge discarded its changes, or if it has none in total. Raises ExecplanError if git fails.
    """
    config = ("-c", "diff.relative=false", "-c", "log.follow=false", "-c", "i18n.logOutputEncoding=UTF-8")
    args = (*_LOG_ARGS, *_MERGE_ARGS, _FORMAT, revision)
    out = git_query.output(project, *config, "--literal-pathspecs", *args, "--", *folders)
    return list(_parse_log(out.split(b"\0")))


def read_renames(project: Project, folders: Sequence[str]) -> list[tuple[str, str]]:
    """Return the committed renames of files below the directories, each with its old and new path, oldest first.

    Raises ExecplanError if git fails.
    """
    config = ("-c", "diff.relative=false", "-c", "log.follow=false")
    args = (*_LOG_ARGS, "--diff-filter=R", _FORMAT, "HEAD", "--", *folders)
    commits = list(_parse_log(git_query.output(project, *config, "--literal-pathspecs", *args).split(b"\0")))
    return [(change.former_paths[0], change.path) for commit in reversed(commits) for change in commit.changes]


def absent_blobs(project: Project, folders: Sequence[str]) -> frozenset[str]:
    """Return the IDs of the contents below the directories that a partial clone has not fetched; empty in other clones.

    The contents are those of the commits up to HEAD. Raises ExecplanError if git fails.
    """
    head = resolve_commit(project, "HEAD") if is_partial(project) else None
    if head is None:
        return frozenset()
    args = ("rev-list", "--objects", "--missing=print", head, "--", *folders)
    lines = git_query.output(project, "--literal-pathspecs", *args).splitlines()
    return frozenset([line[1:].decode("ascii") for line in lines if line.startswith(b"?")])


def last_commit_before(project: Project, seconds: int) -> str | None:
    """Return the last commit of the branch before a time in seconds since 1970, or None.

    The time when a commit was added to the branch counts. Raises ExecplanError if git fails.
    """
    args = ("rev-list", "-1", "--first-parent", f"--before=@{seconds - 1}", "HEAD", "--")
    out = git_query.output(project, *args)
    return out.decode("ascii").strip() or None


def _parse_log(fields: list[bytes]) -> Iterator[Commit]:
    """Yield the commits from the fields of git's output."""
    stream = iter(fields)
    commit: Commit | None = None
    for token in stream:
        if not (field := token.lstrip(b"\n")):
            continue
        if field.startswith(b":") and commit is not None:
            commit.changes.extend(_parse_change(field, stream))
            continue
        if commit is not None:
            yield commit
        timestamp, author = next(stream, b""), next(stream, b"")
        time = min(int(timestamp), _MAX_SECONDS) if timestamp.lstrip(b"-").isdigit() else 0
        commit = Commit(field.decode("ascii", "replace"), author.decode("utf-8", "replace"), time, [])
    if commit is not None:
        yield commit


def _parse_change(metadata: bytes, stream: Iterator[bytes]) -> Iterator[CommittedChange]:
    """Yield the change from its metadata, and take the paths that follow it; nothing for links and submodules.

    The metadata has a colon, a mode and a blob for each parent; then follow the new mode and blob, and the status.
    """
    colons = len(metadata) - len(metadata.lstrip(b":"))
    words = metadata[colons:].decode("ascii").split(" ")
    modes, blobs, status = words[: colons + 1], words[colons + 1 : 2 * colons + 2], words[-1]
    has_all_paths = colons > 1 or status[0] in "RC"
    paths = [os.fsdecode(next(stream, b"")) for _ in range(colons + 1 if has_all_paths else 1)]
    files = [blob if mode in REGULAR_MODES else "" for mode, blob in zip(modes, blobs, strict=True)]
    if any(files):
        former_paths = tuple(paths[:-1]) if has_all_paths else (paths[0],)
        yield CommittedChange(paths[-1], former_paths, files[-1], tuple(files[:-1]))


def changes_since(project: Project, commit: str, folders: Sequence[str]) -> list[CommittedChange]:
    """Return the tracked files below the directories that differ from a commit, staged or not.

    Their blobs are those of the index, or zeros. Raises ExecplanError if git fails.
    """
    args = ("diff", "--raw", "--no-abbrev", "-z", "-M", commit)
    out = git_query.output(project, "-c", "diff.relative=false", "--literal-pathspecs", *args, "--", *folders)
    stream = iter(out.split(b"\0"))
    return [change for field in stream if field.startswith(b":") for change in _parse_change(field, stream)]
