"""A repository that keeps plans but is not set up: `new` begins no second plans directory beside them."""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING

from execplan.cli.prompts import agrees, can_ask
from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.repo import homes, plan_directories, shelf

if TYPE_CHECKING:
    from execplan.cli.answer import Call
    from execplan.repo.adoption.survey import Survey
    from execplan.repo.amend import Options
    from execplan.repo.home import Home


def adopted(call: Call, home: Home, options: Options) -> Home:
    """The project for a new plan; where the repository keeps plans it is set up first, if the person at the terminal agrees.

    Raises ExecplanError where nobody is asked, or the answer is no.
    """
    from execplan.repo.adoption import setup
    from execplan.repo.adoption.survey import counted, survey

    if home.git is None and not plan_directories.existing(home.base):
        return home  # a walk over a whole home directory takes too long
    found = survey(home)
    places = _places(found)
    if not places:
        return home
    kept = ", ".join([f"{counted(count)} in {folder}" for folder, count in places])
    what = f"this repository has {kept}, and execplan is not set up for them"
    asks = not (options.dry_run or call.as_json) and can_ask()
    if asks and agrees(f"{what}. Set it up now (execplan init), and write the new plan there?"):
        setup.init(found, options)
        return homes.find(os.getcwd())
    default = quote(os.path.relpath(home.plans))
    raise ExecplanError(
        "existing-plans",
        what,
        exit=ENVIRONMENT,
        hint=f"set it up, then repeat the command: execplan init; or begin another plans directory: execplan init --plans {default}",
        candidates=[f"{folder}: {counted(count)}" for folder, count in places],
    )


def _places(found: Survey) -> list[tuple[str, int]]:
    """The plans directories of the repository, each with the number of its plans."""
    places = []
    for each in found.homes:
        refs = shelf.every(each.home)
        if refs:
            places.append((each.home.shown(each.home.plans), len(refs)))
    return [*places, *[(each.folder, each.plans) for each in found.others]]
