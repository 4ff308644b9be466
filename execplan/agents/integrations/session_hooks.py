"""`install session-hooks`: Claude Code and Codex tell every session where the plan stands, by `execplan prime`."""

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

WHAT = "session-hooks"
TIMEOUT = 20
"""Seconds that the programs wait; it takes a tenth of one."""
HOOKS = {"claude": (SESSION, COMPACTION), "codex": (SESSION,)}
"""When the programs ask. What is printed before a compaction goes to whoever sums up in Claude Code, and nowhere in Codex; in
both a session begins anew behind it."""
ALL_HOOKS = (SESSION, COMPACTION)
_LINE = "sh -c 'execplan prime --hook {program} || : {mark}'"
"""It always ends with 0: without execplan a session begins without a word, and any other status would stop a compaction."""
NOT_ON_PATH_WARNING = "execplan is not on PATH; where the program does not find it either, a session is told nothing"


def hook_handler(program: str, hook: Hook) -> dict[str, Any]:
    """An entry of a program."""
    return {"type": "command", "command": _LINE.format(program=program, mark=hook.mark), "timeout": TIMEOUT}


def install(
    project: Project, *, force: bool, programs: Sequence[str] = (), ahead: PendingFiles = NO_PENDING_FILES
) -> ChangeSet:
    """Add the hooks for the programs, or renew them; without any for those that are at home here. Raises ExecplanError."""
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
    """Take the hooks out for the programs, without any for all; raises ExecplanError."""
    selected = programs or hook_file.PROGRAMS
    return hook_file.plan_uninstall(
        project, WHAT, selected, ALL_HOOKS, lambda name: open_file(project, name, ahead), ahead, force=force
    )


def open_file(project: Project, program: str, ahead: PendingFiles = NO_PENDING_FILES) -> HookFile:
    """The file of a program as it is, or will be; raises ExecplanError."""
    return hook_file.open_file(
        project, WHAT, program, [(hook, hook_handler(program, hook)) for hook in HOOKS[program]], ahead
    )
