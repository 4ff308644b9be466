"""Settings of the programs that draft plans: `[drafting]` in the user's config.toml."""

from __future__ import annotations

from typing import Final, NamedTuple

from execplan.agents.user_program.program_call import USER_ONLY, UserProgram, limit_settings, make_program
from execplan.core.errors import ExecplanError
from execplan.core.project import setting_shapes as shapes
from execplan.core.project import user_settings
from execplan.core.project.project import Project
from execplan.core.project.setting_shapes import number, table_of
from execplan.core.project.setting_table import Setting, SettingTable, check_table
from execplan.core.text.suggestions import did_you_mean

_DEFAULT_SECONDS: Final = 300
_DEFAULT_KILOBYTES: Final = 512
_DEFAULT_BUDGET: Final = 16_000


class DraftingSettings(NamedTuple):
    """A program that drafts plans, with the size of what it is sent."""

    name: str
    """Name of the program in the settings."""
    program: UserProgram
    budget: int
    """Tokens of the files and changes in a request."""


def load_settings(project: Project, name: str) -> DraftingSettings:
    """Load the settings of the program with this name.

    Raises ExecplanError if there is none, if a setting is invalid, or if the command can't be parsed or is in the
    repository.
    """
    table = user_settings.load_table("drafting")
    location = f"{user_settings.path()}: drafting"
    check_table("drafting", table, location)
    programs = table.get("programs", {})
    assert isinstance(programs, dict)
    if name not in programs:
        message = f"no program {name!r} is set in drafting.programs of {user_settings.path()}, the only place where it can be set"
        hint = did_you_mean(name, list(programs))
        example = 'add to it: [drafting] and below it programs = { NAME = "PROGRAM ARGUMENTS" }'
        raise ExecplanError(
            "no-drafting-program",
            message,
            hint=hint or f"{example}; see: execplan explain drafting",
            candidates=tuple(programs),
        )
    defaults = (_DEFAULT_SECONDS, _DEFAULT_KILOBYTES)
    program = make_program(project, table, programs[name], f"drafting.programs.{name}", defaults)
    budget = table.get("budget", _DEFAULT_BUDGET)
    assert isinstance(budget, int)
    return DraftingSettings(name, program, budget)


TABLE: Final = SettingTable(
    "Only in your own settings.",
    (
        Setting(
            "programs",
            table_of(
                "names with commands",
                'must be a table of commands: programs = { claude = "claude -p" }',
                lambda command: not shapes.PROGRAM.find_problem(command),
                quotes=False,
            ),
            "Programs and their arguments, by the names that `--draft-with` takes.",
            {},
            USER_ONLY,
        ),
        *limit_settings(_DEFAULT_SECONDS, _DEFAULT_KILOBYTES, 1024),
        Setting(
            "budget",
            number(1000, 1_000_000),
            "Tokens for the files and changes in a request.",
            _DEFAULT_BUDGET,
            USER_ONLY,
        ),
    ),
)
