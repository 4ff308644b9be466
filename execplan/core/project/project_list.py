"""Several projects that are read together: the current one, and others that nothing is written to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from execplan.core.errors import ExecplanError
from execplan.core.project import project_discovery, user_settings
from execplan.core.project.project import Project, common_git_dir

Identity = tuple[str, str]
"""What the worktrees of a project have in common: the git directory, and the path of the project in it."""


class ProjectOrigin(NamedTuple):
    """The project that a plan comes from."""

    name: str
    """Name of the project among those that are read together."""
    path: str
    """Absolute path of the project directory."""

    def to_json(self) -> dict[str, Any]:
        """Return the origin as a document shows it."""
        return self._asdict()


class ListedProject(NamedTuple):
    """One of several projects."""

    origin: ProjectOrigin
    project: Project

    @property
    def command_directory(self) -> str:
        """Directory for `execplan -C`, in which commands about this project run; empty for the current project."""
        return self.project.base if self.project.is_read_only else ""


class ProjectList(NamedTuple):
    """The projects that a command reads."""

    projects: tuple[ListedProject, ...]
    problems: tuple[str, ...] = ()
    """Why some projects can't be read."""
    notices: tuple[str, ...] = ()
    """Why some projects were left out although they can be read: their plans are already included."""

    @property
    def owner(self) -> Project:
        """Return the project that keeps what is about all of them: the current one if it is listed."""
        return min([listed.project for listed in self.projects], key=lambda project: project.is_read_only)


def list_projects(paths: Sequence[str], current: Project | None) -> ProjectList:
    """Return the projects of these directories; `current` is the only one that is not read-only.

    A directory below a project stands for the project. A project that can't be read is a problem, but if none can be
    read, ExecplanError is raised.
    """
    opened: list[Project] = []
    problems: list[str] = []
    notices: list[str] = []
    for path in paths:
        try:
            project = open_project(path, current)
        except ExecplanError as error:
            problems.append(error.message)
            continue
        if notice := _included_notice(path, project, opened):
            notices.append(notice)
        else:
            opened.append(project)
    opened, nested_notices = _without_nested(opened)
    if not opened:
        raise ExecplanError(
            "no-such-project",
            problems[0] if problems else "no projects are listed",
            hint="name the directory of a project: --project ../other",
            candidates=problems[1:],
        )
    names = unique_names([main_directory(project) for project in opened])
    projects = [
        ListedProject(ProjectOrigin(name, project.base), project) for name, project in zip(names, opened, strict=True)
    ]
    return ProjectList(tuple(projects), tuple(problems), (*notices, *nested_notices))


def list_all_projects(current: Project | None) -> ProjectList:
    """Return the current project and those in the user's settings. Raises ExecplanError if there are none."""
    if not (configured := user_settings.projects()):
        raise ExecplanError(
            "no-projects-listed",
            f"{user_settings.path()} lists no projects",
            hint='add at its start: projects = ["~/src/other"]; or name one here: --project ../other',
        )
    if current is not None:  # which is usually in the list, too, perhaps with its main worktree
        configured = (current.base, *[path for path in configured if not _is_in_project(path, current)])
    return list_projects(configured, current)


def _is_in_project(path: str, project: Project) -> bool:
    """Return whether a directory is in a project, or in another worktree of it."""
    try:
        return identify(project_discovery.find_read_only(os.path.abspath(path))) == identify(project)
    except (OSError, ExecplanError):
        return False


def open_project(path: str, current: Project | None = None) -> Project:
    """Return the project of a directory, which is read-only unless it is the current one. Raises ExecplanError."""
    directory = os.path.abspath(path)
    try:
        os.listdir(directory)
        project = project_discovery.find_read_only(directory)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise _not_usable_error(f"{path} can't be read: {reason}") from None
    if not project.exists:
        raise _not_usable_error(f"{path} is not in an ExecPlan project")
    if current is not None and os.path.realpath(current.base) == project.base:
        return current
    project_discovery.with_nested_projects(project)  # raises the error that would hide all other projects later
    return project


def _not_usable_error(message: str) -> ExecplanError:
    hint = "name the directory of a project: --project ../other"
    return ExecplanError("no-such-project", message, hint=hint)


def identify(project: Project) -> Identity:
    """Return what the worktrees of a project have in common."""
    if project.git is None:
        return os.path.realpath(project.base), "."
    return os.path.realpath(common_git_dir(project.git)), project.base_path


def main_directory(project: Project) -> str:
    """Return the project directory in the main worktree, after which a project is named, or the project's own one."""
    common = common_git_dir(project.git) if project.git is not None else ""
    if common == project.git or os.path.basename(common) != ".git":
        return project.base
    return os.path.normpath(os.path.join(os.path.dirname(common), project.base_path))


def unique_names(directories: Sequence[str]) -> list[str]:
    """Return a name for each directory: its last part, with as many parts before it as make it unique."""
    parts = [[part for part in directory.split("/") if part] or ["/"] for directory in directories]
    lengths = [1] * len(parts)
    while True:
        names = ["/".join(split[-length:]) for split, length in zip(parts, lengths, strict=True)]
        extended = [
            length + 1 if names.count(name) > 1 and length < len(split) else length
            for name, split, length in zip(names, parts, lengths, strict=True)
        ]
        if extended == lengths:
            return names
        lengths = extended


def _included_notice(path: str, project: Project, opened: Sequence[Project]) -> str:
    """Return why a project is already included; empty if it is not."""
    for other in opened:
        if other.base == project.base:
            return f"{path} is listed twice"
        if identify(other) == identify(project):
            return f"{path} is a worktree of {other.base}, whose plans are already included"
    return ""


def _without_nested(projects: Sequence[Project]) -> tuple[list[Project], list[str]]:
    """Leave out projects that are nested in others of the list, and return the reasons."""
    outer_by_base = {
        nested.base: project
        for project in projects
        for nested in project_discovery.with_nested_projects(project)
        if nested.base != project.base
    }
    notices = [
        f"{project.base} is nested in {outer_by_base[project.base].base}, whose plans are already included"
        for project in projects
        if project.base in outer_by_base
    ]
    return [project for project in projects if project.base not in outer_by_base], notices
