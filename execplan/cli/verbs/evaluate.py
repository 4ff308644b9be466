"""`execplan evaluate`."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call, typed
from execplan.cli.plan_name import plan_argument
from execplan.cli.verb import verb
from execplan.errors import NO, OK, POLICY, USAGE, ExecplanError
from execplan.repo import pick

TEXT = "text"
MARKDOWN = "markdown"


@verb(
    reads="the plan, what is stored of its execution, the files that its steps name, your own settings and the repository's; "
    "PATH, for programs; shells and node parse the scripts that steps write, and run nothing of them.",
    writes="nothing, not even a lock.",
    examples=(
        "execplan evaluate",
        "execplan evaluate parser",
        "execplan evaluate parser --json",
        "execplan evaluate parser --format markdown",
    ),
)
@plan_argument()
@click.option(
    "--format", "form", type=click.Choice([TEXT, MARKDOWN]), default=TEXT, help="markdown: a page for a reviewer."
)
def evaluate(call: Call, plan: str | None, *, form: str) -> Answer:
    """Judge what a plan would do: each step's risk, a dry run, and every check; exit 1 when it must not run."""
    if call.as_json and form != TEXT:
        why = "--json prints one JSON document, and --format markdown a page"
        raise ExecplanError("usage", why, exit=USAGE, hint="leave one of them out")
    try:
        return _evaluated(call, plan, form)
    except ExecplanError as error:
        if error.exit != POLICY:
            raise
        return _refused(error)


def _evaluated(call: Call, plan: str | None, form: str) -> Answer:
    from execplan.cli import approving
    from execplan.cli.evaluation import evaluation_json, evaluation_text
    from execplan.engine.underway import find_active_run
    from execplan.repo.execution.evaluated import evaluated

    home, ref = pick.open_plan(os.getcwd(), plan)
    found = evaluated(home, ref, find_active_run(home, ref))
    name = typed(ref.id, home.shown(ref.path))
    if form == MARKDOWN:
        from execplan.execution.evaluation.page import render_page

        text = render_page(
            found.current.document, found.evaluation, found.path, found.binding.digest, f"execplan approve {name}"
        )
    else:
        text = evaluation_text(found)
    warnings = (f"{found.current.path} is not used: {found.current.stale}",) if found.current.stale else ()
    ok = found.evaluation.ok
    asks = approving.is_terminal() and not call.as_json
    approve = approving.command(found, name, asks=asks)
    follow = (approve if ok else f"execplan edit {name}",) if form == TEXT else ()
    return Answer(evaluation_json(found), text, OK if ok else NO, warnings, follow)


def _refused(error: ExecplanError) -> Answer:
    """What the policy forbids is a finding here: there is nothing yet that could be forbidden to run."""
    findings = [
        {
            "check": error.code,
            "level": "error",
            "step": None,
            "path": None,
            "line": None,
            "message": each,
            "mend": error.hint,
        }
        for each in error.candidates or (error.message,)
    ]
    data = {"ok": False, "digest": None, "risk": None, "steps": [], "findings": findings}
    lines = [f"error: {each['message']} ({error.code})" for each in findings]
    return Answer(data, "\n".join([*lines, f"  mend: {error.hint}", "It must not run"]), NO)


evaluate.settles = False  # a move that was cut short is finished by a verb that may write
command = evaluate
