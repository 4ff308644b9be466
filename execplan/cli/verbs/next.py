"""`execplan next`."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call, typed
from execplan.cli.shape import conflict_warnings, next_task, plan_json
from execplan.cli.verb import verb
from execplan.errors import NO, OK, ExecplanError
from execplan.plan.model import BROKEN
from execplan.repo import home as homes
from execplan.repo import shelf


@verb(
    reads="the plan; when none is named, the states of all outside the archive.",
    writes="nothing.",
    examples=("execplan next", "execplan next parser --json"),
)
@click.argument("plan", required=False)
def next_(call: Call, plan: str | None) -> Answer:
    """Print the first open task, in the order of the file."""
    others: list[str] = []
    if plan is not None or os.environ.get("EXECPLAN_PLAN"):
        home, ref = shelf.open_plan(os.getcwd(), plan)
        shelved = shelf.load(home, ref)
    else:
        home = homes.require(os.getcwd())
        plans = shelf.load_together(home)
        if not plans:
            return Answer({"task": None}, "no plans yet", next=("execplan new 'Its title'",))
        others = [each.ref.id for each in plans if each.state == BROKEN]
        try:
            shelved = shelf.only(plans)
        except ExecplanError as error:
            if others:
                error.message += f"; broken: {', '.join(others)}"
            raise
    ref = shelved.ref
    told = plan_json(shelved)
    if shelved.plan is None:
        data = {**told, "task": None, "broken": [ref.id]}
        return Answer(data, f"{ref.id} is broken: {told['error']}", NO, next=(f"execplan lint {typed(told['path'])}",))
    task = next_task(shelved.plan)
    warnings = tuple([f"{name} is broken: see execplan lint {name}" for name in others])
    warnings += conflict_warnings([shelved])
    data = {**told, "task": task, "broken": others}
    name = typed(ref.id, told["path"])
    if task is None:
        text = "nothing is open" if shelved.plan.tasks else "no task yet"
        verb = "archive" if told["state"] == "complete" else "add 'First step' -p"
        follow = () if ref.archived else (f"execplan {verb} {name}",)
        return Answer(data, text, NO if others else OK, warnings=warnings, next=follow)
    text = f"{task['number']}. {task['text']}  [{task['id']}] in {ref.id}"
    return Answer(data, text, NO if others else OK, warnings=warnings, next=(f"execplan done {task['id']} -p {name}",))


command = next_
