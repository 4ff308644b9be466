"""Discovery of projects: from any directory inside one, without running git, and of the projects nested in it."""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.project import project_settings
from execplan.core.project.project import Project, ensure_inside
from execplan.core.project.project_settings import Settings, for_directory

_MAX_SEARCH_DEPTH = 4
"""Number of levels below a directory that are searched for projects to name in an error."""
_MAX_SEARCH_DIRECTORIES = 500
"""Maximum number of directories that this search lists, so that it is fast in `/` and in a home directory."""


_finishes_moves: list[bool] = []


def finish_moves() -> None:
    """From now on, finish an interrupted move in each project that `find` returns."""
    _finishes_moves[:] = [True]


def find(start: str) -> Project:
    """Find the project of a directory: the nearest with settings or plans, up to the repository root.

    Raises ExecplanError for bad settings, and for a project directory that is a link out of the repository.
    """
    project = _discover(start)
    if _finishes_moves and project.git and os.path.isdir(os.path.join(project.base, ".agent", ".state")):
        from execplan.core import features

        features.load(features.STATE_ADOPTION)(project)
    if _finishes_moves and os.path.lexists(project.move_intent_path):
        from execplan.core import features

        features.load(features.MOVE_RECOVERY)(project)
    return project


def find_read_only(start: str) -> Project:
    """Like `find`, for a project in which nothing is written: an interrupted move is not finished."""
    return _discover(start)._replace(is_read_only=True)


def find_beside(project: Project, start: str) -> Project:
    """Find the project of a directory that belongs to a known project; it is read-only if that one is."""
    return find_read_only(start) if project.is_read_only else find(start)


def _discover(start: str) -> Project:
    real, path = os.path.realpath(start), os.path.abspath(start)
    while path not in (real, os.path.dirname(path)):
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


def ensure_no_link_out(path: str) -> None:
    """Raise ExecplanError if the path of a file to write leads out of a repository or a project through a link in it.

    A cloned repository can contain such a link without the knowledge of whoever names the path.
    """
    absolute_path = link = os.path.abspath(path)
    while link != os.path.dirname(link):
        if os.path.islink(link):
            project = _discover(os.path.dirname(link))
            if project.exists or project.git is not None:
                ensure_inside(project, absolute_path)
        link = os.path.dirname(link)


def project_at(folder: str) -> Project:
    """Return the project of exactly this directory, even if it is not set up yet.

    Raises ExecplanError for bad settings.
    """
    return _project_at(find(folder), folder)


def _project_at(project: Project, folder: str) -> Project:
    base = os.path.realpath(folder)
    if project.base == base:
        return project
    return ensure_folders_inside(
        Project(project.root if project.git else base, base, project.git, Settings(), False, project.is_read_only)
    )


def nested_project(project: Project, name: str) -> Project:
    """Return a project nested in another, with paths displayed from the same root.

    Raises ExecplanError for bad settings.
    """
    folder = os.path.join(project.base, name)
    nested = _project_at(find_beside(project, folder), folder)
    return nested if nested.git else nested._replace(root=project.root)


def require(start: str) -> Project:
    """Find the project of a directory. Raises ExecplanError if there is none."""
    return require_existing(find(start))


def require_existing(project: Project) -> Project:
    """Return the project if it exists, which is not certain for a plan named by path; else raise ExecplanError."""
    if project.exists:
        return project
    from shlex import quote

    from execplan.core.project import directory_tree

    nearby = [
        os.path.relpath(path)
        for path in directory_tree.find_nearby_projects(project.base, _MAX_SEARCH_DEPTH, _MAX_SEARCH_DIRECTORIES)
    ]
    message = f"no ExecPlan project found in {project.base} or its parents"
    message += ", but there are projects in directories below" if nearby else ""
    directory = os.path.relpath(project.base)
    option = "" if {*directory.split("/")} <= {".", ".."} else f"-C {quote(directory)} "  # the plan is elsewhere
    hint = f"specify one: execplan -C {quote(nearby[0])} status" if nearby else f"create one: execplan {option}init"
    raise ExecplanError("no-home", message, hint=hint, candidates=nearby)


def with_nested_projects(project: Project) -> list[Project]:
    """Return a project, its further plans directories, and the nested projects in its settings.

    Each directory is a project with settings of its own. Raises ExecplanError if a nested project does not exist.
    """
    projects = with_directories(project)
    for name in project.settings.homes:
        nested = nested_project(project, name)
        if not nested.exists:
            raise ExecplanError(
                "no-such-home",
                f"the settings of {project.base} list {name} under homes, but it is not a project",
                hint=f"create it, or remove it from homes: execplan init {name}",
            )
        projects += with_directories(nested)
    return projects


def with_directories(project: Project) -> list[Project]:
    """Return a project, and a project for each of its further plans directories."""
    settings = project.settings
    members, archives = [project], project.archives
    for directory in settings.directories:
        if directory != settings.plans:
            member = project._replace(settings=for_directory(settings, directory), all_settings=settings)
            shared_archives = tuple([archive for archive in member.archives if archive in archives])
            archives = [*archives, *member.archives]
            members.append(member._replace(shared_archives=shared_archives))
    return members


def whole_project(project: Project) -> Project:
    """Return the project to which a plans directory belongs."""
    settings = project.all_settings
    return project if settings is None else project._replace(settings=settings, all_settings=None, shared_archives=())


def find_for_file(path: str) -> Project:
    """Find the project of a file, as seen from the plans directory that contains the file. Raises ExecplanError like `find`."""
    path = os.path.abspath(path)
    return directory_of(find(os.path.dirname(path)), path)


def directory_of(project: Project, path: str) -> Project:
    """Return the project with the settings of the plans directory that contains a file; otherwise its main one."""
    outer = whole_project(project)
    if not outer.settings.directories:
        return project
    folders = [(folder, member) for member in with_directories(outer) for folder in (member.plans, *member.archives)]
    containing = [(len(folder), member) for folder, member in folders if path.startswith(f"{folder}/")]
    return max(containing, key=lambda length_and_member: length_and_member[0])[1] if containing else outer


def related_projects(project: Project) -> list[Project]:
    """Return the projects whose plans a plan can name: a project and its nested ones, or all of the repository's project."""
    project = whole_project(project)
    if project.base != project.root:
        outer = find_beside(project, project.root)
        outer_members = with_nested_projects(outer) if outer.exists else []
        if project.base in [member.base for member in outer_members]:
            return outer_members
    return with_nested_projects(project)


def owned_path_prefixes(project: Project) -> tuple[str, ...]:
    """Return the path prefixes of the plans, archives and artifacts of a project and its nested projects.

    They are relative to the root.
    """
    prefixes = []
    for member in with_nested_projects(project):
        artifacts = [member.artifacts_dir("", archived=archived).rstrip("/") for archived in (False, True)]
        prefixes += [f"{member.display_path(folder)}/" for folder in (member.plans, *member.archives, *artifacts)]
        prefixes += [member.display_path(file) for file in member.files]
    return tuple(prefixes)


def ensure_folders_inside(project: Project) -> Project:
    """Return the same project. Raises ExecplanError if one of its directories is a link out of the repository."""
    checked_paths = set()
    for folder in [
        folder
        for settings in [member.settings for member in with_directories(project)]
        for folder in (
            settings.plans,
            settings.archive,
            settings.superseded,
            settings.artifacts,
            settings.archive_artifacts,
        )
    ]:
        path = project.base
        for part in folder.split("/"):
            path = os.path.join(path, part)
            if path not in checked_paths and os.path.islink(path):
                ensure_inside(project, path)
            checked_paths.add(path)
    return project


def find_repository(start: str) -> tuple[str | None, str | None]:
    """Return the working tree root and the git directory for a directory. Raises ExecplanError in a bare repository."""
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
            is_git_directory = os.path.basename(folder) == ".git"
            raise ExecplanError(
                "bare-repository",
                f"{folder} is a {'git directory' if is_git_directory else 'bare repository'}: it has no working tree",
                hint=f"run this in the working tree: {os.path.dirname(folder)}"
                if is_git_directory
                else "run this in a clone of it",
            )
        parent = os.path.dirname(folder)
        if parent == folder:
            return None, None
        folder = parent
