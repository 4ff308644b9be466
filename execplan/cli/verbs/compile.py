"""`execplan compile`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.plan_name import is_same_plan, plan_option
from execplan.cli.verb import new_options, verb
from execplan.errors import NO, USAGE, ExecplanError
from execplan.repo import pick
from execplan.repo.amend import Options

if TYPE_CHECKING:
    from execplan.cli.compiling import Made
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


@verb(
    reads="the plan, and the execution plan that is stored for it; with --from another document; with --enhance your own "
    "settings, and what the program there answers.",
    writes="the execution plan among the plan's artifacts, or FILE; with --annotate the plan, and nothing else; with "
    "--enhance a proposal beside it, and the ledger.",
    examples=(
        "execplan compile",
        "execplan compile parser --out -",
        "execplan compile parser --check",
        "execplan compile parser --annotate --dry-run",
        "execplan compile parser --from plan.json",
        'execplan compile --compose parser writer --title "Release"',
        "execplan compile parser --enhance --dry-run",
    ),
)
@click.argument("plans", nargs=-1, metavar="[PLAN]...")
@click.option("--out", metavar="FILE", help="Write it there and store nothing; - prints its bytes and nothing else.")
@click.option("--check", is_flag=True, help="Exit 1 when what is stored is not what the plan compiles to.")
@click.option("--annotate", is_flag=True, help="Write inferred steps into the plan as fences with attributes.")
@click.option(
    "--from", "source", metavar="FILE", help="Take a document of this or another system; - for standard input."
)
@click.option("--compose", is_flag=True, help="Join the execution plans of all PLANs, in their order.")
@click.option("--title", metavar="TEXT", help="With --compose: make a new plan for the result, instead of -p PLAN.")
@click.option(
    "--enhance",
    is_flag=True,
    help="Send it, without secrets, to the program that your own settings name, for a proposal.",
)
@plan_option
@new_options
def compile_(
    call: Call,
    plans: tuple[str, ...],
    out: str | None,
    check: bool,
    annotate: bool,
    source: str | None,
    compose: bool,
    title: str | None,
    enhance: bool,
    plan: str | None,
    options: Options,
) -> Answer:
    """Compile a plan's steps to its execution plan: JSON that is the same for the same plan, to be evaluated and approved.

    Nothing is run. Steps stand in Concrete Steps and in Validation and Acceptance; what looks like one and is not taken
    is listed with why.
    """
    ways = {
        "--check": check,
        "--annotate": annotate,
        "--from": source is not None,
        "--compose": compose,
        "--enhance": enhance,
    }
    if not compose and len(plans) == 1 and plan is not None and is_same_plan(plans[0], plan):
        plan = None
    _stop_usage(plans, plan, out, title, [name for name, on in ways.items() if on])
    if compose:
        return _composed(call, plans, plan, out, title, options)
    home, ref = pick.open_plan(os.getcwd(), plans[0] if plans else plan)
    if annotate:
        return _annotated(home, ref, options)
    from execplan.cli import compiling
    from execplan.repo.execution.current import current

    if check:
        return compiling.checked(home, ref, current(home, ref))
    if source is not None:
        return _kept(call, home, ref, _imported(home, ref, source), out, options, "import an execution plan")
    if enhance:
        from execplan.cli.enhancing import enhanced

        return enhanced(home, ref, lambda: _compiled(home, ref), options)
    if out is not None:
        return _out(call, _compiled(home, ref, fresh=True), out, options)
    return compiling.stored(home, ref, lambda: _compiled(home, ref), options, "compile")


def _stop_usage(
    plans: tuple[str, ...], plan: str | None, out: str | None, title: str | None, chosen: list[str]
) -> None:
    """Refuse what does not go together; raises ExecplanError."""
    compose = "--compose" in chosen
    why = ""
    if len(chosen) > 1:
        why = f"{' and '.join(chosen)} exclude each other"
    elif out is not None and chosen and chosen[0] in ("--check", "--annotate", "--enhance"):
        why = f"--out and {chosen[0]} exclude each other"
    elif title is not None and (not compose or plan is not None or out is not None):
        why = "--title makes a new plan for --compose, and does not go with -p or --out"
    elif compose and (len(plans) < 2 or (plan is None and out is None and title is None)):
        why = "--compose takes two plans or more, and --title TEXT, -p PLAN or --out FILE for the result"
    elif not compose and len(plans) + (plan is not None) > 1:
        why = "one plan is compiled at a time; --compose joins several"
    if why:
        hint = "execplan compile --compose PLAN PLAN --title 'Its title'" if compose else "see execplan compile --help"
        raise ExecplanError("usage", why, exit=USAGE, hint=hint)


def _compiled(home: Home, ref: Ref, *, fresh: bool = False) -> Made:
    """What the plan compiles to; if not fresh, the stored bytes where only lines have moved. Raises ExecplanError."""
    from execplan.cli.compiling import Made, warned
    from execplan.execution.documents.document import to_bytes
    from execplan.repo.execution.current import compiled, current, no_steps

    warnings = warned(home, ref)
    if fresh:
        made = compiled(home, ref)
        if made.document is None:
            raise no_steps(home.shown(ref.path), made.skipped)
        return Made(made.document, to_bytes(made.document), made.skipped, warnings)
    found = current(home, ref)
    if found.document.source is None or found.document.revision > 1:
        raise ExecplanError(
            "other-source",
            f"{found.path} was imported, composed or revised: it does not come from the plan's lines",
            exit=NO,
            hint=f"to let the plan's own steps take its place, remove it and compile anew: rm {found.path}",
        )
    return Made(found.document, found.data, found.left, warnings)


def _imported(home: Home, ref: Ref, source: str) -> Made:
    from execplan.agents.enhancer import kept
    from execplan.cli.compiling import made_of
    from execplan.cli.words import given_bytes, place
    from execplan.execution.making.imported import import_plan

    data, where = given_bytes(source), place(source)
    return made_of(kept.accept_proposal(home, ref, data, where) if kept.is_proposal(data) else import_plan(data, where, ref.id))


def _composed(
    call: Call, plans: tuple[str, ...], plan: str | None, out: str | None, title: str | None, options: Options
) -> Answer:
    from execplan.cli import compiling
    from execplan.execution.making.compose import compose
    from execplan.repo.execution.current import current

    parts = [pick.open_plan(os.getcwd(), name) for name in plans]
    documents = [current(home, ref).document for home, ref in parts]
    joined = "+".join([ref.id for _, ref in parts])[:255]
    if title is not None:
        compose(documents, joined)  # refuses before a plan is made
        return compiling.stored_new(parts, title, lambda name: compose(documents, name), options)
    if plan is None:
        assert out is not None
        return _out(call, compiling.made_of(compose(documents, joined)), out, options)
    home, ref = pick.open_plan(os.getcwd(), plan)
    made = compiling.made_of(compose(documents, ref.id))
    return _kept(call, home, ref, made, out, options, "compose an execution plan")


def _kept(call: Call, home: Home, ref: Ref, made: Made, out: str | None, options: Options, summary: str) -> Answer:
    """Stored for a plan, or sent elsewhere."""
    from execplan.cli.compiling import stored

    return _out(call, made, out, options) if out is not None else stored(home, ref, lambda: made, options, summary)


def _out(call: Call, made: Made, out: str, options: Options) -> Answer:
    from execplan.cli.compiling import printed, written

    return printed(made, as_json=call.as_json) if out == "-" else written(made, out, options)


def _annotated(home: Home, ref: Ref, options: Options) -> Answer:
    """Inferred steps written into the markdown, for the author to check; nothing is compiled."""
    from execplan.cli.answer import typed
    from execplan.cli.printing import one_per_line
    from execplan.cli.writing import told
    from execplan.execution.wild.annotate import annotate
    from execplan.repo.amend import amend

    amended = amend(home, ref, lambda plan: annotate(plan, dry_run=options.dry_run), options, verb="compile")
    answer = told(amended, options, f"execplan compile {typed(ref.id, amended.path)}")
    if options.dry_run and amended.changed:
        answer = answer._replace(text=f"{answer.text}\n{one_per_line(amended.said)}")
    return answer._replace(data={**answer.data, "said": list(amended.said)})


command = compile_
