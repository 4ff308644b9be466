"""`execplan new`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from execplan.cli import interview
from execplan.cli.advice import begin
from execplan.cli.answer import Answer, Call, typed
from execplan.cli.existing_plans import adopted
from execplan.cli.printing import one_per_line
from execplan.cli.verb import completes, new_options, verb
from execplan.cli.words import given_bytes, words
from execplan.errors import USAGE, ExecplanError
from execplan.plan import reader
from execplan.repo import homes, scaffold, shelf
from execplan.repo.amend import Options
from execplan.repo.commit import commit_paths
from execplan.repo.drafting import templates
from execplan.text.hidden import visible
from execplan.text.lines import digest

if TYPE_CHECKING:
    from execplan.repo.home import Home
    from execplan.repo.scaffold import Made


@verb(
    reads="the settings and the template; with --from, a whole plan.",
    writes="the plan, under an id that nothing has, and its artifacts folder.",
    examples=(
        'execplan new "Build the parser"',
        'execplan new "Build the parser" --purpose "Plans can be read." --task "Read lines" --task "Write tests"',
        'execplan new "Lines with a CR are lost" --template bugfix',
        "execplan new --list-templates",
        "execplan new 'Build the parser' --interactive",
        "execplan new --from draft.md --commit",
    ),
)
@click.argument("title", required=False)
@click.option("--purpose", metavar="TEXT", default="", help="What for; @FILE and - are read.")
@click.option("--task", "tasks", metavar="TEXT", multiple=True, help="A first task; may be given again.")
@click.option(
    "--template",
    metavar="NAME",
    shell_complete=completes("template"),
    help="Begin with the questions and tasks of a kind of work.",
)
@click.option("--list-templates", "listed", is_flag=True, help="Show the templates, the repository's own too.")
@click.option("--from", "source", metavar="FILE", help="File a whole plan that was written elsewhere, or - for stdin.")
@click.option("-i", "--interactive", is_flag=True, help="Ask for each section; skip any, or write it in your editor.")
@new_options
def new(
    call: Call,
    title: str | None,
    purpose: str,
    tasks: tuple[str, ...],
    template: str | None,
    listed: bool,
    source: str | None,
    interactive: bool,
    options: Options,
) -> Answer:
    """Write a new plan from a template: twelve sections, each with a line of guidance."""
    given = [title, purpose, *tasks, template]
    if source is not None and (any(given) or listed):
        raise ExecplanError("usage", "--from takes the whole plan from a file", exit=USAGE, hint="leave the rest out")
    if listed and any(given):
        raise ExecplanError("usage", "--list-templates makes no plan", exit=USAGE, hint="leave the rest out")
    if interactive:
        _check_interactive(call, options, is_new=source is None and not listed)
        title = title or interview.ask_title()
    if source is None and title is None and not listed:
        raise ExecplanError("usage", "a plan needs a title", exit=USAGE, hint="execplan new 'What shall be done'")
    home = homes.find(os.getcwd())
    if listed:
        return _list(home)
    if not home.exists:
        home = adopted(call, home, options)
    if source is not None:
        made = scaffold.adopt_plan(home, given_bytes(source), source, options)
    else:
        about = words(purpose, "the purpose") if purpose else ""
        firsts = [words(task, "a task") for task in tasks]
        first = options._replace(commit=False) if interactive else options
        made = scaffold.new_plan(home, title or "", about, firsts, first, template)
        if interactive:
            made = _interview(made, title or "", options)
    data = {
        "id": made.id,
        "path": made.path,
        "artifacts": made.paths[1].rstrip("/"),
        "changed": True,
        "digest": digest(made.data),
        "commit": made.commit,
    }
    if options.dry_run:
        text = one_per_line([f"would make {path}" for path in made.paths], made.diff)
        return Answer({**data, "diff": made.diff}, text, warnings=made.warnings)
    lines = [made.path] + ([f"committed {made.commit[:12]}"] if made.commit else [])
    name = typed(made.id, made.path)
    advice = begin(reader.read(made.data), name)
    follow = (*advice.commands, f"execplan lint {name}")
    return Answer(data, one_per_line(lines), warnings=made.warnings, next=follow, work=advice.work)


def _check_interactive(call: Call, options: Options, *, is_new: bool) -> None:
    """Refuse what does not go with questions on a terminal; raises ExecplanError."""
    for wrong, why in (
        (not is_new, "--interactive asks for the sections of a plan from a template"),
        (call.as_json, "--interactive asks on a terminal, and --json is for programs"),
        (options.dry_run, "--interactive writes each answer at once, and --dry-run writes nothing"),
    ):
        if wrong:
            raise ExecplanError("usage", why, exit=USAGE, hint="leave one of them out")
    interview.require_terminal()


def _interview(made: Made, title: str, options: Options) -> Made:
    """Ask for the sections of a new plan, then commit it where that is wanted; raises ExecplanError."""
    home = homes.find(os.getcwd())
    path = os.path.join(home.root, made.path)
    made = made._replace(data=interview.interview(home, path))
    if not options.commits(home):
        return made
    done = commit_paths(home, made.id, [path, home.artifacts(made.id)], "new", f"new, {title}", {}, title)
    return made._replace(data=shelf.open_bytes(home, path), commit=done.digest, warnings=made.warnings + done.warnings)


def _list(home: Home) -> Answer:
    """Every template and whose it is."""
    every = templates.every(home)
    names = [visible(each.name) for each in every]
    width = max(map(len, names))
    lines = []
    for name, each in zip(names, every, strict=True):
        whose = "in place of the built-in" if each.overrides else "own" if each.own else "built in"
        lines.append(f"{name:{width}}  {each.about}  ({whose})" if each.about else f"{name:{width}}  ({whose})")
    data = {"templates": [each._asdict() for each in every]}
    return Answer(data, one_per_line(lines), next=("execplan new 'Its title' --template bugfix",))


command = new
