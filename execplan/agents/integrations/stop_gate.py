"""Integration `install stop-gate`: Claude Code and Codex ask `execplan next --hook` before a session's agent stops."""

from __future__ import annotations

from typing import Any

from execplan.agents.integrations.hook_entry import STOP, Hook
from execplan.agents.integrations.hook_file import HookIntegration, command_handler

NAME = "stop-gate"
PROGRAMS = ("claude", "codex")
"""Programs that tell their commands the ID of the session, without which a claim belongs to none."""
TIMEOUT = 15
"""Seconds that the programs wait; the command itself gives up after five, and the session ends."""
_LINE = "sh -c 'execplan next --hook {program} 2>/dev/null || : {mark}'"
"""Hook command, which always exits with 0; only a document on standard output keeps a session going.

A missing, failing or older execplan prints none.
"""
NOT_ON_PATH_WARNING = (
    "execplan is not on PATH; if the program doesn't find it either, every session ends as without the gate"
)


def hook_handler(program: str) -> dict[str, Any]:
    """Return the hook entry of a program."""
    line = _LINE.format(program=program, mark=STOP.mark)
    return command_handler(program, line, TIMEOUT)


def _hooks(program: str) -> list[tuple[Hook, dict[str, Any]]]:
    return [(STOP, hook_handler(program))] if program in PROGRAMS else []


_INTEGRATION = HookIntegration(NAME, [STOP], _hooks, (), NOT_ON_PATH_WARNING)
install, uninstall, open_file = _INTEGRATION.install, _INTEGRATION.uninstall, _INTEGRATION.open_file
