"""Suggested commands without the name of the sticky plan: the one place that decides whether they need it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from execplan.errors import ExecplanError
from execplan.plan_store import plan_selection, plan_store, sticky_plan
from execplan.project import project_discovery

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project

DEFAULTING_COMMANDS: Final = frozenset(
    "add approve archive attach checkpoint comment commit compile context decide discover done drop edit evaluate export "
    "handoff next note outcome prime reopen revise reword review set show split summarize".split()
)
"""Commands that mean the sticky plan if they name none; the others then mean all plans, or choose in their own way."""


def omit_sticky_plan() -> Callable[[str], str]:
    """Return a function that omits the sticky plan's name from the commands in a text."""
    plan = _find_sticky_plan()
    if plan is None:
        return lambda text: text
    import re

    names = {plan[1].shell_name, plan_store.name_in_commands(*plan)}
    name = "|".join([re.escape(name) for name in names])
    commands = "|".join(sorted(DEFAULTING_COMMANDS))
    option = re.compile(rf"(\bexecplan (?:{commands})\b(?:(?!\bexecplan ).)*?) -p (?:{name})(?=$|[\s;,)])")
    argument = re.compile(rf"(\bexecplan (?:{commands})) (?:{name})(?=$|[;,)]| -)")
    return lambda text: argument.sub(r"\1", option.sub(r"\1", text))


def _find_sticky_plan() -> tuple[Project, PlanRef] | None:
    """Return the sticky plan, if commands that name none mean it."""
    try:
        if plan_selection.plan_from_environment() is not None:
            return None
        return sticky_plan.find_sticky_plan(project_discovery.find(os.getcwd()))
    except (ExecplanError, OSError):
        return None
