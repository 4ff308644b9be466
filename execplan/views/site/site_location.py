"""Where a static site may be: not in a git directory, and not among plans."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from execplan.core.errors import INPUT, ExecplanError
from execplan.core.files.file_access import resolve_path
from execplan.core.project.project import IN_GIT_DIR, is_in_git_dir
from execplan.core.project.project_discovery import ensure_no_link_out, with_nested_projects
from execplan.core.text.pure_paths import is_inside

if TYPE_CHECKING:
    from execplan.core.project.project import Project

DEFAULT_DIRECTORY: Final = ".agent/site"
"""Directory of the site below the project's directory; its own ignore file keeps it out of commits."""


def ensure_separate(project: Project, path: str) -> None:
    """Raise ExecplanError if a site must not be written to a path.

    It must not be in a git directory, among the plans and artifacts of a project, or reached through a link out of the repository.
    """
    ensure_no_link_out(path)
    directory = resolve_path(path)
    if is_in_git_dir(project, directory):
        message = f"{directory} {IN_GIT_DIR}"
        raise ExecplanError("not-a-site", message, exit=INPUT, hint="choose another directory: execplan site --out DIR")
    if project.is_read_only and is_inside(directory, project.root):
        message = f"{directory} is inside {project.root}, which is another project, and is only read"
        raise ExecplanError("not-a-site", message, exit=INPUT, hint="choose another directory: execplan site --out DIR")
    for member in with_nested_projects(project):
        for folder in (
            member.plans,
            *member.archives,
            member.artifacts_dir(""),
            member.artifacts_dir("", archived=True),
        ):
            if is_inside(directory, os.path.realpath(folder)):
                message = f"{directory} is inside {member.display_path(folder)}, where plans and their artifacts are"
                raise ExecplanError(
                    "not-a-site", message, exit=INPUT, hint="choose another directory: execplan site --out DIR"
                )
