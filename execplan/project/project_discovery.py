"""Homes found: from any folder inside one, without asking git, and those below that belong to it."""

from __future__ import annotations

import os

from execplan.errors import ENVIRONMENT, INPUT, ExecplanError
from execplan.files import file_access
from execplan.project import project_settings
from execplan.project.project import Project, ensure_inside
from execplan.project.project_settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_SEARCH_DEPTH = 4
"""How many levels down an error searches for projects that it can name."""
_MAX_SEARCH_DIRECTORIES = 500
"""How many directories that search lists at most, so that it ends at once in `/` and in a home directory."""


_move_finishers: list[Callable[[Project], object]] = []


def set_move_finisher(finisher: Callable[[Project], object]) -> None:
    """Let every home that is found from now on, and has a move that was cut short or is under way, be handed over."""
    _move_finishers[:] = [finisher]


def find(start: str) -> Project:
    """The home that a folder lies in: the nearest with settings or plans, up to the root of the repository.

    Raises ExecplanError for bad settings, and for a home of which a folder is a link out of the repository.
    """
    project = _discover(start)
    if _move_finishers and os.path.lexists(project.move_intent_path):
        _move_finishers[0](project)
    return project


def _discover(start: str) -> Project:
    real, path = os.path.realpath(start), os.path.abspath(start)
    while path not in (real, "/"):
        if os.path.islink(path):
            _discover(os.path.dirname(path))
        path = os.path.dirname(path)
    git_root, git = find_repository(real)
    folder = real
    while True:
        loaded_settings = project_settings.load(folder)
        settings = loaded_settings.settings if loaded_settings is not None else Settings()
        if loaded_settings is not None or os.path.isdir(os.path.join(folder, settings.plans)):
            return ensure_folders_inside(Project(git_root or folder, folder, git, settings, exists=True))
        parent = os.path.dirname(folder)
        if folder in (git_root, parent):
            break
        folder = parent
    base = git_root or real
    return ensure_folders_inside(Project(base, base, git, Settings(), exists=False))


def project_at(folder: str) -> Project:
    """The home of this very folder, whether it is one yet or not; raises ExecplanError."""
    project = find(folder)
    base = os.path.realpath(folder)
    if project.base == base:
        return project
    return ensure_folders_inside(
        Project(project.root if project.git else base, base, project.git, Settings(), exists=False)
    )


def nested_project(project: Project, name: str) -> Project:
    """The home of a folder below another, with paths that are shown from the same root; raises ExecplanError."""
    nested = project_at(os.path.join(project.base, name))
    return nested if nested.git else nested._replace(root=project.root)


def require(start: str) -> Project:
    """The home that a folder lies in; raises ExecplanError when there is none."""
    return require_existing(find(start))


def require_existing(project: Project) -> Project:
    """The home, if it is one: a plan that is named by its path may lie in none; raises ExecplanError."""
    if project.exists:
        return project
    from shlex import quote

    from execplan.project import directory_tree

    nearby = [
        os.path.relpath(path)
        for path in directory_tree.find_nearby_projects(project.base, _MAX_SEARCH_DEPTH, _MAX_SEARCH_DIRECTORIES)
    ]
    message = f"no plans folder in {project.base} or above" + (", but in folders below" if nearby else "")
    hint = f"name the one that is meant: execplan -C {quote(nearby[0])} status" if nearby else "make one: execplan init"
    raise ExecplanError("no-home", message, exit=ENVIRONMENT, hint=hint, candidates=nearby)


def with_nested_projects(project: Project) -> list[Project]:
    """A home, and those below it that its settings name; raises ExecplanError for a name that is none."""
    projects = [project]
    for name in project.settings.homes:
        nested = nested_project(project, name)
        if not nested.exists:
            raise ExecplanError(
                "no-such-home",
                f"the settings of {project.base} name {name} under homes, but there is none",
                exit=INPUT,
                hint=f"make it, or take it out of homes: execplan init {name}",
            )
        projects.append(nested)
    return projects


def owned_path_prefixes(project: Project) -> tuple[str, ...]:
    """How the paths begin, from the root, of what belongs to a home and those below: plans, archives, artifacts."""
    prefixes = []
    for member in with_nested_projects(project):
        artifacts = [member.artifacts_dir("", archived=archived).rstrip("/") for archived in (False, True)]
        prefixes += [f"{member.display_path(folder)}/" for folder in (member.plans, *member.archives, *artifacts)]
    return tuple(prefixes)


def ensure_folders_inside(project: Project) -> Project:
    """The home, none of whose folders is a link out of the repository; raises ExecplanError."""
    settings = project.settings
    checked_paths = set()
    for folder in (
        settings.plans,
        settings.archive,
        settings.superseded,
        settings.artifacts,
        settings.archive_artifacts,
    ):
        path = project.base
        for part in folder.split("/"):
            path = os.path.join(path, part)
            if path not in checked_paths and os.path.islink(path):
                ensure_inside(project, path)
            checked_paths.add(path)
    return project


def find_repository(start: str) -> tuple[str | None, str | None]:
    """The root of the working tree that a folder lies in, and its git folder; raises ExecplanError in a bare one."""
    folder = start
    while True:
        marker = os.path.join(folder, ".git")
        if os.path.isdir(marker):
            return folder, marker
        if os.path.isfile(marker):
            with open(file_access.open_file(marker)[0], encoding="utf-8", errors="surrogateescape") as file:
                line = file.readline(5000)
            if line.startswith("gitdir:"):
                return folder, os.path.normpath(os.path.join(folder, line[len("gitdir:") :].strip()))
        if all([os.path.exists(os.path.join(folder, name)) for name in ("HEAD", "objects", "refs")]):
            raise ExecplanError(
                "bare-repository",
                f"{folder} is a git folder or a bare repository: it has no working tree",
                exit=ENVIRONMENT,
                hint="go to a checkout: git worktree add ../checkout",
            )
        parent = os.path.dirname(folder)
        if parent == folder:
            return None, None
        folder = parent
