"""Integration `install merge-driver`: attributes for plan files, and the git settings of the merge driver."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING

from execplan.agents.integrations import managed_block
from execplan.agents.integrations.integration_changes import ALREADY_INSTALLED, Change, ChangeSet, read_project_file
from execplan.agents.integrations.managed_block import ManagedFile
from execplan.errors import CHECK_FAILED, ExecplanError
from execplan.git import git_query
from execplan.git_merge.git_merge_driver import PLACEHOLDERS
from execplan.plan_index.index_location import find_index
from execplan.project import builtin_templates, directory_tree, project_discovery
from execplan.project.project import common_git_dir
from execplan.project.project_settings import FLAT_LAYOUT, FOLDER_LAYOUT

if TYPE_CHECKING:
    from execplan.project.project import Project

NAME = "merge-driver"
_FILE = ".gitattributes"
_NAME_SETTING = "merge.execplan.name"
_DRIVER_SETTING = "merge.execplan.driver"
_ATTRIBUTE = "execplan"
_CALL = " -P -m execplan merge --driver "
_SEARCH_DEPTH = 4
"""Maximum depth of directories in which projects that no settings name are searched."""


def driver_command() -> str:
    """Return the driver command, a shell line: without Python or the package, it merges line by line and reports that.

    Otherwise, git would take our side as the result of a driver that failed to start.
    """
    python = shlex.quote(sys.executable).replace("%", "%%")
    line = builtin_templates.read_text("merge-driver.sh").strip()
    return line.replace("{python}", python).replace("{form}", " ".join(PLACEHOLDERS))


def attribute_lines(project: Project) -> list[str]:
    """Return the lines for .gitattributes, with the plan paths of all projects in the repository."""
    nearby_projects = [
        project_discovery.project_at(folder)
        for folder in [project.root, *directory_tree.find_projects(project.root, _SEARCH_DEPTH)]
    ]
    member_projects = [
        member_project
        for root_project in [project, *nearby_projects]
        if root_project.exists
        for member_project in project_discovery.with_nested_projects(root_project)
    ]
    return sorted(
        {
            line
            for member_project in member_projects
            if member_project.root == project.root
            for line in _project_attribute_lines(member_project)
        }
    )


def _insert_block(data: bytes, lines: list[str]) -> bytes:
    """Insert the block after the last complete line: an unterminated line would join the block when extended."""
    return managed_block.insert_block(
        data, len(data.rpartition(b"\n")[0]) + 1 if b"\n" in data else 0, lines, managed_block.SHELL
    )


def _project_attribute_lines(project: Project) -> list[str]:
    layout = project.settings.layout
    file_pattern = {FLAT_LAYOUT: "*.md", FOLDER_LAYOUT: "*/*.md"}.get(layout, f"*/{_escape_pattern(layout)}")
    date_depths = range(4 if "{" in project.settings.archive + project.settings.superseded else 1)
    plan_directories = [
        (project.plans, ""),
        *[(folder, "[0-9]*/" * date_pattern) for folder in project.archives for date_pattern in date_depths],
    ]
    patterns = [
        f"/{_escape_pattern(os.path.relpath(os.path.realpath(path), project.root))}/{date_pattern}{file_pattern}"
        for path, date_pattern in plan_directories
    ]
    index_path = find_index(project)
    if index_path is not None:
        patterns.append(f"/{_escape_pattern(os.path.relpath(os.path.realpath(index_path), project.root))}")
    return [f"{_quote_pattern(pattern)} merge={_ATTRIBUTE}" for pattern in dict.fromkeys(patterns)]


def _escape_pattern(path: str) -> str:
    return "".join([f"\\{char}" if char in "*?[]\\" else char for char in path])


def _quote_pattern(pattern: str) -> str:
    """Format a pattern for git: in quotes with C escapes if it contains white space or quotes."""
    if not any([char.isspace() or char == '"' or char < " " for char in pattern]):
        return pattern
    escaped = pattern.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join([f"\\{ord(char):03o}" if char < " " else char for char in escaped]) + '"'


def install(project: Project, *, force: bool) -> ChangeSet:
    """Plan to add or update the attributes and settings. Raises ExecplanError."""
    git_query.require_repository(project)
    file, lines = _load_file(project), attribute_lines(project)
    change_set = managed_block.plan_install(file, lines, lambda data: _insert_block(data, lines), force=force)
    driver = git_query.get_config(_config_path(project), _DRIVER_SETTING)
    if driver is not None and not _is_ours(driver) and not force:
        raise ExecplanError(
            "foreign-driver",
            f"git already has another merge driver named execplan: {driver}",
            exit=CHECK_FAILED,
            hint=f"keep it, or replace it: execplan install {NAME} --force",
        )
    values = {_NAME_SETTING: "plans, by tasks and entries", _DRIVER_SETTING: driver_command()}
    link_warnings = (f"{_FILE} is a symbolic link, which git doesn't follow",) if os.path.islink(file.path) else ()
    return change_set._replace(
        changes=(*change_set.changes, *[_setting_change(project, name, value) for name, value in values.items()]),
        warnings=(*change_set.warnings, *link_warnings),
    )


def uninstall(project: Project, *, force: bool) -> ChangeSet:
    """Plan to remove the attributes and settings. Raises ExecplanError. A foreign driver stays."""
    git_query.require_repository(project)
    change_set = managed_block.plan_uninstall(_load_file(project), force=force)
    driver = git_query.get_config(_config_path(project), _DRIVER_SETTING)
    is_removable = driver is None or _is_ours(driver) or force
    removed_settings = (
        [_setting_change(project, name, None) for name in (_DRIVER_SETTING, _NAME_SETTING)] if is_removable else []
    )
    return change_set._replace(changes=(*change_set.changes, *removed_settings))


def state(project: Project) -> str:
    """Return git's view: `absent`, `installed`, `attribute only` or `config only`. Raises ExecplanError.

    A driver whose Python is missing does not count.
    """
    probe = os.path.relpath(os.path.realpath(project.plan_file(project.plans, "plan")), project.root)
    attribute_fields = git_query.output(project, "check-attr", "-z", "merge", "--", probe).split(b"\0")
    has_attribute = attribute_fields[2:3] == [_ATTRIBUTE.encode()]
    driver = (
        (git_query.output_or_none(project, "config", "--get", _DRIVER_SETTING, no_status=1) or b"")
        .decode("utf-8", "replace")
        .strip()
    )
    has_driver = bool(driver) and (not _is_ours(driver) or os.access(_driver_python(driver), os.X_OK))
    if has_attribute:
        return "installed" if has_driver else "attribute only"
    return "config only" if has_driver else "absent"


def _is_ours(driver: str) -> bool:
    return _CALL in driver


def _driver_python(driver: str) -> str:
    """Return the Python path in a driver command of execplan; empty if the line was edited by hand."""
    try:
        return "".join(shlex.split(driver.partition(_CALL)[0].partition("$(")[2])).replace("%%", "%")
    except ValueError:
        return ""


def _setting_change(project: Project, name: str, value: str | None) -> Change:
    path = _config_path(project)
    old, new = [
        setting_value if setting_value is None else os.fsencode(setting_value)
        for setting_value in (git_query.get_config(path, name), value)
    ]
    return Change(
        NAME, path, old, new, "" if old != new else ALREADY_INSTALLED if new else "not installed", setting=name
    )


def _config_path(project: Project) -> str:
    """Return the path of the local git settings, which all worktrees share."""
    assert project.git is not None
    return os.path.join(common_git_dir(project.git), "config")


def _load_file(project: Project) -> ManagedFile:
    path = os.path.join(project.root, _FILE)
    return ManagedFile(NAME, path, _FILE, read_project_file(project, path), managed_block.SHELL)
