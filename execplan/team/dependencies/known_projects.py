"""The projects in which the plans of other repositories are looked up: those in the user's settings.

Plans name another project, but never a directory: which directories are read is the user's choice.
"""

from __future__ import annotations

from collections.abc import Iterable

from execplan.core.errors import ExecplanError
from execplan.core.project import user_settings
from execplan.core.project.project import Project
from execplan.core.project.project_list import Identity, identify, main_directory, open_project


class KnownProjects:
    """The user's projects, which are opened when a name is looked up for the first time."""

    def __init__(self, read_anyway: Iterable[Project] = (), *, reads_settings: bool = True) -> None:
        """Prepare to look up names; `read_anyway` are projects that a command reads anyway."""
        self._read_anyway = tuple(read_anyway)
        self._reads_settings = reads_settings
        self._projects: dict[Identity, Project] | None = None

    def find(self, name: str) -> list[Project]:
        """Return the projects with a name: the last part of their directory, or more parts of it.

        Raises ExecplanError for invalid settings of the user.
        """
        if self._projects is None:
            configured = _configured_projects() if self._reads_settings else []
            self._projects = {identify(project): project for project in (*self._read_anyway, *configured)}
        return [project for project in self._projects.values() if has_name(project, name)]


def has_name(project: Project, name: str) -> bool:
    """Return whether plans of other projects can name a project like this."""
    return any([directory.endswith(f"/{name}") for directory in (main_directory(project), project.base)])


def _configured_projects() -> list[Project]:
    """Return the projects in the user's settings, without those that can't be read, whose plans are unknown."""
    projects = []
    for path in user_settings.projects():
        try:
            projects.append(open_project(path))
        except ExecplanError:
            continue
    return projects
