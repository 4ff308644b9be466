"""`execplan attach`."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call, typed
from execplan.cli.plan_name import plan_option
from execplan.cli.printing import one_per_line
from execplan.cli.verb import create_option, verb, writer_options
from execplan.cli.words import words
from execplan.cli.writing import told
from execplan.repo import attach as attaching
from execplan.repo import pick
from execplan.repo.amend import Options


@verb(
    reads="the files, and the plan.",
    writes="a copy of each file into the plan's artifacts folder, and a line for each in Artifacts and Notes.",
    examples=(
        "execplan attach run.log",
        "execplan attach before.png after.png --about 'The page before and after' -p parser",
    ),
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--about", metavar="TEXT", help="What they show.")
@plan_option
@create_option
@writer_options
def attach(
    call: Call, files: tuple[str, ...], about: str | None, plan: str | None, create: bool, options: Options
) -> Answer:
    """Attach files to a plan as evidence; what is there already, by its SHA-256, is not copied again."""
    home, ref = pick.open_plan(os.getcwd(), plan)
    said = words(about, "what they show") if about is not None else ""
    amended, attached = attaching.attach(home, ref, files, said, options, create=create)
    answer = told(
        amended._replace(said=()),
        options,
        f"execplan show {typed(ref.id, amended.path)} --section 'Artifacts and Notes'",
    )
    paths = [
        {"path": home.shown(each.path), "sha256": each.digest, "bytes": each.size, "copied": each.copied}
        for each in attached
    ]
    would = "would copy" if options.dry_run else "copied"
    lines = [
        f"{would} {source} to {each['path']}" if each["copied"] else f"there already: {each['path']}"
        for source, each in zip(files, paths, strict=True)
    ]
    return answer._replace(
        data={**answer.data, "said": list(amended.said), "files": paths},
        text="\n".join([one_per_line(lines), answer.text]).rstrip("\n"),
    )


command = attach
