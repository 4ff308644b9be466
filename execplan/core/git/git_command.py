"""Preparation of git commands so that git runs no other program, whatever the repository configures.

A repository can name programs in `.git/config` and `.gitattributes`: filters, file-system monitors, hooks, pagers,
external diffs, text converters, signature checkers, and programs that fetch missing objects of a partial clone. A query
switches all of them off. Filters have no common switch, so each one is switched off by its name.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_SAFE_OPTIONS = (
    *("--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    *("-c", "log.showSignature=false", "-c", "submodule.recurse=false", "-c", "status.submoduleSummary=false"),
)
_SAFE_COMMANDS = ("rev-parse", "config", "--version")
"""Commands that start no programs, and whose output depends on these settings."""
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",  # no index refresh, and so no hook after it
    "GIT_NO_LAZY_FETCH": "1",  # since git 2.44
    "GIT_ALLOW_PROTOCOL": "none",  # for older versions: a fetch of missing objects fails before it starts a program
    "GIT_TERMINAL_PROMPT": "0",
}
_PROGRAMS = ("GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND")
"""Environment variables that name programs, which no query needs."""
_OPTIONS = {
    "diff": ("--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=dirty"),
    "log": ("--no-ext-diff", "--no-textconv", "--submodule=short", "--root"),
    "status": ("--ignore-submodules=dirty",),
}
"""Options that precede those of the caller, which therefore win.

Checking a submodule for changes would use the submodule's own configuration. With `log.showRoot=false`, the first commit
would have no files.
"""
_FILTERING_COMMANDS = ("status", "diff", "hash-object")
"""Commands that pass files of the working tree through filters."""
_FILTER = r"^filter\..*\.(clean|smudge|process|required)$"
_FILTER_OVERRIDES = {"clean": "", "smudge": "", "process": "", "required": "false"}
_OPTIONS_WITH_VALUE = ("-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env")
"""Options before a command that take a separate value."""


def prepare_git_command(folder: str, arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return the command line and the environment for a git query about the repository of a directory."""
    index = _command_at(arguments)
    name = arguments[index] if index < len(arguments) else ""
    environment = {
        variable: value for variable, value in os.environ.items() if variable not in _PROGRAMS
    } | _ENVIRONMENT
    switches = () if name in _SAFE_COMMANDS or name.startswith("-") else _SAFE_OPTIONS
    extra_options = _OPTIONS.get(name, ())
    if _runs_filters(name, arguments[index + 1 :]):
        _switch_off_filters(folder, environment)
    return ["git", *switches, *arguments[: index + 1], *extra_options, *arguments[index + 1 :]], environment


def _command_at(arguments: Sequence[str]) -> int:
    """Return the index of the command name, after the options of git itself."""
    index = 0
    while index < len(arguments) and arguments[index].startswith("-") and arguments[index] not in _SAFE_COMMANDS:
        index += 2 if arguments[index] in _OPTIONS_WITH_VALUE else 1
    return index


def _runs_filters(name: str, options: Sequence[str]) -> bool:
    """Return whether a command would run filters."""
    if name == "hash-object":
        return "--path" in options or "--stdin" not in options
    return name in _FILTERING_COMMANDS and "--cached" not in options


def _switch_off_filters(folder: str, environment: dict[str, str]) -> None:
    """Add settings to the environment that switch off each configured filter; they override those of every file."""
    import subprocess  # not at the top: callers that start git in another way need not wait for the import

    command = ["git", "config", "--null", "--name-only", "--get-regexp", _FILTER]
    try:
        process = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)  # noqa: S603 - git
    except OSError:
        return  # the query itself reports why git can't be used
    drivers = {os.fsdecode(setting).rpartition(".")[0] for setting in process.stdout.split(b"\0") if setting}
    count = _config_count(environment)
    for driver in sorted(drivers):
        for key, value in _FILTER_OVERRIDES.items():
            environment[f"GIT_CONFIG_KEY_{count}"] = f"{driver}.{key}"
            environment[f"GIT_CONFIG_VALUE_{count}"] = value
            count += 1
    environment["GIT_CONFIG_COUNT"] = str(count)


def _config_count(environment: dict[str, str]) -> int:
    """Return how many settings the environment already has."""
    count_text = environment.get("GIT_CONFIG_COUNT", "")
    return int(count_text) if count_text.isascii() and count_text.isdigit() else 0
