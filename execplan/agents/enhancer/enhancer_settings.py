"""Settings of the program that proposes better execution plans: `[enhancer]` in the user's config.toml."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.agents.enhancer.field_sharing import FIELDS
from execplan.agents.user_program.program_settings import USER_ONLY, UserProgram, limit_settings, make_program
from execplan.core.errors import INPUT, ExecplanError
from execplan.core.project import setting_shapes as shapes
from execplan.core.project import user_settings
from execplan.core.project.setting_shapes import is_text, list_of
from execplan.core.project.setting_table import Setting, SettingTable, check_table
from execplan.core.text.suggestions import did_you_mean

if TYPE_CHECKING:
    from typing import Final

    from execplan.core.project.project import Project

_DEFAULT_SECONDS: Final = 60
_DEFAULT_KILOBYTES: Final = 512


def load_settings(project: Project) -> UserProgram:
    """Load the enhancer's settings.

    Raises ExecplanError if no command is set, if a setting is invalid, if the command can't be parsed or if it is in
    the repository.
    """
    table = user_settings.load_table("enhancer")
    if not table:
        raise ExecplanError(
            "no-enhancer",
            f"no enhancer is set in {user_settings.path()}, the only place where it can be set",
            exit=INPUT,
            hint='add to it: [enhancer] and below it command = "PROGRAM ARGUMENTS"; see: execplan explain enhancer',
        )
    check_table("enhancer", table, f"{user_settings.path()}: enhancer")
    command = table.get("command")
    _check_value("command", command)
    assert isinstance(command, str)
    load_shared_fields()
    return make_program(project, table, command, "enhancer.command", (_DEFAULT_SECONDS, _DEFAULT_KILOBYTES))


def load_shared_fields() -> tuple[str, ...]:
    """Return the fields whose texts may be sent; none by default. Raises ExecplanError if the setting is invalid."""
    names = user_settings.load_table("enhancer").get("share", [])
    _check_value("share", names)
    assert isinstance(names, list)
    for name in names:
        if name not in FIELDS:
            message = f"{user_settings.path()}: {name!r} in enhancer.share is not a field that can be shared"
            hint = f"{did_you_mean(name, FIELDS)} All fields: execplan explain enhancer".strip()
            raise ExecplanError("bad-setting", message, exit=INPUT, hint=hint)
    return tuple(names)


def _check_value(name: str, value: object) -> None:
    check_table("enhancer", {name: value}, f"{user_settings.path()}: enhancer")


TABLE: Final = SettingTable(
    "Only in your own settings.",
    (
        Setting("command", shapes.PROGRAM, "The program and its arguments; no shell parses them.", "", USER_ONLY),
        *limit_settings(_DEFAULT_SECONDS, _DEFAULT_KILOBYTES, 5120),
        Setting(
            "share",
            list_of(
                "fields", 'must be a list of fields, such as ["description", "steps.command"]', is_text, quotes=False
            ),
            "The fields whose texts can be sent.",
            [],
            USER_ONLY,
        ),
    ),
)
