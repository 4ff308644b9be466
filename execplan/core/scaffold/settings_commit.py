"""The settings of a project that are not committed, and their commit."""

from __future__ import annotations

import os

from execplan.core.edits.plan_commit import commit_paths
from execplan.core.git import git_commit
from execplan.core.project.project import Project
from execplan.core.project.project_settings import BASELINE_FILE, SETTINGS_FILE
from execplan.core.scaffold.project_survey import guide_path


def settings_path(project: Project) -> str:
    """Return the path of a project's own settings file, which may not exist."""
    return os.path.join(project.base, SETTINGS_FILE)


def uncommitted_settings(project: Project) -> list[str]:
    """Return the project's settings, baseline and guide if they are not committed, as paths from the root.

    Raises ExecplanError if git fails.
    """
    files = [settings_path(project), os.path.join(project.base, BASELINE_FILE), guide_path(project)]
    return git_commit.uncommitted_files(project, files)


def commit_settings(project: Project) -> tuple[str, ...]:
    """Commit the project's settings, with the baseline and the guide, if the settings file differs from the last commit.

    Returns warnings. Raises ExecplanError if the commit fails.
    """
    if not git_commit.uncommitted_files(project, [settings_path(project)]):
        return ()
    paths = [os.path.join(project.root, path) for path in uncommitted_settings(project)]
    return commit_paths(project, "init", paths, "init", "init", {}, "init").warnings
