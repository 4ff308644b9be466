"""Integration `install guard`: a hook of Claude Code and Codex that passes each tool call to `execplan guard` first."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from execplan.agents.integrations import hook_entry, hook_file
from execplan.agents.integrations.hook_file import NO_PENDING_FILES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.agents.integrations.hook_file import HookFile, PendingFiles
    from execplan.agents.integrations.integration_changes import ChangeSet
    from execplan.project.project import Project

NAME = "guard"
TIMEOUT = 30
"""Seconds that the programs wait; the guard itself gives up and denies after twenty."""
_LINE = (
    "sh -c 'execplan guard --program {program} || "
    f"{{{{ echo execplan guard did not allow this call >&2; exit 2; }}}} {hook_entry.GUARD.mark}'"
)
"""Hook command, which turns every failure of the guard into status 2.

Any status except 0 and 2 lets a call through, for example if the guard is missing, crashes or is killed.
"""
RESTRICTION_WARNING = (
    "from now on an agent that is started in the root of the repository may read in it, and do what an approved plan says, "
    "and no more; what that means, and where it ends: execplan explain guard"
)
NOT_ON_PATH_WARNING = "execplan is not on PATH; where the program does not find it either, every call is denied"
_EXTRA_FIELDS: dict[str, dict[str, Any]] = {"claude": {"onFailure": "block"}, "codex": {}}
"""Additional fields in a program's hook entry."""


def hook_handler(program: str) -> dict[str, Any]:
    """Return the hook entry of a program."""
    line = _LINE.format(program=program)
    return {"type": "command", "command": line, "timeout": TIMEOUT, **_EXTRA_FIELDS[program]}


def install(
    project: Project, *, force: bool, programs: Sequence[str] = (), ahead: PendingFiles = NO_PENDING_FILES
) -> ChangeSet:
    """Plan to add or update the hook for the given programs; by default, for those used here. Raises ExecplanError."""
    selected = hook_file.select_programs(project, programs)
    change_set = hook_file.plan_install([open_file(project, name, ahead) for name in selected], force=force)
    warnings = list(change_set.warnings)
    if any([change.action != "kept" for change in change_set.changes]):
        warnings += [RESTRICTION_WARNING, *([hook_file.TRUST_WARNING] if "codex" in selected else [])]
    if shutil.which("execplan") is None:
        warnings.append(NOT_ON_PATH_WARNING)
    return change_set._replace(warnings=tuple(warnings))


def uninstall(
    project: Project, *, force: bool, programs: Sequence[str] = (), ahead: PendingFiles = NO_PENDING_FILES
) -> ChangeSet:
    """Plan to remove the hook for the given programs; by default, for all. Raises ExecplanError."""
    selected = programs or hook_file.PROGRAMS
    return hook_file.plan_uninstall(
        project, NAME, selected, [hook_entry.GUARD], lambda name: open_file(project, name, ahead), ahead, force=force
    )


def open_file(project: Project, program: str, ahead: PendingFiles = NO_PENDING_FILES) -> HookFile:
    """Open the hook file of a program in its current or pending state. Raises ExecplanError."""
    return hook_file.open_file(project, NAME, program, [(hook_entry.GUARD, hook_handler(program))], ahead)
