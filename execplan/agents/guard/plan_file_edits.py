"""Plan files that an agent may always write: its plans are living documents, and approvals bind what may run."""

from __future__ import annotations

import os
import stat

from execplan.agents.guard.protected_paths import possible_real_paths
from execplan.agents.guard.tool_call import EDIT, WRITE
from execplan.core.project.project_discovery import with_directories
from execplan.core.project.project_settings import SETTINGS_FILE, is_plan_name
from execplan.core.text.pure_paths import is_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.agents.guard.tool_call import ToolCall
    from execplan.core.project.project import Project


def edits_only_plans(call: ToolCall, project: Project) -> bool:
    """Check whether a call writes or edits plans outside the archive, and nothing else."""
    members = with_directories(project)
    return bool(call.edits) and all(
        [
            edit.kind in (WRITE, EDIT) and any([_is_open_plan(member, call.cwd, edit.path) for member in members])
            for edit in call.edits
        ]
    )


def _is_open_plan(project: Project, cwd: str, path: str) -> bool:
    """Check whether a path can only be the file of a plan, existing or new, that has no other name."""
    real_paths = possible_real_paths(cwd, path)
    plans = os.path.realpath(project.plans)
    if len(real_paths) != 1 or not is_inside(plans, os.path.realpath(project.root)):
        return False
    folder, name = os.path.split(real_paths[0])
    if real_paths[0] in [os.path.join(os.path.realpath(project.base), file) for file in project.settings.files]:
        has_plan_path = True
    elif project.is_flat:
        has_plan_path = folder == plans and is_plan_name(name)
    else:
        has_plan_path = real_paths[0] == project.plan_file(plans, os.path.basename(folder))
    try:
        status = os.lstat(real_paths[0])
    except FileNotFoundError:
        return has_plan_path
    except OSError:
        return False
    return has_plan_path and stat.S_ISREG(status.st_mode) and status.st_nlink == 1


def is_plan_path(project: Project, path: str) -> bool:
    """Check whether a path from the root belongs to plans: a plan, archived or not, or one of their artifacts."""
    return any([_is_in_plans_directory(member, path) for member in with_directories(project)])


def _is_in_plans_directory(project: Project, path: str) -> bool:
    plans = os.path.relpath(project.plans, project.root)
    folder, name = os.path.split(path)
    if project.is_flat and folder == plans and is_plan_name(name):
        return True
    if os.path.join(project.root, path) in project.files:
        return True
    return any([is_inside(folder, directory) for directory in _plan_directories(project)])


def _plan_directories(project: Project) -> Iterator[str]:
    """Yield the directories, from the root, whose content all belongs to plans."""
    artifact_directories = [project.artifacts_dir("", archived=archived) for archived in (False, True)]
    directories = [*project.archives, *(artifact_directories if project.is_flat else ())]
    relative_paths = [os.path.relpath(directory.partition("/{")[0], project.root) for directory in directories]
    settings = [os.path.join(project.base, SETTINGS_FILE), os.path.join(project.base, project.settings.templates)]
    settings_paths = [os.path.relpath(path, project.root) for path in settings]
    for directory in dict.fromkeys(relative_paths):
        if directory != "." and not any([is_inside(path, directory) for path in settings_paths]):
            yield directory
    if not project.is_flat:
        plans = os.path.relpath(project.plans, project.root)
        yield from [os.path.join(plans, name) for name in _subdirectories(project.plans)]


def _subdirectories(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
