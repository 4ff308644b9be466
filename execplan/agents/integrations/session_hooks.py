"""Integration `install session-hooks`: agent programs run `execplan prime` at the start of each session.

Its output reports the status of the plan.
"""

from __future__ import annotations

from typing import Any

from execplan.agents.integrations.hook_entry import COMPACTION, SESSION, Hook
from execplan.agents.integrations.hook_file import HookIntegration, command_handler

NAME = "session-hooks"
TIMEOUT = 20
"""Seconds that the programs wait; the command takes a tenth of a second."""
HOOKS = {"claude": (SESSION, COMPACTION), "codex": (SESSION,), "gemini": (SESSION,)}
"""Hooks of each program.

In Claude Code, the output before a compaction is used for the summary; the others ignore it. In Claude Code and Codex, a
new session starts after a compaction.
"""
ALL_HOOKS = (SESSION, COMPACTION)
_LINE = "sh -c 'execplan prime --hook {program} || : {mark}'"
"""Hook command, which always exits with 0.

Without execplan, a session starts silently; any other status would stop a compaction.
"""
NOT_ON_PATH_WARNING = "execplan is not on PATH; if the program doesn't find it either, a session gets no overview"


def hook_handler(program: str, hook: Hook) -> dict[str, Any]:
    """Return the hook entry of a program for a hook."""
    line = _LINE.format(program=program, mark=hook.mark)
    return command_handler(program, line, TIMEOUT)


_INTEGRATION = HookIntegration(
    NAME,
    ALL_HOOKS,
    lambda program: [(hook, hook_handler(program, hook)) for hook in HOOKS.get(program, ())],
    (),
    NOT_ON_PATH_WARNING,
)
install, uninstall, open_file = _INTEGRATION.install, _INTEGRATION.uninstall, _INTEGRATION.open_file
