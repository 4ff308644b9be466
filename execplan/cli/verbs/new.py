"""`execplan new`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from execplan.cli.answer import Answer, Call, typed
from execplan.cli.verb import new_options, verb
from execplan.cli.words import given_bytes, words
from execplan.errors import USAGE, ExecplanError
from execplan.plan import reader
from execplan.repo import homes, scaffold
from execplan.repo.amend import Options
from execplan.repo.drafting import templates
from execplan.text.lines import digest

if TYPE_CHECKING:
    from execplan.repo.home import Home


@verb(
    reads="the settings and the template; with --from, a whole plan.",
    writes="the plan, under an id that nothing has, and its artifacts folder.",
    examples=(
        'execplan new "Build the parser"',
        'execplan new "Build the parser" --purpose "Plans can be read." --task "Read lines" --task "Write tests"',
        'execplan new "Lines with a CR are lost" --template bugfix',
        "execplan new --list-templates",
        "execplan new --from draft.md --commit",
    ),
)
@click.argument("title", required=False)
@click.option("--purpose", metavar="TEXT", default="", help="What for; @FILE and - are read.")
@click.option("--task", "tasks", metavar="TEXT", multiple=True, help="A first task; may be given again.")
@click.option("--template", metavar="NAME", help="Begin with the questions and tasks of a kind of work.")
@click.option("--list-templates", "listed", is_flag=True, help="Show the templates, the repository's own too.")
@click.option("--from", "source", metavar="FILE", help="File a whole plan that was written elsewhere, or - for stdin.")
@new_options
def new(
    call: Call,
    title: str | None,
    purpose: str,
    tasks: tuple[str, ...],
    template: str | None,
    listed: bool,
    source: str | None,
    options: Options,
) -> Answer:
    """Write a new plan from a template: twelve sections, each with a line of guidance."""
    given = [title, purpose, *tasks, template]
    if source is not None and (any(given) or listed):
        raise ExecplanError("usage", "--from takes the whole plan from a file", exit=USAGE, hint="leave the rest out")
    if listed and any(given):
        raise ExecplanError("usage", "--list-templates makes no plan", exit=USAGE, hint="leave the rest out")
    if source is None and title is None and not listed:
        raise ExecplanError("usage", "a plan needs a title", exit=USAGE, hint="execplan new 'What shall be done'")
    home = homes.find(os.getcwd())
    if listed:
        return _list(home)
    if source is not None:
        made = scaffold.adopt_plan(home, given_bytes(source), source, options)
    else:
        about = words(purpose, "the purpose") if purpose else ""
        firsts = [words(task, "a task") for task in tasks]
        made = scaffold.new_plan(home, title or "", about, firsts, options, template)
    data = {
        "id": made.id,
        "path": made.path,
        "artifacts": made.paths[1].rstrip("/"),
        "changed": True,
        "digest": digest(made.data),
        "commit": made.commit,
    }
    if options.dry_run:
        text = "\n".join([made.diff, *[f"would make {path}" for path in made.paths]])
        return Answer({**data, "diff": made.diff}, text, warnings=made.warnings)
    lines = [made.path] + ([f"committed {made.commit[:12]}"] if made.commit else [])
    name = typed(made.id, made.path)
    begun = reader.read(made.data).tasks
    follow = f"execplan next {name}" if begun else f"execplan add 'First step' -p {name}"
    return Answer(data, "\n".join(lines), warnings=made.warnings, next=(follow, f"execplan lint {name}"))


def _list(home: Home) -> Answer:
    """Every template and whose it is."""
    every = templates.every(home)
    width = max([len(each.name) for each in every])
    lines = []
    for each in every:
        whose = "in place of the built-in" if each.overrides else "own" if each.own else "built in"
        lines.append(
            f"{each.name:{width}}  {each.about}  ({whose})" if each.about else f"{each.name:{width}}  ({whose})"
        )
    data = {"templates": [each._asdict() for each in every]}
    return Answer(data, "\n".join(lines), next=("execplan new 'Its title' --template bugfix",))


command = new
