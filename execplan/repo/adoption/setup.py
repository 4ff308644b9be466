"""A home is made."""

from __future__ import annotations

import os
from functools import partial

from execplan.repo import settings as config
from execplan.repo import state, stock
from execplan.repo.adoption import settings_file
from execplan.repo.adoption.survey import guide_path
from execplan.repo.commit import commit_paths
from execplan.repo.home import ensure_inside
from execplan.text import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.adoption.survey import ProjectSurvey
    from execplan.repo.amend import WriteOptions


def set_up_project(survey: ProjectSurvey, options: WriteOptions) -> tuple[str | None, tuple[str, ...]]:
    """Make what a survey says; what is there already stays as it is. The commit if one was made, and warnings."""
    project = survey.projects[0].project
    content_by_path = {guide_path(project): stock.read_text("PLANS.md").encode("utf-8")}
    for prepared in survey.projects:
        content_by_path[os.path.join(prepared.project.base, config.SETTINGS_FILE)] = settings_file.render_settings(prepared.project.settings)
    old_content_by_path = {os.path.join(prepared.project.base, config.SETTINGS_FILE): prepared.old_content for prepared in survey.projects if prepared.old_content}
    new_paths = [os.path.join(project.root, path_entry.path) for path_entry in survey.paths if path_entry.made]
    for path in new_paths:
        ensure_inside(project, os.path.dirname(path))
    if options.dry_run:
        return None, ()
    with state.lock(project, "home", "init"):
        for path in new_paths:
            if path in old_content_by_path:
                replace_file = partial(files.replace, path, old_content_by_path[path], content_by_path[path], within=project.root)
                files.retry_on_change(replace_file, project.display_path(path))
            elif path in content_by_path:
                files.create(path, content_by_path[path], within=project.root, make_directories=True)
            else:
                files.make_directory(path, within=project.root)
    if options.should_commit(project):
        written_paths = [path for path, content in content_by_path.items() if settings_file.has_content(path, content)]
        commit_result = commit_paths(project, "init", written_paths, "init", "init", {}, "init")
        return commit_result.digest, commit_result.warnings
    return None, ()
