"""Integration `install guard`: a hook of Claude Code and Codex that passes each tool call to `execplan guard` first."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from execplan.agents.guard.execplan_commands import DENIED_COMMANDS
from execplan.agents.integrations import hook_entry
from execplan.agents.integrations.hook_entry import Hook
from execplan.agents.integrations.hook_file import PROGRAMS, HookIntegration, hook_file_path
from execplan.agents.integrations.integration_changes import LIMIT
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.project.project import Project

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
_AFTER_CALL_LINE = f"sh -c 'execplan guard --program claude || exit 1 {hook_entry.AFTER_CALL.mark}'"
"""Hook command after a call, which tells the guard that a call about which the user was asked was made.

Its failure blocks nothing: the call is then not counted.
"""
RESTRICTION_WARNING = (
    "from now on, an agent that starts in the repository's root can only read in it, write and commit plans, and do what an approved plan allows; "
    "details and limitations: execplan explain guard"
)
NOT_ON_PATH_WARNING = "execplan is not on PATH; if the program doesn't find it either, every call is denied"
_EXTRA_FIELDS: dict[str, dict[str, Any]] = {"claude": {"onFailure": "block"}, "codex": {hook_entry.MARK_FIELD: ""}}
"""Additional fields in a program's hook entry."""


def hook_handler(program: str) -> dict[str, Any]:
    """Return the hook entry of a program."""
    line = _LINE.replace("PROGRAM", program).replace("MARK", hook_entry.GUARD.mark)
    return {"type": "command", "command": line, "timeout": TIMEOUT, **_EXTRA_FIELDS[program]}


def find_programs(project: Project) -> list[str]:
    """Return the programs whose files contain a guard hook, installed by execplan or added by hand."""
    return [name for name in PROGRAMS if _has_command(hook_file_path(project, name))]


def denied_commands(project: Project) -> Collection[str]:
    """Return the commands that the guard denies to agents in a project, if it is installed there.

    `approve` is not among them, because `evaluate` comes before it, nor `edit`, because an agent edits files itself.
    """
    return DENIED_COMMANDS.keys() - {"approve", "edit"} if find_programs(project) else ()


def _has_command(path: str) -> bool:
    try:
        return hook_entry.GUARD.command_text.encode() in file_access.read(path, LIMIT)[0]
    except ExecplanError:
        return False


def _hooks(program: str) -> list[tuple[Hook, dict[str, Any]]]:
    """Return the hooks of a program: Codex can't ask its user, so it needs no hook that reports what was allowed."""
    hooks = [(hook_entry.GUARD, hook_handler(program))]
    if program == "claude":
        handler = {"type": "command", "command": _AFTER_CALL_LINE, "timeout": TIMEOUT}
        hooks.append((hook_entry.AFTER_CALL, handler))
    return hooks


_INTEGRATION = HookIntegration(
    NAME,
    [hook_entry.GUARD, hook_entry.AFTER_CALL],
    _hooks,
    (RESTRICTION_WARNING,),
    NOT_ON_PATH_WARNING,
)
UNSEEN_CAUSE = (
    "start the agent in the root of the repository, and check that its program runs the guard: execplan doctor"
)
"""What to do after a step that was completed without a call that the guard saw."""
install, uninstall, open_file = _INTEGRATION.install, _INTEGRATION.uninstall, _INTEGRATION.open_file
