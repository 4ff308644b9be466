"""Are the settings in order, and the folders that they name?"""

from __future__ import annotations

import os
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING

from execplan.errors import ExecplanError
from execplan.repo import own, state
from execplan.repo.checking import own_rules
from execplan.repo.drafting import templates
from execplan.text import files
from execplan.view.doctor.check import ERROR, WARNING, Finding, Fix, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.repo.amend import WriteOptions
    from execplan.repo.home import Project
    from execplan.view.doctor.ground import DoctorContext


@check("settings", works_without_settings=True)
def check_settings(context: DoctorContext) -> Iterator[Finding | str]:
    """The settings can be read, those of every home that they name and the user's own.

    What they name is there: homes, the template of `new`, rules of one's own.
    """
    for problem in context.settings_problems:
        yield _settings_finding(problem.path, problem.error)
    for project in context.projects:
        try:
            templates.find_template(project, project.settings.template)
        except ExecplanError as error:
            yield _settings_finding("", error)
    try:
        own_rules.load_rules(own.rules())
        own.execution()
    except ExecplanError as error:
        yield _settings_finding(own.path(), error)
    if len(context.projects) > 1:
        yield f"{len(context.projects)} homes"


@check("folders")
def check_folders(context: DoctorContext) -> Iterator[Finding | str]:
    """The folders of the settings are there, as far as they have to be, and are folders."""
    for project in context.projects:
        expected_folders = [project.plans, *project.archives]
        if project.is_flat:
            expected_folders += [project.artifacts_dir("", archived=archived).rstrip("/") for archived in (False, True)]
        for path in dict.fromkeys(expected_folders):
            if os.path.lexists(path) and not os.path.isdir(path):
                message = "a folder of the settings is a file, or a link that leads nowhere"
                yield Finding(ERROR, project.display_path(path), message, f"move it away: mv {project.display_path(path)} OTHER")
        if os.path.isdir(project.plans) and not os.access(project.plans, os.W_OK | os.X_OK):
            display_path = project.display_path(project.plans)
            yield Finding(ERROR, display_path, "no plan in the folder can be written", f"chmod u+wx {quote(display_path)}")
        if not os.path.lexists(project.plans):
            fix = Fix(f"make {project.display_path(project.plans)}", partial(_create_plans_folder, project))
            yield Finding(
                WARNING, project.display_path(project.plans), "the folder of the plans is not there", "execplan init", fix=fix
            )


def _create_plans_folder(project: Project, options: WriteOptions) -> list[str]:
    with state.lock(project, "home", "doctor"):
        files.make_directory(project.plans)
    return [f"made {project.display_path(project.plans)}"]


def _settings_finding(path: str, error: ExecplanError) -> Finding:
    return Finding(ERROR, path, error.message, error.hint or "mend that", line=error.line)
