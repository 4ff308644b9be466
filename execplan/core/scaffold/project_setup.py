"""Project setup for `init`: inspect existing plans, and create directories, guide and settings."""

from __future__ import annotations

import os
from functools import partial

from execplan.core.edits.plan_commit import commit_paths
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.files import atomic_files
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.model import BROKEN, COMPLETE, DOCUMENT
from execplan.core.plan.plan_recognition import document_reason
from execplan.core.plan_store import plan_store
from execplan.core.project import builtin_templates, project_settings, project_state, settings_file
from execplan.core.project.project import Project, ensure_inside
from execplan.core.scaffold.other_files import OtherFile
from execplan.core.scaffold.project_survey import ProjectSurvey, guide_path, script_path
from execplan.core.text.message_parts import format_count


class ProjectInspection(NamedTuple):
    """Counts of a project's plans, and the plans with problems."""

    open_count: int
    """Number of plans outside the archive."""
    archived_count: int
    with_tasks_count: int
    """Number of plans with tasks, archived ones included."""
    documents: tuple[OtherFile, ...]
    """Files in the plans directories that are no plans by their content."""
    broken: tuple[tuple[str, str], ...]
    """Path and error of each unreadable plan."""
    misfits: tuple[tuple[str, str], ...]
    """Path and reason of each plan whose state does not fit its directory."""


def inspect_project(project: Project) -> ProjectInspection:
    """Read every plan of a project, including archived ones, and count problems."""
    files = plan_store.load_all(project, plan_store.all_refs(project))
    stored_plans = [stored_plan for stored_plan in files if stored_plan.state != DOCUMENT]
    broken, misfits = [], []
    for stored_plan in stored_plans:
        path = project.display_path(stored_plan.ref.path)
        if stored_plan.plan is None:
            broken.append((path, stored_plan.error.message if stored_plan.error is not None else BROKEN))
        elif stored_plan.ref.archived:
            open_tasks = len(stored_plan.plan.unfinished_tasks)
            if (
                open_tasks
                and not stored_plan.plan.is_archived_unfinished
                and not project.is_in_superseded(stored_plan.ref.path)
            ):
                misfits.append((path, f"archived with {format_count(open_tasks, 'open task')}"))
        elif stored_plan.state == COMPLETE:
            misfits.append((path, "complete, but not archived"))
    archived_count = [stored_plan.ref.archived for stored_plan in stored_plans].count(True)
    with_tasks = [
        stored_plan for stored_plan in stored_plans if stored_plan.plan is not None and stored_plan.plan.tasks
    ]
    documents = [
        OtherFile(project.display_path(file.ref.path), document_reason(file.plan))
        for file in files
        if file.plan is not None and file.state == DOCUMENT
    ]
    return ProjectInspection(
        len(stored_plans) - archived_count,
        archived_count,
        len(with_tasks),
        tuple(documents),
        tuple(broken),
        tuple(misfits),
    )


def set_up_project(survey: ProjectSurvey, options: WriteOptions) -> tuple[str | None, tuple[str, ...]]:
    """Create what a survey proposes; leave existing files as they are.

    Returns the commit, if one was made, and warnings.
    """
    project = survey.projects[0].project
    content_by_path = {
        guide_path(project): builtin_templates.read_text("PLANS.md").encode("utf-8"),
        script_path(project): builtin_templates.read_text("new_execplan.py").encode("utf-8"),
    }
    for prepared in survey.projects:
        content_by_path[os.path.join(prepared.project.base, project_settings.SETTINGS_FILE)] = (
            settings_file.render_settings(prepared.project.settings)
        )
    old_content_by_path = {
        os.path.join(prepared.project.base, project_settings.SETTINGS_FILE): prepared.old_content
        for prepared in survey.projects
        if prepared.old_content
    }
    new_paths = [os.path.join(project.root, path_entry.path) for path_entry in survey.paths if path_entry.made]
    for path in new_paths:
        ensure_inside(project, os.path.dirname(path))
    if options.dry_run:
        return None, ()
    with project_state.lock(project, "project", "init"):
        for path in new_paths:
            if path in old_content_by_path:
                replace_file = partial(
                    atomic_files.replace_if_unchanged,
                    path,
                    old_content_by_path[path],
                    content_by_path[path],
                    within=project.root,
                )
                atomic_files.retry_on_change(replace_file, project.display_path(path))
            elif path in content_by_path:
                mode = 0o777 if path == script_path(project) else 0o666
                content = content_by_path[path]
                atomic_files.create(path, content, mode=mode, within=project.root, make_directories=True)
            else:
                atomic_files.make_directory(path, within=project.root)
    if options.should_commit(project):
        written_paths = [path for path, content in content_by_path.items() if settings_file.has_content(path, content)]
        commit_result = commit_paths(project, "init", written_paths, "init", "init", {}, "init")
        return commit_result.digest, commit_result.warnings
    return None, ()
