"""Integration `install guard`: a hook of Claude Code and Codex that passes each tool call to `execplan guard` first."""

from __future__ import annotations

from typing import Any

from execplan.agents.integrations import hook_entry
from execplan.agents.integrations.hook_file import HookIntegration

NAME = "guard"
TIMEOUT = 30
"""Seconds that the programs wait; the guard itself gives up and denies after twenty."""
_LINE = (
    "sh -c 'o=$(execplan guard --program PROGRAM); s=$?; "
    'case $s$o in *[[:cntrl:]]*) ;; 0{*}|2{*\\"deny\\"*}) printf %s "$o"; exit $s;; esac; '
    "echo execplan guard did not allow this call >&2; exit 2 MARK'"
)
"""Hook command, which passes on an answer of the guard and turns everything else into status 2.

Any status except 0 and 2 lets a call through, for example if the guard is missing, crashes or is killed; and with
status 0, so does any output that is not one JSON object, for example a line of a program that starts with Python.
"""
RESTRICTION_WARNING = (
    "from now on, an agent that starts in the repository's root can only read in it and do what an approved plan allows; "
    "details and limitations: execplan explain guard"
)
NOT_ON_PATH_WARNING = "execplan is not on PATH; if the program doesn't find it either, every call is denied"
_EXTRA_FIELDS: dict[str, dict[str, Any]] = {"claude": {"onFailure": "block"}, "codex": {hook_entry.MARK_FIELD: ""}}
"""Additional fields in a program's hook entry."""


def hook_handler(program: str) -> dict[str, Any]:
    """Return the hook entry of a program."""
    line = _LINE.replace("PROGRAM", program).replace("MARK", hook_entry.GUARD.mark)
    return {"type": "command", "command": line, "timeout": TIMEOUT, **_EXTRA_FIELDS[program]}


_INTEGRATION = HookIntegration(
    NAME,
    [hook_entry.GUARD],
    lambda program: [(hook_entry.GUARD, hook_handler(program))],
    (RESTRICTION_WARNING,),
    NOT_ON_PATH_WARNING,
)
install, uninstall, open_file = _INTEGRATION.install, _INTEGRATION.uninstall, _INTEGRATION.open_file
