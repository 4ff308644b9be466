"""Integration `install guard`: a hook of an agent program that passes each tool call to `execplan guard` first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from execplan.agents.integrations import hook_entry, managed_directory, opencode_plugin
from execplan.agents.integrations.hook_entry import Hook
from execplan.agents.integrations.hook_file import NO_PENDING_FILES, HookIntegration, PendingFiles, command_handler
from execplan.agents.integrations.integration_changes import ChangeSet, merge_change_sets
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
_HOOKS = {"claude": hook_entry.GUARD, "codex": hook_entry.GUARD, "gemini": hook_entry.BEFORE_TOOL}
"""The hook before a call in each program."""
_EXTRA_FIELDS = {"claude": {"onFailure": "block"}}
"""Additional fields in a program's hook entry."""


def hook_handler(program: str) -> dict[str, Any]:
    """Return the hook entry of a program."""
    line = _LINE.replace("PROGRAM", program).replace("MARK", hook_entry.GUARD.mark)
    return {**command_handler(program, line, TIMEOUT), **_EXTRA_FIELDS.get(program, {})}


def _hooks(program: str) -> list[tuple[Hook, dict[str, Any]]]:
    """Return the hooks of a program: only Claude Code asks its user, and has a hook that reports what was allowed."""
    hooks = [(_HOOKS[program], hook_handler(program))] if program in _HOOKS else []
    if program == "claude":
        hooks.append((hook_entry.AFTER_CALL, command_handler(program, _AFTER_CALL_LINE, TIMEOUT)))
    return hooks


_INTEGRATION = HookIntegration(
    NAME,
    [hook_entry.GUARD, hook_entry.BEFORE_TOOL, hook_entry.AFTER_CALL],
    _hooks,
    (RESTRICTION_WARNING,),
    NOT_ON_PATH_WARNING,
)
open_file = _INTEGRATION.open_file


def install(
    project: Project, *, force: bool, programs: Sequence[str] = (), ahead: PendingFiles = NO_PENDING_FILES
) -> ChangeSet:
    """Plan to add or update the hooks of programs, and the plugin of opencode; by default, of the programs used here.

    Raises ExecplanError.
    """
    with_hooks = [name for name in programs if name != opencode_plugin.PROGRAM]
    change_sets = []
    if with_hooks or not programs:
        change_sets.append(_INTEGRATION.install(project, force=force, programs=with_hooks, ahead=ahead))
    if opencode_plugin.PROGRAM in programs or (not programs and opencode_plugin.is_used(project)):
        plugin = managed_directory.plan_install(opencode_plugin.plugin_directory(project, NAME), force=force)
        if not change_sets and any([change.action != "kept" for change in plugin.changes]):
            plugin = plugin._replace(warnings=(*plugin.warnings, RESTRICTION_WARNING))
        change_sets.append(plugin)
    return merge_change_sets(change_sets)


def uninstall(
    project: Project, *, force: bool, programs: Sequence[str] = (), ahead: PendingFiles = NO_PENDING_FILES
) -> ChangeSet:
    """Plan to remove the hooks of programs, and the plugin of opencode; by default, of all. Raises ExecplanError."""
    with_hooks = [name for name in programs if name != opencode_plugin.PROGRAM]
    change_sets = []
    if with_hooks or not programs:
        change_sets.append(_INTEGRATION.uninstall(project, force=force, programs=with_hooks, ahead=ahead))
    if opencode_plugin.PROGRAM in programs or (not programs and opencode_plugin.is_installed(project)):
        directory = opencode_plugin.plugin_directory(project, NAME)
        change_sets.append(managed_directory.plan_uninstall(directory, force=force))
    return merge_change_sets(change_sets)
