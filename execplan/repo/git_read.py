"""How git is asked so that it runs nothing but itself, whatever the settings of a repository say.

A repository can name programs in `.git/config` and `.gitattributes`: filters, file-system monitors, hooks, pagers, external diffs,
text converters, signature checkers, and programs that fetch what a partial clone lacks. Whoever only reads switches
all of them off. Filters have no common switch, so each one is switched off by its name.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_OFF = (
    *("--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    *("-c", "log.showSignature=false", "-c", "submodule.recurse=false", "-c", "status.submoduleSummary=false"),
)
_PLAIN = ("rev-parse", "config", "--version")
"""Commands that start nothing, and whose answers depend on these settings."""
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",  # no refreshed index, so no hook after one
    "GIT_NO_LAZY_FETCH": "1",  # since git 2.44
    "GIT_ALLOW_PROTOCOL": "none",  # for older ones: a fetch of missing objects ends before it starts a program
    "GIT_TERMINAL_PROMPT": "0",
}
_PROGRAMS = ("GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND")
"""Variables that name programs, which no question needs."""
_OPTIONS = {
    "diff": ("--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=dirty"),
    "log": ("--no-ext-diff", "--no-textconv", "--submodule=short"),
    "status": ("--ignore-submodules=dirty",),
}
"""Options that come first, so that the caller's own win. A dirty submodule would be asked with the settings that it has itself."""
_CONVERTING = ("status", "diff", "hash-object")
"""Commands that pass files of the working tree through filters."""
_FILTER = r"^filter\..*\.(clean|smudge|process|required)$"
_SWITCHES = {"clean": "", "smudge": "", "process": "", "required": "false"}
_VALUED = ("-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env")
"""Options before a command that have a value of their own."""


def prepared(folder: str, arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The command line and the environment of a question to git about the repository of a folder."""
    at = _command_at(arguments)
    name = arguments[at] if at < len(arguments) else ""
    environment = {each: value for each, value in os.environ.items() if each not in _PROGRAMS} | _ENVIRONMENT
    switches = () if name in _PLAIN or name.startswith("-") else _OFF
    more = _OPTIONS.get(name, ())
    if _converts(name, arguments[at + 1 :]):
        _switch_off_filters(folder, environment)
    return ["git", *switches, *arguments[: at + 1], *more, *arguments[at + 1 :]], environment


def _command_at(arguments: Sequence[str]) -> int:
    """Where the name of the command is, after the options of git itself."""
    at = 0
    while at < len(arguments) and arguments[at].startswith("-") and arguments[at] not in _PLAIN:
        at += 2 if arguments[at] in _VALUED else 1
    return at


def _converts(name: str, options: Sequence[str]) -> bool:
    """Whether a command would run filters."""
    if name == "hash-object":
        return "--path" in options or "--stdin" not in options
    return name in _CONVERTING and "--cached" not in options


def _switch_off_filters(folder: str, environment: dict[str, str]) -> None:
    """Settings in the environment, which override those of every file, for each filter that one names."""
    import subprocess  # not at the top: whoever starts git in another way does not wait for it

    asked = ["git", "config", "--null", "--name-only", "--get-regexp", _FILTER]
    try:
        done = subprocess.run(asked, cwd=folder, env=environment, capture_output=True, check=False)  # noqa: S603 - git
    except OSError:
        return  # the question itself reports why git can't be asked
    drivers = {os.fsdecode(each).rpartition(".")[0] for each in done.stdout.split(b"\0") if each}
    count = _count(environment)
    for driver in sorted(drivers):
        for key, value in _SWITCHES.items():
            environment[f"GIT_CONFIG_KEY_{count}"] = f"{driver}.{key}"
            environment[f"GIT_CONFIG_VALUE_{count}"] = value
            count += 1
    environment["GIT_CONFIG_COUNT"] = str(count)


def _count(environment: dict[str, str]) -> int:
    """How many settings the environment holds already."""
    found = environment.get("GIT_CONFIG_COUNT", "")
    return int(found) if found.isascii() and found.isdigit() else 0
