"""What git knows of earlier states of a repository: each question is one process, without GitPython."""

from __future__ import annotations

import os
import subprocess
import tempfile

from execplan import trace
from execplan.errors import INPUT, ExecplanError
from execplan.repo import ask
from execplan.repo.ask import REGULAR, Staged
from execplan.repo.git_read import prepared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import IO

    from execplan.repo.home import Home

_PART = 1 << 16
_HEX = b"0123456789abcdef"


def commit_of(home: Home, revision: str) -> str | None:
    """The id of the commit that a revision names, None where it names none; raises ExecplanError when git refuses."""
    asked = ("rev-parse", "-q", "--verify", "--end-of-options", revision + "^{commit}")
    found = ask.answer(home, *asked, no=1)
    line = b"" if found is None else found.strip()
    return line.decode() if line and not line.strip(_HEX) else None


def merge_base(home: Home, one: str, other: str) -> str | None:
    """The last commit that two commits, named by their ids, have in common; None where there is none."""
    found = ask.answer(home, "merge-base", one, other, no=1)
    return None if found is None else found.decode().strip()


def branched(home: Home, revision: str) -> str:
    """The commit at which the branch left a revision; raises ExecplanError."""
    head, other = commit_of(home, "HEAD"), commit_of(home, revision)
    base = merge_base(home, head, other) if head is not None and other is not None else None
    if base is None:
        why = "has no commit in common with HEAD" if other is not None else "names no commit"
        hint = "see which there are: git branch -a, git log --oneline"
        raise ExecplanError("no-such-revision", f"{revision!r} {why}", exit=INPUT, hint=hint)
    return base


def committed(home: Home, commit: str, folders: Sequence[str]) -> list[Staged]:
    """The regular files that a commit holds below some folders, named from the root; of all for none."""
    out = ask.output(home, "--literal-pathspecs", "ls-tree", "-rz", "--full-tree", commit, "--", *folders)
    found = []
    for line in out.split(b"\0"):
        about, tab, path = line.partition(b"\t")
        if tab and about[:6].decode() in REGULAR:
            found.append(Staged(os.fsdecode(path), about.rpartition(b" ")[2].decode()))
    return found


def blob(home: Home, path: str, data: bytes) -> str:
    """The id that bytes would have as the content of a file, named from the root; raises ExecplanError."""
    return ask.output(home, "hash-object", "--stdin", "--path", path, stdin=data).decode().strip()


def stored(home: Home, content: str, paths: Sequence[str], *, here: bool = False) -> bool:
    """Whether a commit holds one of the paths with this content: of what is checked out, or of anything git knows of.

    Stashes and what only a reflog knows count; raises ExecplanError.
    """
    if here and commit_of(home, "HEAD") is None:
        return False
    where = ("HEAD",) if here else ("--all", "--reflog")
    asked = ("log", "-1", "-m", "--format=%H", "--full-history", f"--find-object={content}", *where)
    return bool(ask.output(home, "--literal-pathspecs", *asked, "--", *paths).strip())


def checked_out(home: Home, path: str) -> str:
    """The id of a file's content in HEAD, nothing where it is not in it; raises ExecplanError."""
    found = ask.answer(home, "rev-parse", "-q", "--verify", "--end-of-options", f"HEAD:{path}", no=1)
    return "" if found is None else found.decode().strip()


def ever(home: Home, folders: Sequence[str]) -> set[str]:
    """The paths from the root of every file that was ever committed below some folders; raises ExecplanError."""
    asked = ("log", "--all", "--full-history", "-m", "--no-renames", "--format=", "--name-only", "-z")
    out = ask.output(home, "-c", "diff.relative=false", "--literal-pathspecs", *asked, "--", *folders)
    return {os.fsdecode(path.lstrip(b"\n")) for path in out.split(b"\0") if path.strip()}


def differing(home: Home, commit: str, folders: Sequence[str] = ()) -> list[str]:
    """The tracked files on disk that differ from a commit, below some folders or in all; raises ExecplanError."""
    asked = (
        "-c",
        "diff.relative=false",
        "diff",
        "--name-only",
        "-z",
        "--no-renames",
        "--no-ext-diff",
        "--diff-filter=d",
    )
    return [
        os.fsdecode(path)
        for path in ask.output(home, "--literal-pathspecs", *asked, commit, "--", *folders).split(b"\0")
        if path
    ]


def untracked(home: Home) -> list[str]:
    """The files that git neither tracks nor ignores; raises ExecplanError."""
    paths = ask.output(home, "ls-files", "-z", "--others", "--exclude-standard").split(b"\0")
    return [os.fsdecode(path) for path in paths if path]


def steps(home: Home, commit: str) -> Iterator[list[str]]:
    """What each commit changed, the newest first; a merge is one step. Git is stopped when nobody asks for more."""
    asked = ["-c", "diff.relative=false", "log", "-z", "--name-only", "--no-renames", "--no-show-signature"]
    asked += ["-m", "--first-parent", "--format=%x00c", commit, "--"]
    ask.require_regular_files(home)
    trace.tell(f"run git {' '.join(asked)}")
    command, environment = prepared(home.root, asked)
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, cwd=home.root, env=environment, stdout=pipe, stderr=null) as process:
        try:
            paths: list[str] | None = None
            for token in _tokens(process.stdout, b"\0"):
                if not token:  # before each commit
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


def absent(homes: Sequence[Home], symbols: set[str]) -> set[str]:
    """Those of some symbols that stand, as whole words, in no tracked file of a repository but the plans of these homes."""
    missing = {each for each in symbols if each.strip() and each.isprintable()}
    if not missing:
        return missing
    root = homes[0].root
    folders = sorted({home.shown(folder) for home in homes for folder in (home.plans, *home.archives)})
    without = [f":(top,exclude,literal){folder}" for folder in folders]
    asked = [
        "grep",
        "-F",
        "-w",
        "-o",
        "-h",
        "-I",
        "--no-textconv",
        "--no-recurse-submodules",
        "--no-color",
        "--no-line-number",
        "--no-column",
        "-f",
        "-",
        "--",
        *without,
    ]
    ask.require_regular_files(homes[0])
    trace.tell(f"run git {' '.join(asked)}")
    command, environment = prepared(root, asked)
    with tempfile.TemporaryFile() as given:
        given.write("".join([f"{each}\n" for each in sorted(missing)]).encode())
        given.seek(0)
        pipe, null = subprocess.PIPE, subprocess.DEVNULL
        with subprocess.Popen(command, cwd=root, env=environment, stdin=given, stdout=pipe, stderr=null) as process:
            for token in _tokens(process.stdout, b"\n"):
                word = token.decode("utf-8", "replace")
                if word in missing:
                    missing -= {each for each in missing if _holds(word, each)}  # a match hides those within it
                if not missing:
                    break
            else:
                if process.wait() > 1:
                    return set()  # git refused: nothing is known
            process.kill()
    return missing


def _holds(text: str, word: str) -> bool:
    """Whether a word stands in a text, with no letter, digit or underscore beside it."""
    at = text.find(word)
    while at >= 0:
        around = text[:at][-1:] + text[at + len(word) :][:1]
        if not any([char.isalnum() or char == "_" for char in around]):
            return True
        at = text.find(word, at + 1)
    return False


def _tokens(stream: IO[bytes] | None, end: bytes) -> Iterator[bytes]:
    """What stands before each end."""
    left = b""
    while stream is not None and (part := stream.read(_PART)):
        *whole, left = (left + part).split(end)
        yield from whole


def blobs(home: Home, paths: Sequence[str]) -> set[str]:
    """The ids of every content that a commit on any branch has given some paths; raises ExecplanError."""
    asked = ("log", "--all", "--full-history", "-m", "--no-renames", "--format=", "--raw", "--no-abbrev", "-z")
    out = ask.output(home, "-c", "diff.relative=false", "--literal-pathspecs", *asked, "--", *paths)
    lines = [part.lstrip(b"\n") for part in out.split(b"\0")]
    return {line.split(b" ")[3].decode("ascii") for line in lines if line.startswith(b":") and line.count(b" ") >= 4}


def blob_ids(data: bytes) -> set[str]:
    """The ids that a text may have as the content of a file: with git's two digests, as it is and with plain line ends."""
    from hashlib import sha1, sha256

    found = set()
    for each in {data, data.replace(b"\r\n", b"\n")}:
        held = b"blob %d\0" % len(each) + each
        found |= {sha1(held, usedforsecurity=False).hexdigest(), sha256(held).hexdigest()}
    return found
