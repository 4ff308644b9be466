"""`execplan init`."""

from __future__ import annotations

import os

from execplan.cli.answer import Answer, Call
from execplan.cli.verb import new_options, verb
from execplan.repo import home as homes
from execplan.repo import scaffold
from execplan.repo.amend import Options


@verb(
    reads="the settings, if there are any.",
    writes="the guide .agent/PLANS.md, the folders of plans, archive and artifacts, and a commented settings file.",
    examples=("execplan init --dry-run", "execplan init --commit"),
)
@new_options
def init(call: Call, options: Options) -> Answer:
    """Make a home for plans in this repository, or in this folder where there is no git.

    What is there already stays as it is, so it can be run again at any time.
    """
    home = homes.find(os.getcwd())
    paths, commit, warnings = scaffold.init(home, options)
    made = "would make" if options.dry_run else "made"
    lines = [f"{made if each.made else 'kept'}  {each.path}  ({each.why})" for each in paths]
    if commit:
        lines.append(f"committed {commit[:12]}")
    data = {
        "paths": [each._asdict() for each in paths],
        "changed": any([each.made for each in paths]),
        "commit": commit,
    }
    follow = () if options.dry_run else ("execplan new 'What shall be done'",)
    return Answer(data, "\n".join(lines), warnings=warnings, next=follow, wanted=options.dry_run)


command = init
