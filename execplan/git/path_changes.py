"""The steps of a branch that changed some files: commits on it, with a merge as one step."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from execplan.git import git_query

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from execplan.project.project import Project

ADDED, DELETED = "A", "D"
"""Kinds of changes; all others change a file that stays."""

_MAX_PATHSPECS = 500
"""Maximum number of paths passed to git, which compares each changed file with all of them."""
_COMMIT_MARK = b"\x01"
_LOG_ARGS = (
    *("log", "--first-parent", "-m", "--raw", "--no-abbrev", "--no-renames", "-z", "--no-show-signature"),
    "--format=%x01%H%x00%P%x00%ct%x00%s",
    "--stdin",
)


class Step(NamedTuple):
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
    changes: dict[str, str]
    """Kind of change by path from the root of the repository."""


def read_steps(project: Project, paths: Collection[str]) -> list[Step]:
    """Return the steps up to HEAD that changed some of the paths, newest first; none before the first commit.

    Raises ExecplanError if git fails.
    """
    from execplan.git.git_history import resolve_commit

    wanted = {path for path in paths if path and "\n" not in path}
    head = resolve_commit(project, "HEAD") if wanted else None
    if head is None:
        return []
    pathspecs = sorted(wanted) if len(wanted) <= _MAX_PATHSPECS else []
    stdin = b"\n".join([head.encode(), b"--", *[os.fsencode(path) for path in pathspecs], b""])
    config = ("-c", "diff.relative=false", "-c", "log.follow=false", "-c", "i18n.logOutputEncoding=UTF-8")
    out = git_query.output(project, *config, "--literal-pathspecs", *_LOG_ARGS, stdin=stdin)
    return list(_parse_steps(out, wanted))


def _parse_steps(out: bytes, wanted: Collection[str]) -> Iterator[Step]:
    """Yield the steps with wanted changes from git's output."""
    stream = iter(out.split(b"\0"))
    step: Step | None = None
    position = 0
    for token in stream:
        field = token.lstrip(b"\n")
        if field.startswith(_COMMIT_MARK):
            if step is not None and step.changes:
                yield step
            parents, time, subject = next(stream, b""), next(stream, b""), next(stream, b"")
            step = Step(
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
            if path in wanted:
                step.changes[path] = field.rpartition(b" ")[2][:1].decode("ascii", "replace")
    if step is not None and step.changes:
        yield step


def count_deleted_lines(project: Project, commit: str, paths: Collection[str]) -> dict[str, tuple[int, int]]:
    """Return, by path, how many lines of the file in a commit are gone in HEAD, and how many it had.

    Binary and empty files are left out. Raises ExecplanError if git fails.
    """
    if not paths:
        return {}
    pathspecs = ("--", *sorted(paths))
    grep_args = ("grep", "-I", "-z", "-c", "--no-color", "-e", "", commit, *pathspecs)
    counts = git_query.output_or_none(project, "--literal-pathspecs", *grep_args, no_status=1) or b""
    sizes = {}
    for line in counts.split(b"\n"):
        name, _, count = line.partition(b"\0")
        if count.isdigit():
            sizes[os.fsdecode(name.partition(b":")[2])] = int(count)
    diff_args = ("diff", "--numstat", "-z", "--no-renames", commit, "HEAD", *pathspecs)
    deleted_counts = {}
    for record in git_query.output(project, "-c", "diff.relative=false", "--literal-pathspecs", *diff_args).split(
        b"\0"
    ):
        deleted, _, name = record.partition(b"\t")[2].partition(b"\t")
        path = os.fsdecode(name)
        if deleted.isdigit() and path in sizes:
            deleted_counts[path] = int(deleted), sizes[path]
    return deleted_counts
