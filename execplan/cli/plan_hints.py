"""Names of plans in suggested commands: the one place that omits the sticky plan, and gives the path where no ID is known."""

from __future__ import annotations

import os

from execplan.core import features
from execplan.core.errors import ExecplanError
from execplan.core.plan_store import implied_plan, plan_selection, plan_store
from execplan.core.plan_store.hint_reader import is_agent
from execplan.core.plan_store.plan_store import quote_plan_name
from execplan.core.project import project_discovery

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Final

    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project

DEFAULTING_COMMANDS: Final = frozenset(
    "add approve archive attach checkpoint comment commit compile context decide discover done drop edit evaluate export "
    "handoff next note outcome prime reopen revise reword review set show split summarize".split()
)
"""Commands that mean the sticky plan if they name none; the others then mean all plans, or choose in their own way."""


_PLAN_COMMANDS: Final = DEFAULTING_COMMANDS | {"merge"}
"""Commands that take a plan as an argument or with `-p`."""
_EDIT_COMMANDS: Final = "add attach comment decide discover done note outcome reopen revise reword set split".split()
"""Defaulting commands that take a plan only with `-p`, at least in hints."""
_SUBCOMMANDS = {
    "execplan": "(?!explain )[a-z]",
    "git": "(?:add|check-ignore|checkout|cherry-pick|commit -|diff|init|log|merge|rebase|restore|revert|rm|switch)",
}
"""Regular expressions for the beginning of a subcommand that depends on the directory."""


def fit_plan_names(directory: str | None = None) -> Callable[[str], str]:
    """Return a function that gives the plans in commands the names by which they are found.

    The sticky plan needs none. A plan outside the plans directories has only its path. `directory` is the value of `-C`,
    which the commands need, too.
    """
    omit_plan, use_paths = _omit_sticky_plan(), _use_paths()
    if directory is None or os.path.normpath(directory) == os.curdir:
        return lambda text: use_paths(omit_plan(text))
    return lambda text: _in_directory(use_paths(omit_plan(text)), directory)


def name_plan(hint: str, plan: str) -> str:
    """Return the hint of a call that named a plan, whose suggested commands then name it, too, if they name none."""
    import re
    from shlex import quote

    option = f" -p {quote(plan)}"
    edit_command = re.compile(rf"\bexecplan (?:{'|'.join(_EDIT_COMMANDS)}) [^;]*")
    other_command = re.compile(
        rf"(\bexecplan (?:{'|'.join(sorted(_PLAN_COMMANDS - {*_EDIT_COMMANDS}))}))((?: --(?!help)[a-z-]+)*)(?=$|[;,)])"
    )
    hint = edit_command.sub(
        lambda match: match[0] if " -p " in match[0] or "--help" in match[0] else match[0] + option, hint
    )
    return other_command.sub(lambda match: f"{match[1]} {quote(plan)}{match[2]}", hint)


def _in_directory(text: str, directory: str) -> str:
    """Return a text whose commands run where they were suggested, after `execplan -C DIRECTORY` was run."""
    import re
    from shlex import quote, split

    def redirect(match: re.Match[str]) -> str:
        inner = split(match[2])[0] if match[2] else ""
        return f"{match[1]} -C {quote(os.path.normpath(os.path.join(directory, inner)))} "

    for program, subcommand in _SUBCOMMANDS.items():
        text = re.sub(rf"\b({program}) (?:-C ('[^']*'|\S+) )?(?={subcommand})", redirect, text)
    return text


def denied_commands() -> Collection[str]:
    """Return the commands and options that an agent asks a person to run, because its program's guard denies them."""
    if not is_agent():
        return ()
    try:
        project = project_discovery.find(os.getcwd())
    except (ExecplanError, OSError):
        return ()
    commands: Collection[str] = features.load(features.DENIED_COMMANDS)(project)
    return commands


def _use_paths() -> Callable[[str], str]:
    """Return a function that replaces the ID of each plan that was given by its path, and has no other name."""
    plans = {
        ref.path: (project, ref) for project, ref in plan_selection.named_by_path if os.path.lexists(ref.path)
    }.values()
    names = [ref.shell_name for _, ref in plans]
    paths = {
        ref.shell_name: quote_plan_name(plan_selection.path_from_here(project, ref))
        for project, ref in plans
        if names.count(ref.shell_name) == 1  # otherwise nobody knows here which of them is meant
    }
    if not paths:
        return lambda text: text
    import re

    name = re.compile(rf"(?<= )(?:{'|'.join(map(re.escape, paths))})(?=$|[ ;,)])")
    command = re.compile(r"\bexecplan .*")
    return lambda text: command.sub(lambda match: name.sub(lambda id_match: paths[id_match[0]], match[0]), text)


def _omit_sticky_plan() -> Callable[[str], str]:
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
        return implied_plan.find_sticky_plan(project_discovery.find(os.getcwd()))
    except (ExecplanError, OSError):
        return None
