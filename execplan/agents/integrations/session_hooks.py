"""Integration `install session-hooks`: Claude Code and Codex run `execplan prime` at the start of each session.

Its output reports the status of the plan.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from execplan.agents.integrations import hook_file
from execplan.agents.integrations.hook_entry import COMPACTION, SESSION
from execplan.agents.integrations.hook_file import NO_PENDING_FILES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.agents.integrations.hook_entry import Hook
    from execplan.agents.integrations.hook_file import HookFile, PendingFiles
    from execplan.agents.integrations.integration_changes import ChangeSet
    from execplan.project.project import Project

NAME = "session-hooks"
TIMEOUT = 20
"""Seconds that the programs wait; the command takes a tenth of a second."""
HOOKS = {"claude": (SESSION, COMPACTION), "codex": (SESSION,)}
"""Hooks of each program.

In Claude Code, the output before a compaction is used for the summary; Codex ignores it. In both programs, a new
session starts after a compaction.
"""
ALL_HOOKS = (SESSION, COMPACTION)
_LINE = "sh -c 'execplan prime --hook {program} || : {mark}'"
"""Hook command, which always exits with 0.

Without execplan, a session starts silently; any other status would stop a compaction.
"""
NOT_ON_PATH_WARNING = "execplan is not on PATH; where the program does not find it either, a session is told nothing"


def hook_handler(program: str, hook: Hook) -> dict[str, Any]:
    """Return the hook entry of a program for a hook."""
    return {"type": "command", "command": _LINE.format(program=program, mark=hook.mark), "timeout": TIMEOUT}


def install(
    project: Project, *, force: bool, programs: Sequence[str] = (), ahead: PendingFiles = NO_PENDING_FILES
) -> ChangeSet:
    """Plan to add or update the hooks for the given programs; by default, for those used here. Raises ExecplanError."""
    selected = hook_file.select_programs(project, programs)
    change_set = hook_file.plan_install([open_file(project, name, ahead) for name in selected], force=force)
    warnings = list(change_set.warnings)
    if "codex" in selected and any([change.action != "kept" for change in change_set.changes]):
        warnings.append(hook_file.TRUST_WARNING)
    if shutil.which("execplan") is None:
        warnings.append(NOT_ON_PATH_WARNING)
    return change_set._replace(warnings=tuple(warnings))


def uninstall(
    project: Project, *, force: bool, programs: Sequence[str] = (), ahead: PendingFiles = NO_PENDING_FILES
) -> ChangeSet:
    """Plan to remove the hooks for the given programs; by default, for all. Raises ExecplanError."""
    selected = programs or hook_file.PROGRAMS
    return hook_file.plan_uninstall(
        project, NAME, selected, ALL_HOOKS, lambda name: open_file(project, name, ahead), ahead, force=force
    )


def open_file(project: Project, program: str, ahead: PendingFiles = NO_PENDING_FILES) -> HookFile:
    """Open the hook file of a program in its current or pending state. Raises ExecplanError."""
    return hook_file.open_file(
        project, NAME, program, [(hook, hook_handler(program, hook)) for hook in HOOKS[program]], ahead
    )
