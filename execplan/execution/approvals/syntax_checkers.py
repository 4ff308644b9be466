"""Syntax checks by installed programs that parse standard input without running any of it."""

from __future__ import annotations

import os
import subprocess

from execplan.execution.approvals.installed_programs import find_installed_program

_PARSERS = {
    "sh": (("sh", "-n"),),
    "bash": (("bash", "--norc", "-n"),),
    "dash": (("dash", "-n"),),
    "zsh": (("zsh", "-f", "-n"),),
    "javascript": (("node", "--check", "-"), ("node", "--input-type=module", "--check", "-")),
}
"""Parser commands by language. Ruby and Perl are missing because they run `BEGIN` while they parse."""
_JSX_ERROR = "SyntaxError: Unexpected token '<'"
"""Node's error for JSX, which may have the suffix of JavaScript but which Node cannot parse."""
_TIMEOUT_SECONDS = 10
_MAX_MESSAGE_LENGTH = 300


def check_syntax(language: str, content: bytes, root: str) -> str | None:
    """Return the syntax error of a text, empty if it has none.

    Returns None if no program can check it or the check takes too long.
    """
    messages = [_run_parser(command, content, root) for command in _PARSERS.get(language, ())]
    return "" if "" in messages else next(iter(messages), None)


def _run_parser(command: tuple[str, ...], content: bytes, root: str) -> str | None:
    program = find_installed_program(command[0], root)
    if program is None:
        return None
    try:
        completed = subprocess.run(  # noqa: S603 - one of the commands above, which run nothing of what they read
            [program, *command[1:]],
            input=content,
            capture_output=True,
            timeout=_TIMEOUT_SECONDS,
            check=False,
            cwd="/",
            env={"LC_ALL": "C", "PATH": os.defpath},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if completed.returncode == 0:
        return ""
    error_lines = [line.strip() for line in completed.stderr.decode("utf-8", "replace").splitlines()]
    messages = [line for line in error_lines if "Error" in line] or [line for line in error_lines if line]
    if messages and messages[0] == _JSX_ERROR:
        return None
    return (messages[0] if messages else f"{command[0]} can't parse it")[:_MAX_MESSAGE_LENGTH]
