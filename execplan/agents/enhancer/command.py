"""The program that the user's own settings name to propose better execution plans: `[enhancer]` in config.toml."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from execplan.agents.enhancer.share import FIELDS
from execplan.errors import INPUT, POLICY, ExecplanError
from execplan.repo import own

if TYPE_CHECKING:
    from execplan.repo.home import Home

_MOST: Final = {"seconds": 3600, "kilobytes": 5120}
"""The largest value of each number; the smallest is 1."""
_NAMES = ("command", *_MOST, "environment", "share")


class Command(NamedTuple):
    """How it is called."""

    argv: tuple[str, ...]
    seconds: int = 60
    """After which it is ended, with all that it has started."""
    kilobytes: int = 512
    """Of its answer, at most."""
    environment: tuple[str, ...] = ()
    """Variables that it gets besides those that every command gets."""

    @property
    def program(self) -> str:
        """What it is called, without folders and arguments, in which secrets may stand."""
        return os.path.basename(self.argv[0])


def configured(home: Home) -> Command:
    """The command; raises ExecplanError where none is named, where it can't be taken apart or lies in the repository."""
    table = own.enhancer()
    if not table:
        raise ExecplanError(
            "no-enhancer",
            f"{own.path()} names no enhancer, and nobody else may",
            exit=INPUT,
            hint='write there: [enhancer] and below it command = "PROGRAM ARGUMENTS"; see: execplan explain enhancer',
        )
    for name in table:
        if name not in _NAMES:
            raise _unknown(name)
    argv = _argv(table.get("command"))
    for name, most in _MOST.items():
        value = table.get(name, 1)
        if type(value) is not int or not 0 < value <= most:
            raise _bad(name, f"is a number from 1 to {most:,}, not {value!r}")
    names = table.get("environment", [])
    if not isinstance(names, list) or not all([isinstance(each, str) and each.isidentifier() for each in names]):
        raise _bad("environment", "is a list of names of variables")
    shared()
    _stop_inside(home, argv)
    rest: dict[str, Any] = {name: table[name] for name in _MOST if name in table}
    return Command(argv, **rest, environment=tuple(names))


def shared() -> tuple[str, ...]:
    """The fields whose texts may leave, none unless the settings name them; raises ExecplanError."""
    names = own.enhancer().get("share", [])
    if not isinstance(names, list) or not all([isinstance(each, str) for each in names]):
        raise _bad("share", 'is a list of fields, such as ["description", "steps.command"]')
    for name in names:
        if name not in FIELDS:
            from difflib import get_close_matches

            near = get_close_matches(name, FIELDS, n=1, cutoff=0.0)[0]
            what = f"{own.path()}: enhancer.share names {name!r}, which is no field that can be shared"
            hint = f"did you mean {near}? All of them: execplan explain enhancer"
            raise ExecplanError("bad-setting", what, exit=INPUT, hint=hint)
    return tuple(names)


def inside(home: Home, path: str) -> bool:
    """Whether an absolute path leads into the repository."""
    root = os.path.realpath(home.root).rstrip("/") + "/"
    return f"{os.path.realpath(path)}/".startswith(root) or f"{os.path.normpath(path)}/".startswith(root)


def _argv(command: object) -> tuple[str, ...]:
    if not isinstance(command, str) or not command.strip() or "\0" in command:
        raise _bad("command", 'is a command, such as "claude -p"')
    try:
        first, *rest = shlex.split(command)
    except ValueError as error:
        raise _bad("command", f"can't be taken apart: {str(error).lower()}") from None
    return (os.path.expanduser(first), *[os.path.expanduser(each) for each in rest])


def _stop_inside(home: Home, argv: tuple[str, ...]) -> None:
    """Refuse what the repository holds: whoever writes there would be run. Raises ExecplanError."""
    for each in argv:
        if os.path.isabs(each) and inside(home, each):
            raise ExecplanError(
                "enhancer-of-repository",
                f"{own.path()}: enhancer.command names {each}, which lies in the repository {home.root}",
                exit=POLICY,
                hint="let it name a program that lies outside, which no commit can change",
            )


def _bad(name: str, why: str) -> ExecplanError:
    what = f"{own.path()}: enhancer.{name} {why}"
    return ExecplanError("bad-setting", what, exit=INPUT, hint="what can be set: execplan explain enhancer")


def _unknown(name: str) -> ExecplanError:
    from difflib import get_close_matches

    near = get_close_matches(name, _NAMES, n=1, cutoff=0.0)
    what = f"{own.path()}: enhancer knows {', '.join(_NAMES)}, not {name!r}"
    return ExecplanError("unknown-setting", what, exit=INPUT, hint=f"did you mean {near[0]}?")
