"""`execplan new`."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call, typed
from execplan.cli.verb import new_options, verb
from execplan.cli.words import given_bytes, words
from execplan.errors import USAGE, ExecplanError
from execplan.repo import home as homes
from execplan.repo import scaffold
from execplan.repo.amend import Options


@verb(
    reads="the settings; with --from, a whole plan.",
    writes="the plan, under an id that nothing has, and its artifacts folder.",
    examples=(
        'execplan new "Build the parser"',
        'execplan new "Build the parser" --purpose "Plans can be read." --task "Read lines" --task "Write tests"',
        "execplan new --from draft.md --commit",
    ),
)
@click.argument("title", required=False)
@click.option("--purpose", metavar="TEXT", default="", help="What for; @FILE and - are read.")
@click.option("--task", "tasks", metavar="TEXT", multiple=True, help="A first task; may be given again.")
@click.option("--from", "source", metavar="FILE", help="File a whole plan that was written elsewhere, or - for stdin.")
@new_options
def new(
    call: Call, title: str | None, purpose: str, tasks: tuple[str, ...], source: str | None, options: Options
) -> Answer:
    """Write a new plan from the skeleton: twelve sections, each with a line of guidance."""
    if source is not None and (title or purpose or tasks):
        raise ExecplanError("usage", "--from takes the whole plan from a file", exit=USAGE, hint="leave the rest out")
    if source is None and title is None:
        raise ExecplanError("usage", "a plan needs a title", exit=USAGE, hint="execplan new 'What shall be done'")
    home = homes.find(os.getcwd())
    if source is not None:
        made = scaffold.adopt_plan(home, given_bytes(source), source, options)
    else:
        about = words(purpose, "the purpose") if purpose else ""
        made = scaffold.new_plan(home, title or "", about, [words(task, "a task") for task in tasks], options)
    data = {
        "id": made.id,
        "path": made.path,
        "artifacts": made.paths[1].rstrip("/"),
        "changed": True,
        "digest": made.digest,
        "commit": made.commit,
    }
    if options.dry_run:
        text = "\n".join([made.diff, *[f"would make {path}" for path in made.paths]])
        return Answer({**data, "diff": made.diff}, text)
    lines = [made.path] + ([f"committed {made.commit[:12]}"] if made.commit else [])
    name = typed(made.id, made.path)
    follow = f"execplan next {name}" if tasks or source else f"execplan add 'First step' -p {name}"
    return Answer(data, "\n".join(lines), warnings=made.warnings, next=(follow, f"execplan lint {name}"))


command = new
