"""The options of commands that can read several projects."""

from __future__ import annotations

import os
from typing import Final

import click

from execplan.cli.option_rules import exclusive, join_options, option_rules
from execplan.core.errors import ExecplanError, usage_error
from execplan.core.project import project_discovery
from execplan.core.project.project import Project
from execplan.core.project.project_list import ProjectList, list_all_projects, list_projects

PROJECT_OPTIONS: Final = ("--project", "--all-projects")


projects_option = join_options(
    click.option(
        "--project",
        "project_paths",
        metavar="PATH",
        multiple=True,
        help="Read exactly this project; repeat it for several, with . for this one.",
    ),
    click.option(
        "--all-projects", "all_projects", is_flag=True, help="Read this project and those that your settings list."
    ),
    option_rules(exclusive(*PROJECT_OPTIONS, hint="--project names exactly the projects to read")),
)


def select_projects(project_paths: tuple[str, ...], *, all_projects: bool) -> ProjectList | None:
    """Return the projects that the options name; None without options, if only the current project is meant.

    Raises ExecplanError if none of them can be read.
    """
    if not project_paths and not all_projects:
        return None
    if "" in project_paths:
        raise usage_error("--project requires a directory", "--project ../other")
    current, problem = _find_current_project()
    if not all_projects:
        return list_projects(project_paths, current)
    projects = list_all_projects(current)
    return projects._replace(problems=(problem, *projects.problems)) if problem else projects


def _find_current_project() -> tuple[Project | None, str]:
    """Return the project of the current directory; None outside of projects, or with the problem if it can't be read."""
    try:
        return project_discovery.require(os.getcwd()), ""
    except ExecplanError as error:
        return None, error.message if error.code not in ("no-home", "bare-repository") else ""
