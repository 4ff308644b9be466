"""Git queries about earlier states of a repository; each is one process, without GitPython."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from typing import IO

from execplan.core import trace
from execplan.core.errors import ExecplanError
from execplan.core.git import git_query
from execplan.core.git.git_command import prepare_git_command
from execplan.core.git.git_query import REGULAR_MODES, GitFile
from execplan.core.project.project import Project

_CHUNK_BYTES = 1 << 16
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


def iter_commit_changes(project: Project, commit: str) -> Iterator[list[str]]:
    """Yield the changed paths of each commit, newest first; a merge is one step. Closing the generator stops git."""
    args = ["-c", "diff.relative=false", "log", "-z", "--name-only", "--no-renames", "--no-show-signature"]
    args += ["-m", "--first-parent", "--format=%x00c", commit, "--"]
    git_query.require_regular_files(project)
    trace.log(f"run git {' '.join(args)}")
    command, environment = prepare_git_command(project.root, args)
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, cwd=project.root, env=environment, stdout=pipe, stderr=null) as process:
        try:
            paths: list[str] | None = None
            for token in _split_stream(process.stdout, b"\0"):
                if not token:  # an empty token precedes each commit
                    if paths is not None:
                        yield paths
                    paths = None
                elif paths is None:
                    paths = []
                else:
                    path = os.fsdecode(token)
                    paths.append(path if paths else path.removeprefix("\n"))
            if paths is not None:
                yield paths
        finally:
            process.kill()


def absent_symbols(projects: Sequence[Project], symbols: set[str]) -> set[str]:
    """Return the symbols that appear as whole words in no tracked file of a repository outside the projects' plans."""
    if not (missing := {symbol for symbol in symbols if symbol.strip() and symbol.isprintable()}):
        return missing
    root = projects[0].root
    folders = sorted({project.display_path(folder) for project in projects for folder in project.plan_paths})
    exclusions = [f":(top,exclude,literal){folder}" for folder in folders]
    args = ["grep", "-F", "-w", "-o", "-h", "-I", "--no-textconv", "--no-recurse-submodules", "--no-color"]
    args += ["--no-line-number", "--no-column", "-f", "-", "--", *exclusions]
    git_query.require_regular_files(projects[0])
    trace.log(f"run git {' '.join(args)}")
    command, environment = prepare_git_command(root, args)
    import tempfile  # few queries need it, and it loads the compression modules

    with tempfile.TemporaryFile() as stdin_file:
        stdin_file.write("".join([f"{symbol}\n" for symbol in sorted(missing)]).encode())
        stdin_file.seek(0)
        pipe, null = subprocess.PIPE, subprocess.DEVNULL
        with subprocess.Popen(
            command, cwd=root, env=environment, stdin=stdin_file, stdout=pipe, stderr=null
        ) as process:
            for token in _split_stream(process.stdout, b"\n"):
                match = token.decode("utf-8", "replace")
                if match in missing:
                    missing -= {
                        symbol for symbol in missing if _has_whole_word(match, symbol)
                    }  # a match hides those within it
                if not missing:
                    break
            else:
                if process.wait() > 1:
                    return set()  # git failed, so nothing is known
            process.kill()
    return missing


def _has_whole_word(text: str, word: str) -> bool:
    """Return whether a word appears in a text without a letter, digit or underscore next to it."""
    at = text.find(word)
    while at >= 0:
        around = text[:at][-1:] + text[at + len(word) :][:1]
        if not any([char.isalnum() or char == "_" for char in around]):
            return True
        at = text.find(word, at + 1)
    return False


def _split_stream(stream: IO[bytes] | None, end: bytes) -> Iterator[bytes]:
    """Yield the parts of a stream before each terminator."""
    buffer = b""
    while stream is not None and (chunk := stream.read(_CHUNK_BYTES)):
        *complete, buffer = (buffer + chunk).split(end)
        yield from complete


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
