"""Integration `install agents`: instructions for plans in AGENTS.md, and in CLAUDE.md if it exists."""

from __future__ import annotations

import os

from execplan.agents.integrations import managed_block
from execplan.agents.integrations.integration_changes import ChangeSet, merge_change_sets, read_project_file
from execplan.agents.integrations.managed_block import ManagedFile
from execplan.core.project import builtin_templates
from execplan.core.project.project import Project
from execplan.core.project.project_discovery import with_directories

NAME = "agents"
_AGENTS_FILE, _CLAUDE_FILE = "AGENTS.md", "CLAUDE.md"
_IMPORTS = ("@AGENTS.md", "@./AGENTS.md")


def block_lines(project: Project) -> list[str]:
    """Return the lines of the block, with the paths of the project."""
    paths = {
        "plans": "`, `".join([member.display_path(member.plans) for member in with_directories(project)]),
        "archive": "`, `".join([member.display_path(member.archive) for member in with_directories(project)]),
        "guide": project.display_path(os.path.join(project.base, project.settings.guide)),
    }
    return builtin_templates.read_text("agents.md").format_map(paths).splitlines()


def install(project: Project, *, force: bool) -> ChangeSet:
    """Plan to add or update the block. Raises ExecplanError."""
    lines = block_lines(project)
    files = [_load_file(project, _AGENTS_FILE)]
    claude_file = _load_file(project, _CLAUDE_FILE)
    if (
        claude_file.data is not None
        and not _is_same_file(project)
        and (claude_file.block or not _imports_agents_file(claude_file.data))
    ):
        files.append(claude_file)
    change_sets = [
        managed_block.plan_install(file, lines, lambda data: _append_block(data, lines), force=force) for file in files
    ]
    return merge_change_sets(change_sets)


def uninstall(project: Project, *, force: bool) -> ChangeSet:
    """Plan to remove the block. Raises ExecplanError."""
    files = [_load_file(project, _AGENTS_FILE)]
    claude_file = _load_file(project, _CLAUDE_FILE)
    if claude_file.block and not _is_same_file(project):
        files.append(claude_file)
    return merge_change_sets([managed_block.plan_uninstall(file, force=force) for file in files])


def _load_file(project: Project, name: str) -> ManagedFile:
    path = os.path.join(project.root, name)
    return ManagedFile(NAME, path, name, read_project_file(project, path), managed_block.MARKDOWN)


def _append_block(data: bytes, lines: list[str]) -> bytes:
    return managed_block.insert_block(data, len(data), lines, managed_block.MARKDOWN)


def _imports_agents_file(data: bytes) -> bool:
    """Check whether a CLAUDE.md imports AGENTS.md."""
    return any([import_line in data.decode("utf-8", "replace").split() for import_line in _IMPORTS])


def _is_same_file(project: Project) -> bool:
    """Check whether AGENTS.md and CLAUDE.md are the same file, for example by a link."""
    agents_path, claude_path = [
        os.path.realpath(os.path.join(project.root, name)) for name in (_AGENTS_FILE, _CLAUDE_FILE)
    ]
    return agents_path == claude_path or (
        os.path.exists(agents_path) and os.path.exists(claude_path) and os.path.samefile(agents_path, claude_path)
    )
