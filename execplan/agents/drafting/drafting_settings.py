"""Settings of the programs that draft plans: `[drafting]` in the user's config.toml."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.agents.user_program.program_settings import UserProgram, make_program
from execplan.errors import INPUT, ExecplanError
from execplan.project import user_settings
from execplan.project.setting_table import (
    DEFAULT_DRAFTING_BUDGET,
    DEFAULT_DRAFTING_KILOBYTES,
    DEFAULT_DRAFTING_SECONDS,
    check_table,
)
from execplan.text.suggestions import did_you_mean

if TYPE_CHECKING:
    from execplan.project.project import Project


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
    table = user_settings.drafting()
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
            exit=INPUT,
            hint=hint or f"{example}; see: execplan explain drafting",
            candidates=tuple(programs),
        )
    defaults = (DEFAULT_DRAFTING_SECONDS, DEFAULT_DRAFTING_KILOBYTES)
    program = make_program(project, table, programs[name], f"drafting.programs.{name}", defaults)
    budget = table.get("budget", DEFAULT_DRAFTING_BUDGET)
    assert isinstance(budget, int)
    return DraftingSettings(name, program, budget)
