"""Git queries whose output is read while git writes it, so that git can be stopped as soon as the answer is known."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from typing import IO

from execplan.core import trace
from execplan.core.git import git_query
from execplan.core.git.git_command import prepare_git_command
from execplan.core.project.project import Project

_CHUNK_BYTES = 1 << 16


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
