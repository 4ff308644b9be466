"""Integration `install capture`: Claude Code, Codex and Gemini CLI give `execplan new` the plans of their plan mode.

The hook decides nothing and prints nothing, so the program asks its user about the plan as usual.
"""

from __future__ import annotations

from typing import Any

from execplan.agents.integrations.hook_entry import PLAN_ANSWER, PLAN_MODE, PLAN_PROPOSAL, Hook
from execplan.agents.integrations.hook_file import HookIntegration, command_handler

NAME = "capture"
TIMEOUT = 20
"""Seconds that the programs wait; the command takes half a second."""
HOOKS = {"claude": PLAN_MODE, "codex": PLAN_PROPOSAL, "gemini": PLAN_ANSWER}
"""The hook of each program: before Claude Code shows a plan, after a turn of Codex, and after you have answered Gemini CLI."""
ALL_HOOKS = tuple(HOOKS.values())
_LINE = "sh -c 'execplan new --from - --hook {program} >/dev/null || : {mark}'"
"""Hook command, which prints nothing and always exits with 0.

Any output of Claude Code's hook could decide about the plan, and any other status of Codex's would start another turn.
"""
NOT_ON_PATH_WARNING = "execplan is not on PATH; if the program doesn't find it either, no plan is captured"


def hook_handler(program: str) -> dict[str, Any]:
    """Return the hook entry of a program."""
    line = _LINE.format(program=program, mark=HOOKS[program].mark)
    return command_handler(program, line, TIMEOUT)


def _hooks(program: str) -> list[tuple[Hook, dict[str, Any]]]:
    return [(HOOKS[program], hook_handler(program))] if program in HOOKS else []


_INTEGRATION = HookIntegration(NAME, ALL_HOOKS, _hooks, (), NOT_ON_PATH_WARNING)
install, uninstall, open_file = _INTEGRATION.install, _INTEGRATION.uninstall, _INTEGRATION.open_file
