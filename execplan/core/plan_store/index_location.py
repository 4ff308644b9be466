"""Where the plan index of a project is: the file that the settings name, or one near the plans."""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.plan.index_block import may_have_index
from execplan.core.plan.reader import MAX_BYTES
from execplan.core.plan_store import plan_store
from execplan.core.project.plan_directories import is_plans_directory_name
from execplan.core.project.project import Project
from execplan.core.project.project_settings import NON_PLAN_FILES

_NAMES = ("index.md", "README.md")
"""Names of a file for the index, in the order of preference; a new one gets the last."""


def find_index(project: Project) -> str | None:
    """Return the file of the project's index: that of the settings, even if it is missing, or one with an index in it.

    Raises ExecplanError if the file can't be read, or if the setting names a plan.
    """
    if project.settings.index_file:
        return _path_of_setting(project)
    for path in _candidates(project):
        data = file_access.read_if_exists(path, MAX_BYTES)
        if data is not None and may_have_index(data):
            return path
    return None


def choose_index(project: Project) -> str:
    """Return the file for the project's index: the one that it has, or else the best place for a new one.

    Raises ExecplanError as `find_index` does.
    """
    candidates = _candidates(project)
    existing = [path for path in candidates if os.path.lexists(path)]
    return find_index(project) or (existing or [os.path.join(os.path.dirname(candidates[-1]), _NAMES[-1])])[0]


def _candidates(project: Project) -> list[str]:
    """Return the possible files of an index, in the order of preference."""
    return [os.path.join(folder, name) for folder in _directories(project) for name in _NAMES]


def _directories(project: Project) -> list[str]:
    """Return the directories for an index: the one around the directories of all plans, if it has no other use."""
    top = os.path.commonpath([project.plans, *project.archives])
    is_shared = top not in (project.plans, project.base) and is_plans_directory_name(top)
    return [project.plans, top] if is_shared else [project.plans]


def _path_of_setting(project: Project) -> str:
    path = os.path.join(project.base, project.settings.index_file)
    ref = plan_store.ref_for_path(project, path)
    folder = project.split_plan_path(path)[0]
    if (ref.archived or folder == project.plans) and os.path.basename(path).lower() not in NON_PLAN_FILES:
        raise ExecplanError(
            "bad-setting",
            f"index_file names {project.settings.index_file!r}, which would be a plan, because it is among the plans",
            hint=f"name it {_NAMES[0]} or {_NAMES[1]}, or put it into another directory",
        )
    return path
