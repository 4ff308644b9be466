"""Git commands that change worktrees and branches, with the hooks and filters of the repository.

They finish after Ctrl-C, so that no worktree is left half updated.
"""

from __future__ import annotations

import os
import subprocess
from time import monotonic, sleep
from typing import NamedTuple

from execplan.core import trace
from execplan.core.errors import ExecplanError
from execplan.core.files.file_lock import timeout
from execplan.core.git.git_query import git_failed_error

_REPOSITORY_VARIABLES = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"),
    *("GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_REFLOG_ACTION"),
)
"""Environment variables with which git calls a hook, and which would direct a command to the hook's worktree."""
_MAX_LINES = 20
"""Maximum number of lines of git's output that an error shows."""


class GitOutput(NamedTuple):
    """The result of a git command."""

    status: int
    output: str
    errors: str

    @property
    def lines(self) -> list[str]:
        """All lines that git or a hook printed, errors first."""
        return [line.rstrip() for line in f"{self.errors}\n{self.output}".splitlines() if line.strip()]


def run_git(directory: str, *arguments: str) -> GitOutput:
    """Run a git command in a worktree and return its result, waiting while another process locks the index.

    Raises ExecplanError if git is missing or the wait times out.
    """
    deadline = monotonic() + timeout()
    while True:
        result = _run_once(directory, arguments)
        if not result.status or ".lock" not in result.errors or "File exists" not in result.errors:
            return result
        if monotonic() >= deadline:
            raise git_busy_error(directory, result.lines[0])
        sleep(0.05)


def git_busy_error(directory: str, reason: str) -> ExecplanError:
    """Return the error for a worktree in which another git process has locked the index for too long."""
    return ExecplanError(
        "git-busy",
        f"another git process is working in {directory}; waited {timeout():g} s: {reason}",
        hint="if no git process is running, remove the file that git names, then try again",
    )


def run_git_checked(directory: str, *arguments: str) -> str:
    """Run a git command in a worktree and return its output. Raises ExecplanError if it fails."""
    result = run_git(directory, *arguments)
    if result.status:
        raise command_failed_error(arguments, result)
    return result.output


def command_failed_error(arguments: tuple[str, ...], result: GitOutput) -> ExecplanError:
    """Return the error for a git command that failed, with what it printed."""
    lines = result.lines[-_MAX_LINES:]
    first = lines[0].removeprefix("fatal: ").removeprefix("error: ") if lines else f"exit status {result.status}"
    name = " ".join([argument for argument in arguments[:2] if not argument.startswith("-")])
    error = git_failed_error(f"git {name} failed: {first}")
    error.candidates = tuple(lines[1:])
    return error


def _run_once(directory: str, arguments: tuple[str, ...]) -> GitOutput:
    trace.log(f"run git {' '.join(arguments)} in {directory}")
    environment = {name: value for name, value in os.environ.items() if name not in _REPOSITORY_VARIABLES}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_MERGE_AUTOEDIT": "no", "LC_ALL": "C.UTF-8"}
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(  # noqa: S603 - git, with arguments of execplan
            ["git", *arguments],  # noqa: S607 - the user's git, as everywhere
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            start_new_session=True,  # Ctrl-C reaches only this process
        )
    except FileNotFoundError:
        if not os.path.isdir(directory):
            raise git_failed_error(f"{directory} does not exist") from None
        raise ExecplanError("no-git", "git is not installed", hint="install git") from None
    with process:
        try:
            out, err = process.communicate()
        except BaseException:
            process.communicate()
            raise
    return GitOutput(process.returncode, os.fsdecode(out), os.fsdecode(err))
