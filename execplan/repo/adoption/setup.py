"""A home is made."""

from __future__ import annotations

import os
from functools import partial

from execplan.plan.model import BROKEN, COMPLETE, OPEN
from execplan.record import NamedTuple
from execplan.repo import settings, shelf, state, stock
from execplan.repo.adoption import settings_file
from execplan.repo.adoption.survey import guide_path
from execplan.repo.commit import commit_paths
from execplan.repo.home import ensure_inside
from execplan.text import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.adoption.survey import ProjectSurvey
    from execplan.repo.amend import WriteOptions
    from execplan.repo.home import Project


class ProjectInspection(NamedTuple):
    """The plans of a home in numbers, and those that something is wrong with."""

    open_count: int
    """Outside the archive."""
    archived_count: int
    broken: tuple[tuple[str, str], ...]
    """Path and why."""
    misfits: tuple[tuple[str, str], ...]
    """Plans whose state does not fit their folder: path and why."""


def inspect_project(project: Project) -> ProjectInspection:
    """Read every plan of a home, archived ones too."""
    stored_plans = shelf.load_all(project, shelf.all_refs(project))
    broken, misfits = [], []
    for stored_plan in stored_plans:
        path = project.display_path(stored_plan.ref.path)
        if stored_plan.plan is None:
            broken.append((path, stored_plan.error.message if stored_plan.error is not None else BROKEN))
        elif stored_plan.ref.archived:
            open_tasks = [task.state for task in stored_plan.plan.tasks].count(OPEN)
            if (
                open_tasks
                and not stored_plan.plan.is_archived_unfinished
                and not project.is_in_superseded(stored_plan.ref.path)
            ):
                misfits.append((path, f"archived with {open_tasks} open task{'s' if open_tasks > 1 else ''}"))
        elif stored_plan.state == COMPLETE:
            misfits.append((path, "complete, and not archived"))
    archived_count = [stored_plan.ref.archived for stored_plan in stored_plans].count(True)
    return ProjectInspection(len(stored_plans) - archived_count, archived_count, tuple(broken), tuple(misfits))


def set_up_project(survey: ProjectSurvey, options: WriteOptions) -> tuple[str | None, tuple[str, ...]]:
    """Make what a survey says; what is there already stays as it is. The commit if one was made, and warnings."""
    project = survey.projects[0].project
    content_by_path = {guide_path(project): stock.read_text("PLANS.md").encode("utf-8")}
    for prepared in survey.projects:
        content_by_path[os.path.join(prepared.project.base, settings.SETTINGS_FILE)] = settings_file.render_settings(
            prepared.project.settings
        )
    old_content_by_path = {
        os.path.join(prepared.project.base, settings.SETTINGS_FILE): prepared.old_content
        for prepared in survey.projects
        if prepared.old_content
    }
    new_paths = [os.path.join(project.root, path_entry.path) for path_entry in survey.paths if path_entry.made]
    for path in new_paths:
        ensure_inside(project, os.path.dirname(path))
    if options.dry_run:
        return None, ()
    with state.lock(project, "home", "init"):
        for path in new_paths:
            if path in old_content_by_path:
                replace_file = partial(
                    files.replace, path, old_content_by_path[path], content_by_path[path], within=project.root
                )
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
