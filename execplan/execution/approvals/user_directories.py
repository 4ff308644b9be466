"""The user's config and state directories, for approval and audit log data that must not be in a repository."""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.project import user_settings
from execplan.core.text.pure_paths import is_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.core.project.project import Project


def config_directory(project: Project) -> str:
    """Return the directory of the key. Raises ExecplanError if it is in the repository."""
    return _ensure_outside(project, os.path.dirname(user_settings.path()), "XDG_CONFIG_HOME")


def state_directory(project: Project) -> str:
    """Return the directory of the approval registry. Raises ExecplanError if it is in the repository."""
    return _state_subdirectory(project, "approvals")


def anchor_directory(project: Project) -> str:
    """Return the directory of audit log anchors for projects without Git.

    Raises ExecplanError if it is in the repository.
    """
    return _state_subdirectory(project, "ledgers")


def _state_subdirectory(project: Project, name: str) -> str:
    state_home = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return _ensure_outside(project, os.path.join(state_home, "execplan", name), "XDG_STATE_HOME")


def _ensure_outside(project: Project, directory: str, variable: str) -> str:
    directory = os.path.abspath(directory)
    if is_inside(os.path.realpath(directory), os.path.realpath(project.root)):
        raise ExecplanError(
            "key-inside",
            f"{directory} is inside the repository {project.root}: keys and approval state can't be kept where a commit would include them",
            hint=f"set {variable} to a directory outside of it",
        )
    return directory
