"""Installed programs that parse a text without running any of it, asked on standard input."""

from __future__ import annotations

import os
import subprocess
from functools import cache

_PARSERS = {
    "sh": (("sh", "-n"),),
    "bash": (("bash", "--norc", "-n"),),
    "dash": (("dash", "-n"),),
    "zsh": (("zsh", "-f", "-n"),),
    "javascript": (("node", "--check", "-"), ("node", "--input-type=module", "--check", "-")),
}
"""By language, the ways to read it. Ruby and Perl are missing because they run `BEGIN` while they parse."""
_JSX = "SyntaxError: Unexpected token '<'"
"""Of a language that goes by the suffix of JavaScript, too, and that node can't read."""
_SECONDS = 10
_SHOWN = 300


def judge(language: str, content: bytes, root: str) -> str | None:
    """What is wrong with a text, or nothing; None where no program can say, or it takes too long."""
    said = [_ask(command, content, root) for command in _PARSERS.get(language, ())]
    return "" if "" in said else next(iter(said), None)


def _ask(command: tuple[str, ...], content: bytes, root: str) -> str | None:
    program = _find(command[0], root)
    if program is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603 - one of the commands above, which run nothing of what they read
            [program, *command[1:]],
            input=content,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            cwd="/",
            env={"LC_ALL": "C", "PATH": os.defpath},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode == 0:
        return ""
    said = [line.strip() for line in done.stderr.decode("utf-8", "replace").splitlines()]
    told = [line for line in said if "Error" in line] or [line for line in said if line]
    if told and told[0] == _JSX:
        return None
    return (told[0] if told else f"{command[0]} can't parse it")[:_SHOWN]


@cache
def _find(name: str, root: str) -> str | None:
    """The program, if it is one that the repository does not bring along itself."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.realpath(os.path.join(folder, name))
        inside = f"{path}/".startswith(root.rstrip("/") + "/")
        if os.path.isabs(folder) and not inside and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None
