"""Other ways to type a command that come to the same: behind `timeout`, `time` or `env`, with variables that change no outcome, with `git -C`."""

from __future__ import annotations

import os

from execplan.agents.guard.paths import is_one
from execplan.execution.command.simple import assignment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final

    from execplan.agents.guard.shell import Typed

_DEEPEST: Final = 4
_ON: Final = ("1", "true")
_OFF: Final = ("0", "false")
_HARMLESS: Final[Mapping[str, tuple[str, ...]]] = {
    "CI": _ON,
    "NO_COLOR": _ON,
    "FORCE_COLOR": (*_ON, *_OFF),
    "CLICOLOR": (*_ON, *_OFF),
    "CARGO_TERM_COLOR": ("never", "always"),
    "TERM": ("dumb", "xterm", "xterm-256color"),
    "PAGER": ("cat",),
    "PYTHONUNBUFFERED": _ON,
    "PYTHONDONTWRITEBYTECODE": _ON,
    "PYTHONFAULTHANDLER": _ON,
    "PIP_DISABLE_PIP_VERSION_CHECK": _ON,
    "PIP_NO_INPUT": _ON,
    "NPM_CONFIG_COLOR": _OFF,
    "RUST_BACKTRACE": ("0", "1", "full"),
    "DEBIAN_FRONTEND": ("noninteractive",),
}
"""Variables that say how output looks and whether somebody is there to answer, with the values that say no more.

None that names a program, a file, a folder or an option: `PATH`, `LD_*`, `GIT_*`, `PYTHONPATH`, `NODE_OPTIONS`, `MAKEFLAGS`, `BASH_ENV`.
"""
_WIDTHS: Final = frozenset(("COLUMNS", "LINES"))
_PYTHON: Final = ("python", "python3")


def is_harmless(name: str, value: str) -> bool:
    """Whether a variable in front of a command changes nothing of what it does."""
    if name in _WIDTHS:
        return value.isascii() and value.isdigit() and len(value) < 5
    return value in _HARMLESS.get(name, ())


def unwrapped(typed: Typed, root: str) -> Typed:
    """The command behind `timeout`, `time`, `env` and `git -C ROOT`; the same one where there is nothing of that."""
    argv, assigned = behind(typed.argv, typed.assigned)
    folder = typed.folder
    while argv[:2] in (("git", "-C"), ("git", "--no-pager")):
        if argv[1] == "-C":
            if len(argv) < 4 or not is_root(argv[2], folder, root):
                break
            folder = root
        argv = ("git", *argv[2 + (argv[1] == "-C") :])
    if (argv, assigned, folder) == (typed.argv, typed.assigned, typed.folder):
        return typed
    return typed._replace(text="", argv=argv, assigned=assigned, folder=folder)


def is_root(word: str, folder: str, root: str) -> bool:
    """Whether a word names the root of the repository and nothing else, for every process."""
    path = os.path.join(folder, word)
    return bool(word) and "\0" not in word and is_one(path) and os.path.realpath(path) == root


def behind(argv: tuple[str, ...], assigned: Mapping[str, str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The words and the variables of the command behind `timeout`, `time` and `env`; as they are where that is not so plain."""
    found = dict(assigned)
    for _ in range(_DEEPEST):
        at, given = _skipped(argv)
        if not at or at >= len(argv) or argv[at].startswith("-") or set(given) & set(found):
            break
        if argv[0] != "env" and assignment(argv[at]):
            break
        argv, found = argv[at:], {**found, **given}
    return argv, found


def _skipped(argv: Sequence[str]) -> tuple[int, dict[str, str]]:
    """How many words stand in front of the command, none where it is not known, and the variables among them."""
    if argv[:1] == ("time",):
        return (2 if argv[1:2] == ("-p",) else 1), {}
    if argv[:1] == ("env",):
        given: dict[str, str] = {}
        for at, word in enumerate(argv[1:], 1):
            pair = assignment(word)
            if pair is None or pair[0] in given:
                return (at if pair is None else 0), given
            given[pair[0]] = pair[1]
        return 0, {}
    if argv[:1] not in (("timeout",), ("gtimeout",)):
        return 0, {}
    at = 1
    while at < len(argv) and argv[at].startswith("-"):
        word = argv[at]
        if word == "-k" and _is_time("".join(argv[at + 1 : at + 2])):
            at += 2
        elif word in ("--preserve-status", "--foreground") or _is_time(word.removeprefix("--kill-after=")):
            at += 1
        else:
            return 0, {}
    return (at + 1 if at < len(argv) and _is_time(argv[at]) else 0), {}


def _is_time(text: str) -> bool:
    """Whether a text is so many seconds, minutes, hours or days."""
    number = text[:-1] if text[-1:] in ("s", "m", "h", "d") else text
    whole, _, part = number.partition(".")
    return whole.isascii() and whole.isdigit() and (part or "0").isascii() and (part or "0").isdigit()


def is_same_python(given: str, wanted: str, folder: str, own: str) -> bool:
    """Whether `python` and `python3` are one interpreter: the same file, under both names in the same folder.

    A virtual environment knows by the folder of its name where its packages are.
    """
    if {given.rpartition("/")[2], wanted.rpartition("/")[2]} != set(_PYTHON) or ("/" in given) != ("/" in wanted):
        return False
    one, other = _program(given, folder), _program(wanted, own)
    if not one or not other or os.path.dirname(one) != os.path.dirname(other):
        return False
    return os.path.realpath(one) == os.path.realpath(other) and os.access(one, os.X_OK)


def _program(word: str, folder: str) -> str:
    """The path of a program, as a shell finds it, in its real folder; nothing where that depends on the folder it is called in."""
    if "/" in word:
        above, _, name = os.path.join(folder, word).rpartition("/")
        return os.path.join(os.path.realpath(above), name)
    for each in os.environ.get("PATH", "").split(os.pathsep):
        if not os.path.isabs(each):
            return ""
        path = os.path.join(os.path.realpath(each), word)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return ""
