"""Settings of the program that proposes better execution plans: `[enhancer]` in the user's config.toml."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from execplan.agents.enhancer.field_sharing import FIELDS
from execplan.errors import INPUT, POLICY, ExecplanError
from execplan.project import user_settings
from execplan.text.suggestions import did_you_mean

if TYPE_CHECKING:
    from execplan.project.project import Project

_MAX_VALUES: Final = {"seconds": 3600, "kilobytes": 5120}
"""Maximum of each numeric setting; the minimum is 1."""
_HINT = "what can be set: execplan explain enhancer"
_SETTING_NAMES = ("command", *_MAX_VALUES, "environment", "share")


class EnhancerSettings(NamedTuple):
    """The command, the limits and the environment of the enhancer."""

    argv: tuple[str, ...]
    seconds: int = 60
    """Time limit in seconds; after it, the program and all processes that it started are ended."""
    kilobytes: int = 512
    """Maximum size of its answer in kilobytes."""
    environment: tuple[str, ...] = ()
    """Variables that the enhancer gets in addition to those of every command."""

    @property
    def program(self) -> str:
        """Name of the program, without directories and arguments, which may contain secrets."""
        return os.path.basename(self.argv[0])


def load_settings(project: Project) -> EnhancerSettings:
    """Load the enhancer's settings.

    Raises ExecplanError if no command is set, if a setting is invalid, if the command can't be parsed or if it is in
    the repository.
    """
    table = user_settings.enhancer()
    if not table:
        raise ExecplanError(
            "no-enhancer",
            f"{user_settings.path()} names no enhancer, and nobody else may",
            exit=INPUT,
            hint='write there: [enhancer] and below it command = "PROGRAM ARGUMENTS"; see: execplan explain enhancer',
        )
    for name in table:
        if name not in _SETTING_NAMES:
            raise _unknown_setting_error(name)
    argv = _parse_command(table.get("command"))
    for name, maximum in _MAX_VALUES.items():
        value = table.get(name, 1)
        if type(value) is not int or not 0 < value <= maximum:
            raise _bad_setting_error(name, f"is a number from 1 to {maximum:,}, not {value!r}")
    names = table.get("environment", [])
    if not isinstance(names, list) or not all(
        [isinstance(variable, str) and variable.isidentifier() for variable in names]
    ):
        raise _bad_setting_error("environment", "is a list of names of variables")
    load_shared_fields()
    _ensure_outside_repository(project, argv)
    limits: dict[str, Any] = {name: table[name] for name in _MAX_VALUES if name in table}
    return EnhancerSettings(argv, **limits, environment=tuple(names))


def load_shared_fields() -> tuple[str, ...]:
    """Return the fields whose texts may be sent; none by default. Raises ExecplanError if the setting is invalid."""
    names = user_settings.enhancer().get("share", [])
    if not isinstance(names, list) or not all([isinstance(field, str) for field in names]):
        raise _bad_setting_error("share", 'is a list of fields, such as ["description", "steps.command"]')
    for name in names:
        if name not in FIELDS:
            message = f"{user_settings.path()}: enhancer.share names {name!r}, which is no field that can be shared"
            hint = f"{did_you_mean(name, FIELDS)} All of them: execplan explain enhancer".strip()
            raise ExecplanError("bad-setting", message, exit=INPUT, hint=hint)
    return tuple(names)


def is_inside_repository(project: Project, path: str) -> bool:
    """Check whether an absolute path leads into the repository."""
    root = os.path.realpath(project.root).rstrip("/") + "/"
    return f"{os.path.realpath(path)}/".startswith(root) or f"{os.path.normpath(path)}/".startswith(root)


def _parse_command(command: object) -> tuple[str, ...]:
    if not isinstance(command, str) or not command.strip() or "\0" in command:
        raise _bad_setting_error("command", 'is a command, such as "claude -p"')
    try:
        program, *arguments = shlex.split(command)
    except ValueError as error:
        raise _bad_setting_error("command", f"can't be taken apart: {str(error).lower()}") from None
    return (os.path.expanduser(program), *[os.path.expanduser(argument) for argument in arguments])


def _ensure_outside_repository(project: Project, argv: tuple[str, ...]) -> None:
    """Raise ExecplanError if the command names a path in the repository, where any writer could change it."""
    for argument in argv:
        if os.path.isabs(argument) and is_inside_repository(project, argument):
            raise ExecplanError(
                "enhancer-of-repository",
                f"{user_settings.path()}: enhancer.command names {argument}, which lies in the repository {project.root}",
                exit=POLICY,
                hint="let it name a program that lies outside, which no commit can change",
            )


def _bad_setting_error(name: str, problem: str) -> ExecplanError:
    message = f"{user_settings.path()}: enhancer.{name} {problem}"
    return ExecplanError("bad-setting", message, exit=INPUT, hint=_HINT)


def _unknown_setting_error(name: str) -> ExecplanError:
    message = f"{user_settings.path()}: enhancer knows {', '.join(_SETTING_NAMES)}, not {name!r}"
    return ExecplanError("unknown-setting", message, exit=INPUT, hint=did_you_mean(name, _SETTING_NAMES) or _HINT)
