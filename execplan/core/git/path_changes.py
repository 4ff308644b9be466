"""The steps of a branch that changed some files: commits on it, with a merge as one step."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterator
from typing import NamedTuple

from execplan.core.git import git_query
from execplan.core.git.blob_reader import BlobReader
from execplan.core.project.project import Project

ADDED, DELETED = "A", "D"
"""Kinds of changes; all others change a file that stays."""

_MAX_PATHSPECS = 500
"""Maximum number of paths passed to git, which compares each changed file with all of them."""
_SEPARATORS = frozenset("\0\r\n")
"""Characters at which git would cut a path that it reads from its standard input."""
_COMMIT_MARK = b"\x01"
_PATH_LOG_ARGS = (
    *("log", "--first-parent", "-m", "--raw", "--no-abbrev", "--no-renames", "-z", "--no-show-signature"),
    "--format=%x01%H%x00%P%x00%ct%x00%s",
    "--stdin",
)


class PathChange(NamedTuple):
    """The change of a file in a step."""

    kind: str
    """ADDED, DELETED, or another letter of `git log --raw`."""
    former_blob: str
    """ID of the content before; zeros for a new file."""
    blob: str
    """ID of the content after; zeros for a deleted file."""


class HistoryStep(NamedTuple):
    """A commit on the branch, or a merge into it, with the files among those asked for that it changed."""

    position: int
    """Number of the step, counted back from the newest, which has 0."""
    commit: str
    """ID of the commit."""
    time: int
    """When it was committed, in seconds since 1970."""
    subject: str
    has_parent: bool
    """Whether a commit precedes it: in a root commit, and where a shallow clone ends, every file seems to be new."""
    changes: dict[str, PathChange]
    """Changes by path from the root of the repository."""


def read_steps(project: Project, paths: Collection[str]) -> list[HistoryStep]:
    """Return the steps up to HEAD that changed some of the paths, newest first; none before the first commit.

    Paths with a line break or a NUL are left out. Raises ExecplanError if git fails, also for a path outside the
    repository.
    """
    from execplan.core.git.git_history import resolve_commit

    requested_paths = {path for path in paths if path and _SEPARATORS.isdisjoint(path)}
    head = resolve_commit(project, "HEAD") if requested_paths else None
    if head is None:
        return []
    pathspecs = sorted(requested_paths) if len(requested_paths) <= _MAX_PATHSPECS else []
    stdin = b"\n".join([head.encode(), b"--", *[os.fsencode(path) for path in pathspecs], b""])
    config = ("-c", "diff.relative=false", "-c", "log.follow=false", "-c", "i18n.logOutputEncoding=UTF-8")
    out = git_query.output(project, *config, "--literal-pathspecs", *_PATH_LOG_ARGS, stdin=stdin)
    return list(_parse_steps(out, requested_paths))


def _parse_steps(out: bytes, requested_paths: Collection[str]) -> Iterator[HistoryStep]:
    """Yield the steps with requested changes from git's output."""
    stream = iter(out.split(b"\0"))
    step: HistoryStep | None = None
    position = 0
    for token in stream:
        field = token.lstrip(b"\n")
        if field.startswith(_COMMIT_MARK):
            if step is not None and step.changes:
                yield step
            parents, time, subject = next(stream, b""), next(stream, b""), next(stream, b"")
            step = HistoryStep(
                position,
                field[1:].decode("ascii", "replace"),
                int(time) if time.lstrip(b"-").isdigit() else 0,
                subject.decode("utf-8", "replace"),
                bool(parents.strip()),
                {},
            )
            position += 1
        elif field.startswith(b":") and step is not None:
            path = os.fsdecode(next(stream, b""))
            if path in requested_paths:
                _, _, former_blob, blob, kind = field.decode("ascii", "replace").split(" ")
                step.changes[path] = PathChange(kind[:1], former_blob, blob)
    if step is not None and step.changes:
        yield step


class ContentComparison:
    """Compares versions of files, which one git process reads. Close it, or use it in `with`."""

    def __init__(self, project: Project) -> None:
        self._reader = BlobReader(project)
        self._shares: dict[tuple[str, str], float] = {}

    def __enter__(self) -> ContentComparison:
        return self

    def __exit__(self, *_: object) -> None:
        self._reader.close()

    def share_of_lost_lines(self, old_blob: str, new_blob: str, min_lines: int) -> float:
        """Return the share of a file's lines, from 0 to 1, that a later version lacks; moved lines are not lost.

        The share is 0 for binary files, for those with fewer lines than the minimum, and for versions that git lacks.
        """
        key = old_blob, new_blob
        if key not in self._shares:
            old, new = self._read_lines(old_blob), self._read_lines(new_blob)
            lost = sum((Counter(old) - Counter(new)).values())
            self._shares[key] = lost / len(old) if len(old) >= min_lines else 0.0
        return self._shares[key]

    def _read_lines(self, blob: str) -> list[bytes]:
        content = self._reader.read(blob)
        data = content[0] if content is not None else b""
        return [] if b"\0" in data else data.splitlines()
