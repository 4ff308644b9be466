"""A program that the user's own settings name: its command, its limits, and its environment."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Final, NamedTuple

from execplan.core.errors import INPUT, POLICY, ExecplanError
from execplan.core.project import setting_shapes as shapes
from execplan.core.project import user_settings
from execplan.core.project.setting_shapes import number
from execplan.core.project.setting_table import Setting
from execplan.core.text.pure_paths import is_inside

if TYPE_CHECKING:
    from collections.abc import Mapping

    from execplan.core.project.project import Project


USER_ONLY: Final = "names code to run and what is sent to it"
"""Why only the user's own settings may name a program."""


def limit_settings(seconds: int, kilobytes: int, max_kilobytes: int) -> tuple[Setting, ...]:
    """Return the settings that limit a program of the user, with their defaults."""
    return (
        Setting(
            "seconds",
            number(1, 3600),
            "The time limit; then the program and the processes that it started are terminated.",
            seconds,
            USER_ONLY,
        ),
        Setting("kilobytes", number(1, max_kilobytes), "The maximum size of an answer.", kilobytes, USER_ONLY),
        Setting(
            "environment",
            shapes.variables(quotes=False),
            "Variables that the program gets in addition to the usual ones.",
            [],
            USER_ONLY,
        ),
    )


class UserProgram(NamedTuple):
    """The command, the limits and the environment of a program."""

    argv: tuple[str, ...]
    seconds: int
    """Time limit in seconds; after it, the program and all processes that it started are ended."""
    kilobytes: int
    """Maximum size of its answer in kilobytes."""
    environment: tuple[str, ...] = ()
    """Variables that the program gets in addition to those of every command."""

    @property
    def program(self) -> str:
        """Name of the program, without directories and arguments, which may contain secrets."""
        return os.path.basename(self.argv[0])


def make_program(
    project: Project, table: Mapping[str, object], command: str, setting: str, defaults: tuple[int, int]
) -> UserProgram:
    """Return the program that a command names, with the limits of its table of settings, which are valid.

    `setting` is the command's own name, and `defaults` are the seconds and kilobytes. Raises ExecplanError if the
    command can't be parsed, or if it is in the repository.
    """
    argv = _parse_command(command, setting)
    _ensure_outside_repository(project, argv, setting)
    seconds, kilobytes = table.get("seconds", defaults[0]), table.get("kilobytes", defaults[1])
    names = table.get("environment", [])
    assert isinstance(seconds, int)
    assert isinstance(kilobytes, int)
    assert isinstance(names, list)
    return UserProgram(argv, seconds, kilobytes, tuple(names))


def _parse_command(command: str, setting: str) -> tuple[str, ...]:
    """Split a command as a shell would, and expand `~`; raises ExecplanError if that is impossible."""
    try:
        program, *arguments = shlex.split(command)
    except ValueError as error:
        message = f"{user_settings.path()}: {setting} can't be parsed: {str(error).lower()}"
        hint = f"see the settings: execplan explain {setting.partition('.')[0]}"
        raise ExecplanError("bad-setting", message, exit=INPUT, hint=hint) from None
    return (os.path.expanduser(program), *[os.path.expanduser(argument) for argument in arguments])


def _ensure_outside_repository(project: Project, argv: tuple[str, ...], setting: str) -> None:
    """Raise ExecplanError if a command names a path in the repository, where any writer could change it."""
    for argument in argv:
        if os.path.isabs(argument) and is_inside_repository(project, argument):
            raise ExecplanError(
                "program-of-repository",
                f"{user_settings.path()}: {setting} uses {argument}, which is in the repository {project.root}",
                exit=POLICY,
                hint="use a program outside the repository, which no commit can change",
            )


def is_inside_repository(project: Project, path: str) -> bool:
    """Check whether an absolute path leads into the repository."""
    root = os.path.realpath(project.root)
    return is_inside(os.path.realpath(path), root) or is_inside(os.path.normpath(path), root)
