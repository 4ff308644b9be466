"""The main branch of a repository, and the messages of the commits in it that name issues or pull requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from execplan.core.git import git_query
from execplan.core.git.git_directory import LOCAL_REFS, REMOTE_REFS
from execplan.core.git.git_history import resolve_commit
from execplan.core.project.project import Project

_PATTERNS = ("#[0-9]", "![0-9]", "/[0-9]+", "This reverts commit", "pull request", "PR [0-9]")
"""Parts of messages that name an issue, a pull request or a reverted commit, as extended regular expressions."""


class CommitMessage(NamedTuple):
    """A commit in the main branch with its message."""

    commit: str
    time: int
    """When it was committed, in seconds since 1970."""
    subject: str
    body: str


def main_revisions(project: Project) -> list[str]:
    """Return the refs of the main branch: the remote's, which has what others merged, and the local one; else HEAD.

    Empty before the first commit. Raises ExecplanError if git fails.
    """
    out = git_query.output(project, "for-each-ref", "--format=%(refname)", *REMOTE_REFS, *LOCAL_REFS)
    existing = set(out.decode("utf-8", "replace").split("\n"))
    candidate_refs = [next((ref for ref in refs if ref in existing), "") for refs in (REMOTE_REFS, LOCAL_REFS)]
    revisions = [ref for ref in candidate_refs if ref and resolve_commit(project, ref) is not None]
    return revisions or (["HEAD"] if resolve_commit(project, "HEAD") is not None else [])


def read_messages(project: Project) -> Iterator[CommitMessage]:
    """Yield the commits of the main branch whose messages may name issues or pull requests, newest first.

    Raises ExecplanError if git fails.
    """
    revisions = main_revisions(project)
    if not revisions:
        return
    patterns = [f"--grep={pattern}" for pattern in _PATTERNS]
    args = ("log", "-z", "-E", "-i", "--no-show-signature", "--format=%H%n%ct%n%B", *patterns, *revisions, "--")
    out = git_query.output(project, "-c", "log.follow=false", "-c", "i18n.logOutputEncoding=UTF-8", *args)
    for record in out.split(b"\0"):
        commit, _, rest = record.lstrip(b"\n").partition(b"\n")
        time, _, message = rest.partition(b"\n")
        subject, _, body = message.decode("utf-8", "replace").partition("\n")
        if commit:
            yield CommitMessage(commit.decode("ascii", "replace"), int(time) if time.isdigit() else 0, subject, body)


def remote_name(project: Project) -> str:
    """Return the owner and name of the repository in the URL of the remote `origin`; empty without one, or for a path.

    Raises ExecplanError if git fails.
    """
    out = git_query.output_or_none(project, "config", "--get", "remote.origin.url", no_status=1)
    url = (out or b"").decode("utf-8", "replace").strip().removesuffix("/").removesuffix(".git")
    if url.startswith(("/", ".", "file://")) or ":" not in url:
        return ""
    path = url.partition("://")[2].partition("/")[2] if "://" in url else url.rpartition(":")[2]
    parts = [part for part in path.split("/") if part]
    return "/".join(parts[-2:]) if len(parts) > 1 else ""
