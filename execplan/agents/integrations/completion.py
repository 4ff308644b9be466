"""Integration `install completion`: a completion script where bash, zsh or fish looks for it."""

from __future__ import annotations

import os

from execplan.agents.integrations import managed_block
from execplan.agents.integrations.integration_changes import ChangeSet, IntegrationChange, read_file
from execplan.agents.integrations.managed_block import ManagedFile
from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple

NAME = "completion"


class CompletionLocation(NamedTuple):
    """Location where a shell looks for completion scripts, below a user directory that a variable may name."""

    variable: str
    default: str
    path: str
    head: bytes = b""
    """Required beginning of the file."""


SHELLS = {
    "bash": CompletionLocation("XDG_DATA_HOME", "~/.local/share", "bash-completion/completions/execplan"),
    "zsh": CompletionLocation(
        "XDG_DATA_HOME", "~/.local/share", "zsh/site-functions/_execplan", b"#compdef execplan\n"
    ),
    "fish": CompletionLocation("XDG_CONFIG_HOME", "~/.config", "fish/completions/execplan.fish"),
}


def install(shell: str, script: str, *, force: bool) -> ChangeSet:
    """Plan to install the completion script of a shell. Raises ExecplanError."""
    file = _load_file(shell)
    lines = script.removeprefix(file.header.decode()).strip("\n").split("\n")
    if file.data is not None and file.block is None:
        raise ExecplanError(
            "not-ours",
            f"{file.path} already exists, and execplan install did not create it",
            hint=f"remove it, then: execplan install {NAME} --shell {shell}",
        )
    change_set = managed_block.plan_install(file, lines, bytes, force=force)
    if shell != "zsh":
        return change_set
    folder = os.path.dirname(file.path)
    warning = f"to let zsh find it, add to ~/.zshrc, above compinit: fpath+=({folder})"
    return change_set._replace(warnings=(*change_set.warnings, warning))


def uninstall(shell: str | None, *, force: bool) -> ChangeSet:
    """Plan to remove the script of a shell, or of every shell that has one. Raises ExecplanError."""
    files = [_load_file(shell_name) for shell_name in SHELLS if shell in (None, shell_name)]
    installed_files = [file for file in files if file.block] or files[:1]
    changes: list[IntegrationChange] = []
    for file in installed_files:
        changes += managed_block.plan_uninstall(file, force=force).changes
    return ChangeSet(tuple(changes))


def _load_file(shell: str) -> ManagedFile:
    variable, default, name, head = SHELLS[shell]
    folder = os.environ.get(variable, "")
    path = os.path.join(folder if os.path.isabs(folder) else os.path.expanduser(default), name)
    return ManagedFile(NAME, path, path, read_file(path), managed_block.SHELL, head)
