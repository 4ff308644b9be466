"""Settings of the program that proposes better execution plans: `[enhancer]` in the user's config.toml."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

from execplan.agents.enhancer.field_sharing import FIELDS
from execplan.errors import INPUT, POLICY, ExecplanError
from execplan.project import user_settings
from execplan.project.setting_table import DEFAULT_ENHANCER_KILOBYTES, DEFAULT_ENHANCER_SECONDS, check_table
from execplan.text.pure_paths import is_inside
from execplan.text.suggestions import did_you_mean

if TYPE_CHECKING:
    from execplan.project.project import Project


class EnhancerSettings(NamedTuple):
    """The command, the limits and the environment of the enhancer."""

    argv: tuple[str, ...]
    seconds: int = DEFAULT_ENHANCER_SECONDS
    """Time limit in seconds; after it, the program and all processes that it started are ended."""
    kilobytes: int = DEFAULT_ENHANCER_KILOBYTES
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
            f"no enhancer is set in {user_settings.path()}, the only place where it can be set",
            exit=INPUT,
            hint='add to it: [enhancer] and below it command = "PROGRAM ARGUMENTS"; see: execplan explain enhancer',
        )
    check_table("enhancer", table, f"{user_settings.path()}: enhancer")
    argv = _parse_command(table.get("command"))
    load_shared_fields()
    _ensure_outside_repository(project, argv)
    limits: dict[str, Any] = {name: table[name] for name in ("seconds", "kilobytes") if name in table}
    names = table.get("environment")
    return EnhancerSettings(argv, **limits, environment=tuple(names) if isinstance(names, list) else ())


def load_shared_fields() -> tuple[str, ...]:
    """Return the fields whose texts may be sent; none by default. Raises ExecplanError if the setting is invalid."""
    names = user_settings.enhancer().get("share", [])
    _check_value("share", names)
    assert isinstance(names, list)
    for name in names:
        if name not in FIELDS:
            message = f"{user_settings.path()}: {name!r} in enhancer.share is not a field that can be shared"
            hint = f"{did_you_mean(name, FIELDS)} All fields: execplan explain enhancer".strip()
            raise ExecplanError("bad-setting", message, exit=INPUT, hint=hint)
    return tuple(names)


def is_inside_repository(project: Project, path: str) -> bool:
    """Check whether an absolute path leads into the repository."""
    root = os.path.realpath(project.root)
    return is_inside(os.path.realpath(path), root) or is_inside(os.path.normpath(path), root)


def _parse_command(command: object) -> tuple[str, ...]:
    _check_value("command", command)
    assert isinstance(command, str)
    try:
        program, *arguments = shlex.split(command)
    except ValueError as error:
        message = f"{user_settings.path()}: enhancer.command can't be parsed: {str(error).lower()}"
        hint = "see the settings: execplan explain enhancer"
        raise ExecplanError("bad-setting", message, exit=INPUT, hint=hint) from None
    return (os.path.expanduser(program), *[os.path.expanduser(argument) for argument in arguments])


def _ensure_outside_repository(project: Project, argv: tuple[str, ...]) -> None:
    """Raise ExecplanError if the command names a path in the repository, where any writer could change it."""
    for argument in argv:
        if os.path.isabs(argument) and is_inside_repository(project, argument):
            raise ExecplanError(
                "enhancer-of-repository",
                f"{user_settings.path()}: enhancer.command uses {argument}, which is in the repository {project.root}",
                exit=POLICY,
                hint="use a program outside the repository, which no commit can change",
            )


def _check_value(name: str, value: object) -> None:
    check_table("enhancer", {name: value}, f"{user_settings.path()}: enhancer")
