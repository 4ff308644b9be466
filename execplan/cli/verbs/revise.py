"""`execplan revise`."""

from __future__ import annotations

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.plan_name import plan_option
from execplan.cli.verb import define_command, writer_options
from execplan.cli.words import read_text
from execplan.cli.writing import edit_plan
from execplan.clock import now
from execplan.plan import logs
from execplan.repo.amend import WriteOptions


@define_command(
    reads="the plan.",
    writes="a dated revision note where the plan keeps them, at its end if it keeps none.",
    examples=('execplan revise "Plan of Work rewritten: the tree was given up, because lines are enough."',),
)
@click.argument("text")
@plan_option
@writer_options
def revise(call: Call, text: str, plan: str | None, options: WriteOptions) -> Answer:
    """Add a revision note: what was changed in the plan, and why. TEXT may be @FILE, or - for standard input."""
    changer = logs.add_revision_note(read_text(text, "the note"), now())
    return edit_plan(call, plan, options, "revise", lambda project: changer, "execplan show {id}")


command = revise
