"""Integration `install skill`: a skill that tells agents when and how to use execplan, where their programs look for it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial

from execplan.agents.integrations import managed_directory
from execplan.agents.integrations.hook_file import NO_PENDING_FILES, PendingFiles
from execplan.agents.integrations.integration_changes import ChangeSet, merge_change_sets, read_project_file
from execplan.agents.integrations.managed_directory import ManagedDirectory
from execplan.core.project import builtin_templates
from execplan.core.project.project import Project

NAME = "skill"
FILE_NAME = "SKILL.md"
_SHARED_DIRECTORY = ".agents/skills/execplan"
DIRECTORIES = {
    "codex": _SHARED_DIRECTORY,
    "gemini": _SHARED_DIRECTORY,
    "opencode": _SHARED_DIRECTORY,
    "claude": ".claude/skills/execplan",
}
"""Directory of the skill by program, from the repository root; many other programs read the shared one."""
_CLAUDE_FILES = (".claude", "CLAUDE.md")
"""Files that show that a repository is used with Claude Code."""


def skill_text(guide: str) -> str:
    """Return the text of the skill, with the path of the guide."""
    return builtin_templates.read_text("skill.md").replace("{guide}", guide)


def install(
    project: Project, *, force: bool, programs: Sequence[str] = (), ahead: PendingFiles = NO_PENDING_FILES
) -> ChangeSet:
    """Plan to add or update the skill for programs; by default, for all that may be used here. Raises ExecplanError."""
    selected = programs or [name for name in DIRECTORIES if name != "claude" or _uses_claude(project, ahead)]
    return merge_change_sets(
        [managed_directory.plan_install(directory, force=force) for directory in directories(project, selected)]
    )


def uninstall(
    project: Project, *, force: bool, programs: Sequence[str] = (), ahead: PendingFiles = NO_PENDING_FILES
) -> ChangeSet:
    """Plan to remove the skill for programs; by default, for all. Raises ExecplanError."""
    selected = directories(project, programs or list(DIRECTORIES))
    installed = [directory for directory in selected if managed_directory.read_list(directory) is not None]
    return merge_change_sets(
        [managed_directory.plan_uninstall(directory, force=force) for directory in installed or selected[:1]]
    )


def installed_programs(project: Project) -> list[str]:
    """Return the programs for which the skill is installed."""
    return [name for name in DIRECTORIES if os.path.lexists(directories(project, [name])[0].list_path)]


def directories(project: Project, programs: Sequence[str]) -> list[ManagedDirectory]:
    """Return the directories of programs; one that several programs reach by a link only once."""
    guide = project.display_path(os.path.join(project.base, project.settings.guide))
    files = {FILE_NAME: skill_text(guide).encode()}
    by_path: dict[str, ManagedDirectory] = {}
    for program in programs:
        path = os.path.join(project.root, DIRECTORIES[program])
        by_path.setdefault(
            os.path.realpath(path),
            ManagedDirectory(NAME, path, DIRECTORIES[program], files, partial(read_project_file, project)),
        )
    return list(by_path.values())


def _uses_claude(project: Project, ahead: PendingFiles) -> bool:
    folder = os.path.join(project.root, _CLAUDE_FILES[0]) + "/"
    return any([os.path.exists(os.path.join(project.root, name)) for name in _CLAUDE_FILES]) or any(
        [path.startswith(folder) and data is not None for path, data in ahead.items()]
    )
