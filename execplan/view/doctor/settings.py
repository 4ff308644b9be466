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
    for home in context.homes:
        try:
            templates.find_template(home, home.settings.template)
        except ExecplanError as error:
            yield _settings_finding("", error)
    try:
        own_rules.load_rules(own.rules())
        own.execution()
    except ExecplanError as error:
        yield _settings_finding(own.path(), error)
    if len(context.homes) > 1:
        yield f"{len(context.homes)} homes"


@check("folders")
def check_folders(context: DoctorContext) -> Iterator[Finding | str]:
    """The folders of the settings are there, as far as they have to be, and are folders."""
    for home in context.homes:
        expected_folders = [home.plans, *home.archives]
        if home.is_flat:
            expected_folders += [home.artifacts_dir("", archived=archived).rstrip("/") for archived in (False, True)]
        for path in dict.fromkeys(expected_folders):
            if os.path.lexists(path) and not os.path.isdir(path):
                message = "a folder of the settings is a file, or a link that leads nowhere"
                yield Finding(ERROR, home.display_path(path), message, f"move it away: mv {home.display_path(path)} OTHER")
        if os.path.isdir(home.plans) and not os.access(home.plans, os.W_OK | os.X_OK):
            display_path = home.display_path(home.plans)
            yield Finding(ERROR, display_path, "no plan in the folder can be written", f"chmod u+wx {quote(display_path)}")
        if not os.path.lexists(home.plans):
            fix = Fix(f"make {home.display_path(home.plans)}", partial(_create_plans_folder, home))
            yield Finding(
                WARNING, home.display_path(home.plans), "the folder of the plans is not there", "execplan init", fix=fix
            )


def _create_plans_folder(home: Project, options: WriteOptions) -> list[str]:
    with state.lock(home, "home", "doctor"):
        files.make_folder(home.plans)
    return [f"made {home.display_path(home.plans)}"]


def _settings_finding(path: str, error: ExecplanError) -> Finding:
    return Finding(ERROR, path, error.message, error.hint or "mend that", line=error.line)
