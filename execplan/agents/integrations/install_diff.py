"""Detection of files that differ from an earlier version only by the changes of `install`."""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.files.tree_walk import walk_tree
from execplan.core.project.project import Project

_MARKDOWN = ("AGENTS.md", "CLAUDE.md")
_ATTRIBUTES = ".gitattributes"
_PRECOMMIT = ".pre-commit-config.yaml"
_HOOK_FILES = {".claude/settings.json": "claude", ".codex/hooks.json": "codex", ".gemini/settings.json": "gemini"}
_DIRECTORIES = (".agents/skills/execplan/", ".claude/skills/execplan/", ".opencode/plugins/")
_FILES = (*_MARKDOWN, _ATTRIBUTES, _PRECOMMIT, *_HOOK_FILES)


def differs_only_by_install(project: Project, path: str, commit: str) -> bool:
    """Check whether only execplan has changed a file since a commit; without a commit, since it did not exist.

    The path is relative to the repository root; one that ends in a slash is a directory without tracked files.
    """
    if path.endswith("/"):
        if not any([name.startswith(path) for name in (*_FILES, *_DIRECTORIES)]):
            return False
        return all([differs_only_by_install(project, child_path, "") for child_path in _list_files(project, path)])
    if path not in _FILES:
        return path.startswith(_DIRECTORIES) and _is_in_managed_directory(project, path)
    from execplan.agents.integrations.integration_changes import read_project_file

    try:
        current_data = read_project_file(project, os.path.join(project.root, path))
        committed_data = _committed_version(project, path, commit) if commit else None
        return current_data is not None and _without_installed_parts(
            project, path, current_data
        ) == _without_installed_parts(project, path, committed_data or b"")
    except ExecplanError:
        return False  # the author of the changes is unknown


def _is_in_managed_directory(project: Project, path: str) -> bool:
    """Check whether a file belongs to the installed skill or to the guard's plugin, and nobody has edited it."""
    from execplan.agents.integrations import managed_directory, opencode_plugin, skill

    plugin = opencode_plugin.plugin_directory(project, "")
    for directory in [*skill.directories(project, list(skill.DIRECTORIES)), plugin]:
        name = os.path.relpath(os.path.join(project.root, path), directory.path)
        try:
            if managed_directory.is_intact(directory, name):
                return True
        except ExecplanError:
            continue  # the author of the changes is unknown
    return False


def _list_files(project: Project, folder: str) -> list[str]:
    """List the files below a directory by their paths from the repository root."""
    return [
        os.path.relpath(os.path.join(directory, name), project.root)
        for directory, _, names in walk_tree(os.path.join(project.root, folder))
        for name in names
    ]


def _committed_version(project: Project, path: str, commit: str) -> bytes | None:
    """Return a file's content in a commit; None if the commit does not have it."""
    from execplan.core.git import git_query

    try:
        return git_query.output(project, "cat-file", "blob", f"{commit}:{path}")
    except ExecplanError:
        return None


def _without_installed_parts(project: Project, path: str, data: bytes) -> bytes:
    """Return a file's content without the parts of execplan.

    Raises ExecplanError, also if someone edited these parts.
    """
    from execplan.agents.integrations import managed_block
    from execplan.agents.integrations.managed_block import ManagedFile

    if path not in _HOOK_FILES:
        style = managed_block.MARKDOWN if path in _MARKDOWN else managed_block.SHELL
        file = ManagedFile("", path, path, data, style)
        if path != _PRECOMMIT:
            return managed_block.plan_uninstall(file, force=False).changes[0].new or b""
        from execplan.agents.integrations import precommit

        return precommit.config_without_hook(file)
    from execplan.agents.integrations import guard_hook, session_hooks, stop_gate

    absolute_path = os.path.join(project.root, path)
    for integration in (guard_hook, session_hooks, stop_gate):
        change_set = integration.uninstall(
            project, force=False, programs=(_HOOK_FILES[path],), ahead={absolute_path: data}
        )
        change = change_set.changes[0]
        data = (change.new or b"") if change.old is not None else data
    return data
