"""Git queries about earlier states of a repository; each is one process, without GitPython."""

from __future__ import annotations

import os
from collections.abc import Sequence

from execplan.core.errors import ExecplanError
from execplan.core.git import git_query
from execplan.core.git.git_query import REGULAR_MODES, GitFile
from execplan.core.project.project import Project

_HEX = b"0123456789abcdef"
_DIFF_COMMAND = (
    *("--literal-pathspecs", "-c", "diff.relative=false", "diff"),
    *("--name-only", "-z", "--no-renames", "--no-ext-diff", "--diff-filter=d"),
)


def resolve_commit(project: Project, revision: str) -> str | None:
    """Return the ID of the commit that a revision names, or None if it names none.

    Raises ExecplanError if git fails.
    """
    args = ("rev-parse", "-q", "--verify", "--end-of-options", revision + "^{commit}")
    try:
        output = git_query.output_or_none(project, *args, no_status=1)
    except ExecplanError:
        if not _is_directory_or_file(project, revision):
            raise
        return None
    line = b"" if output is None else output.strip()
    return line.decode() if line and not line.strip(_HEX) else None


def _is_directory_or_file(project: Project, revision: str) -> bool:
    """Return whether a revision names a directory or a file, such as `HEAD^{tree}`. Raises ExecplanError if git fails."""
    answer = git_query.output(project, "cat-file", "--batch-check", stdin=os.fsencode(revision) + b"^{}\n")
    return answer.split()[1:2] in ([b"tree"], [b"blob"])


def merge_base(project: Project, left: str, right: str) -> str | None:
    """Return the last common ancestor of two commits, given by their IDs; None if there is none."""
    output = git_query.output_or_none(project, "merge-base", left, right, no_status=1)
    return None if output is None else output.decode().strip()


def branch_point(project: Project, revision: str) -> str:
    """Return the commit at which the branch left a revision. Raises ExecplanError if there is none."""
    head_commit, other_commit = resolve_commit(project, "HEAD"), resolve_commit(project, revision)
    base = (
        merge_base(project, head_commit, other_commit) if head_commit is not None and other_commit is not None else None
    )
    if base is None:
        reason = "has no commit in common with HEAD" if other_commit is not None else "does not name a commit"
        hint = "list branches and commits: git branch -a, git log --oneline"
        raise ExecplanError("no-such-revision", f"{revision!r} {reason}", hint=hint)
    return base


def committed_files(project: Project, commit: str, folders: Sequence[str]) -> list[GitFile]:
    """Return a commit's regular files below the directories, relative to the root; all if no directory is given."""
    out = git_query.output(project, "--literal-pathspecs", "ls-tree", "-rz", "--full-tree", commit, "--", *folders)
    files = []
    for line in out.split(b"\0"):
        metadata, tab, path = line.partition(b"\t")
        if tab and metadata[:6].decode() in REGULAR_MODES:
            files.append(GitFile(os.fsdecode(path), metadata.rpartition(b" ")[2].decode()))
    return files


def head_blob(project: Project, path: str) -> str:
    """Return the blob ID of a file in HEAD, or an empty string if HEAD lacks it. Raises ExecplanError if git fails."""
    output = git_query.output_or_none(
        project, "rev-parse", "-q", "--verify", "--end-of-options", f"HEAD:{path}", no_status=1
    )
    return "" if output is None else output.decode().strip()


def ever_committed_paths(project: Project, folders: Sequence[str]) -> set[str]:
    """Return the paths of all files ever committed below the directories. Raises ExecplanError if git fails."""
    args = ("log", "--all", "--full-history", "-m", "--no-renames", "--format=", "--name-only", "-z")
    out = git_query.output(project, "-c", "diff.relative=false", "--literal-pathspecs", *args, "--", *folders)
    return {os.fsdecode(path.lstrip(b"\n")) for path in out.split(b"\0") if path.strip()}


def changed_files(project: Project, commit: str) -> list[str]:
    """Return the tracked files on disk that differ from a commit. Raises ExecplanError if git fails."""
    return _split_paths(git_query.output(project, *_DIFF_COMMAND, commit, "--"))


def modified_files(project: Project, folders: Sequence[str]) -> list[str]:
    """Return the tracked files on disk below the directories that differ from the index, or whose index entry from HEAD.

    Raises ExecplanError if git fails.
    """
    # `git diff HEAD` with paths takes 8 seconds for an index of 100,000 files, and these two 0.2 seconds (git 2.39)
    questions = [(*_DIFF_COMMAND, *arguments, "--", *folders) for arguments in ((), ("--cached", "HEAD"))]
    with git_query.BackgroundQueries(project, questions) as queries:
        unstaged, staged = queries.collect_outputs()
    return sorted({*_split_paths(unstaged), *_split_paths(staged)})


def _split_paths(output: bytes) -> list[str]:
    return [os.fsdecode(path) for path in output.split(b"\0") if path]


def untracked_files(project: Project) -> list[str]:
    """Return the untracked files that git does not ignore. Raises ExecplanError if git fails."""
    return _split_paths(git_query.output(project, "ls-files", "-z", "--others", "--exclude-standard"))


def committed_blobs(project: Project, paths: Sequence[str], *, with_reflogs: bool = False) -> set[str]:
    """Return the blob IDs that the paths have had in commits on any branch. Raises ExecplanError if git fails.

    With `with_reflogs`, commits that are only in a reflog count too, such as older stashes and what a rebase replaced.
    """
    reflog_args = ("--reflog",) if with_reflogs else ()
    args = ("log", "--all", *reflog_args, *"--full-history -m --no-renames --format= --raw --no-abbrev -z".split())
    out = git_query.output(project, "-c", "diff.relative=false", "--literal-pathspecs", *args, "--", *paths)
    lines = [field.lstrip(b"\n") for field in out.split(b"\0")]
    return {line.split(b" ")[3].decode("ascii") for line in lines if line.startswith(b":") and line.count(b" ") >= 4}


def possible_blob_ids(data: bytes) -> set[str]:
    """Return the possible blob IDs of a text: with both of git's hash functions, unchanged and with LF line endings."""
    from hashlib import sha1, sha256

    ids = set()
    for content in {data, data.replace(b"\r\n", b"\n")}:
        raw_blob = b"blob %d\0" % len(content) + content
        ids |= {sha1(raw_blob, usedforsecurity=False).hexdigest(), sha256(raw_blob).hexdigest()}
    return ids
