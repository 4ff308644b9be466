"""A repository that keeps plans but is not set up: `new` begins no second plans directory beside them."""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING

from execplan.cli.prompts import confirm, can_ask
from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.repo import homes, plan_directories, shelf

if TYPE_CHECKING:
    from execplan.cli.answer import Call
    from execplan.repo.adoption.survey import ProjectSurvey
    from execplan.repo.amend import WriteOptions
    from execplan.repo.home import Project


def offer_setup(call: Call, project: Project, options: WriteOptions) -> Project:
    """The project for a new plan; where the repository keeps plans it is set up first, if the person at the terminal agrees.

    Raises ExecplanError where nobody is asked, or the answer is no.
    """
    from execplan.repo.adoption import setup
    from execplan.repo.adoption.survey import format_plan_count, survey_project

    if project.git is None and not plan_directories.existing_directories(project.base):
        return project  # a walk over a whole home directory takes too long
    survey_result = survey_project(project)
    directories = _plan_directories(survey_result)
    if not directories:
        return project
    counts_text = ", ".join([f"{format_plan_count(count)} in {folder}" for folder, count in directories])
    message = f"this repository has {counts_text}, and execplan is not set up for them"
    can_prompt = not (options.dry_run or call.as_json) and can_ask()
    if can_prompt and confirm(f"{message}. Set it up now (execplan init), and write the new plan there?"):
        setup.set_up_project(survey_result, options)
        return homes.find(os.getcwd())
    default = quote(os.path.relpath(project.plans))
    raise ExecplanError(
        "existing-plans",
        message,
        exit=ENVIRONMENT,
        hint=f"set it up, then repeat the command: execplan init; or begin another plans directory: execplan init --plans {default}",
        candidates=[f"{folder}: {format_plan_count(count)}" for folder, count in directories],
    )


def _plan_directories(survey_result: ProjectSurvey) -> list[tuple[str, int]]:
    """The plans directories of the repository, each with the number of its plans."""
    directories = []
    for prepared in survey_result.projects:
        refs = shelf.all_refs(prepared.project)
        if refs:
            directories.append((prepared.project.display_path(prepared.project.plans), len(refs)))
    return [*directories, *[(other.folder, other.plans) for other in survey_result.unused_directories]]
