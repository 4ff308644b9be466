"""Integration `install merge-driver`: attributes for plan files, and the git settings of the merge driver."""

from __future__ import annotations

import os
import shlex

from execplan.agents.integrations import managed_block
from execplan.agents.integrations.integration_changes import (
    ALREADY_INSTALLED,
    ChangeSet,
    IntegrationChange,
    read_project_file,
)
from execplan.agents.integrations.managed_block import ManagedFile
from execplan.core.errors import ExecplanError
from execplan.core.git import git_query
from execplan.core.git_merge.driver_settings import ATTRIBUTE, DRIVER_SETTING, attribute_lines, driver_command
from execplan.core.project.project import Project, common_git_dir

NAME = "merge-driver"
_FILE = ".gitattributes"
_NAME_SETTING = "merge.execplan.name"
_CALL = " -P -m execplan merge --driver "


def _insert_block(data: bytes, lines: list[str]) -> bytes:
    """Insert the block after the last complete line: an unterminated line would join the block when extended."""
    return managed_block.insert_block(
        data, len(data.rpartition(b"\n")[0]) + 1 if b"\n" in data else 0, lines, managed_block.SHELL
    )


def install(project: Project, *, force: bool) -> ChangeSet:
    """Plan to add or update the attributes and settings. Raises ExecplanError."""
    git_query.require_repository(project)
    file, lines = _load_file(project), attribute_lines(project)
    change_set = managed_block.plan_install(file, lines, lambda data: _insert_block(data, lines), force=force)
    driver = git_query.get_config(_config_path(project), DRIVER_SETTING)
    if driver is not None and not _is_ours(driver) and not force:
        raise ExecplanError(
            "foreign-driver",
            f"git already has another merge driver named execplan: {driver}",
            hint=f"keep it, or replace it: execplan install {NAME} --force",
        )
    values = {_NAME_SETTING: "plans, by tasks and entries", DRIVER_SETTING: driver_command()}
    link_warnings = (f"{_FILE} is a symbolic link, which git doesn't follow",) if os.path.islink(file.path) else ()
    return change_set._replace(
        changes=(*change_set.changes, *[_setting_change(project, name, value) for name, value in values.items()]),
        warnings=(*change_set.warnings, *link_warnings),
    )


def uninstall(project: Project, *, force: bool) -> ChangeSet:
    """Plan to remove the attributes and settings. Raises ExecplanError. A foreign driver stays."""
    git_query.require_repository(project)
    change_set = managed_block.plan_uninstall(_load_file(project), force=force)
    driver = git_query.get_config(_config_path(project), DRIVER_SETTING)
    is_removable = driver is None or _is_ours(driver) or force
    removed_settings = (
        [_setting_change(project, name, None) for name in (DRIVER_SETTING, _NAME_SETTING)] if is_removable else []
    )
    return change_set._replace(changes=(*change_set.changes, *removed_settings))


def state(project: Project) -> str:
    """Return git's view: `absent`, `installed`, `attribute only` or `config only`. Raises ExecplanError.

    A driver whose Python is missing does not count.
    """
    probe = os.path.relpath(os.path.realpath(project.plan_file(project.plans, "plan")), project.root)
    attribute_fields = git_query.output(project, "check-attr", "-z", "merge", "--", probe).split(b"\0")
    has_attribute = attribute_fields[2:3] == [ATTRIBUTE.encode()]
    driver = (
        (git_query.output_or_none(project, "config", "--get", DRIVER_SETTING, no_status=1) or b"")
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


def _setting_change(project: Project, name: str, value: str | None) -> IntegrationChange:
    path = _config_path(project)
    old, new = [
        setting_value if setting_value is None else os.fsencode(setting_value)
        for setting_value in (git_query.get_config(path, name), value)
    ]
    return IntegrationChange(
        NAME, path, old, new, "" if old != new else ALREADY_INSTALLED if new else "not installed", setting=name
    )


def _config_path(project: Project) -> str:
    """Return the path of the local git settings, which all worktrees share."""
    assert project.git is not None
    return os.path.join(common_git_dir(project.git), "config")


def _load_file(project: Project) -> ManagedFile:
    path = os.path.join(project.root, _FILE)
    return ManagedFile(NAME, path, _FILE, read_project_file(project, path), managed_block.SHELL)
