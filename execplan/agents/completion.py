"""`install completion`: a file in which bash, zsh or fish looks for the completion of a command."""

from __future__ import annotations

import os

from execplan.agents import block as blocks
from execplan.agents import managed
from execplan.agents.change import Change, Planned, read_file
from execplan.agents.managed import File
from execplan.errors import NO, ExecplanError
from execplan.record import NamedTuple

WHAT = "completion"


class Shell(NamedTuple):
    """Where a shell looks, below a folder of the user's that a variable may name."""

    variable: str
    default: str
    path: str
    head: bytes = b""
    """What the file has to begin with."""


SHELLS = {
    "bash": Shell("XDG_DATA_HOME", "~/.local/share", "bash-completion/completions/execplan"),
    "zsh": Shell("XDG_DATA_HOME", "~/.local/share", "zsh/site-functions/_execplan", b"#compdef execplan\n"),
    "fish": Shell("XDG_CONFIG_HOME", "~/.config", "fish/completions/execplan.fish"),
}


def install(shell: str, script: str, *, force: bool) -> Planned:
    """Put the completion script of a shell where it looks; raises ExecplanError."""
    file = _file(shell)
    lines = script.removeprefix(file.head.decode()).strip("\n").split("\n")
    if file.data is not None and file.block is None:
        raise ExecplanError(
            "not-ours",
            f"{file.path} is there already, and not made by execplan install",
            exit=NO,
            hint=f"remove it, then: execplan install {WHAT} --shell {shell}",
        )
    planned = managed.install(file, lines, bytes, force=force)
    if shell != "zsh":
        return planned
    folder = os.path.dirname(file.path)
    line = f"zsh looks there if ~/.zshrc says, above compinit: fpath+=({folder})"
    return planned._replace(warnings=(*planned.warnings, line))


def uninstall(shell: str | None, *, force: bool) -> Planned:
    """Remove the script of a shell, or of every shell that has one; raises ExecplanError."""
    files = [_file(each) for each in SHELLS if shell in (None, each)]
    ours = [file for file in files if file.block] or files[:1]
    changes: list[Change] = []
    for file in ours:
        changes += managed.uninstall(file, force=force).changes
    return Planned(tuple(changes))


def _file(shell: str) -> File:
    variable, default, name, head = SHELLS[shell]
    folder = os.environ.get(variable, "")
    path = os.path.join(folder if os.path.isabs(folder) else os.path.expanduser(default), name)
    return File(WHAT, path, path, read_file(path), blocks.SHELL, head)
