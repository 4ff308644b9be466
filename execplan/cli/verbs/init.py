"""`execplan init`."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.verb import new_options, verb
from execplan.repo import guide, scaffold
from execplan.repo import home as homes
from execplan.repo.amend import Options


@verb(
    reads="the settings and the guide, if there are any.",
    writes="the guide .agent/PLANS.md, the folders of plans, archive and artifacts, and a commented settings file.",
    examples=("execplan init --dry-run", "execplan init --commit", "execplan init --upgrade --dry-run"),
)
@click.option("--upgrade", is_flag=True, help="Merge the newest guide into the one here; what you changed stays.")
@new_options
def init(call: Call, upgrade: bool, options: Options) -> Answer:
    """Make a home for plans in this repository, or in this folder where there is no git.

    What is there already stays as it is, so it can be run again at any time. Only --upgrade changes the guide, and
    tells each place that you and the newest guide both changed; there your words stay.
    """
    home = homes.find(os.getcwd())
    paths, commit, warnings = scaffold.init(home, options)
    made = "would make" if options.dry_run else "made"
    lines = [f"{made if each.made else 'kept'}  {each.path}  ({each.why})" for each in paths]
    told = guide.upgrade(home, options) if upgrade else guide.look(home)
    if told.changed and upgrade:
        made = "would upgrade" if options.dry_run else "upgraded"
        lines += [told.diff] if told.diff else []
        lines.append(f"{made}  {told.path}  (guide {told.before} to {told.version})")
    elif told.changed:
        lines.append(f"a newer guide is there for {told.path}: execplan init --upgrade")
    commit = told.commit or commit
    if commit:
        lines.append(f"committed {commit[:12]}")
    data = {
        "paths": [each._asdict() for each in paths],
        "changed": any([each.made for each in paths]) or (upgrade and told.changed),
        "commit": commit,
        "guide": {
            "path": told.path,
            "version": told.before,
            "newest": told.version,
            "conflicts": [each._asdict() for each in told.conflicts],
        },
    }
    if options.dry_run and upgrade:
        data["diff"] = told.diff
    newer = ("execplan init --upgrade",) if told.changed and not upgrade else ()
    follow = () if options.dry_run else ("execplan new 'What shall be done'", *newer)
    return Answer(data, "\n".join(lines), warnings=warnings + told.warnings, next=follow, wanted=options.dry_run)


command = init
