"""What git needs to call the merge driver: its command line, and the attributes of plan files."""

from __future__ import annotations

import os
import shlex
import sys
from typing import Final

from execplan.core.git_merge.git_merge_driver import PLACEHOLDERS
from execplan.core.plan_store.index_location import find_index
from execplan.core.project import builtin_templates, directory_tree, project_discovery
from execplan.core.project.project import Project
from execplan.core.project.project_settings import FLAT_LAYOUT, FOLDER_LAYOUT

DRIVER_SETTING: Final = "merge.execplan.driver"
ATTRIBUTE: Final = "execplan"
"""Value of the attribute `merge` of plan files."""
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
    for path in [*project.files, *([index_path] if index_path is not None else [])]:
        patterns.append(f"/{_escape_pattern(os.path.relpath(os.path.realpath(path), project.root))}")
    return [f"{_quote_pattern(pattern)} merge={ATTRIBUTE}" for pattern in dict.fromkeys(patterns)]


def _escape_pattern(path: str) -> str:
    return "".join([f"\\{char}" if char in "*?[]\\" else char for char in path])


def _quote_pattern(pattern: str) -> str:
    """Format a pattern for git: in quotes with C escapes if it contains white space or quotes."""
    if not any([char.isspace() or char == '"' or char < " " for char in pattern]):
        return pattern
    escaped = pattern.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join([f"\\{ord(char):03o}" if char < " " else char for char in escaped]) + '"'
