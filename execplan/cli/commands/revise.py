"""`execplan revise`."""

from __future__ import annotations

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, writer_options
from execplan.cli.plan_arguments import plan_option
from execplan.cli.plan_editing import edit_plan
from execplan.cli.text_input import read_text
from execplan.clock import now
from execplan.edits.plan_writer import WriteOptions
from execplan.plan import log_edits


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
    changer = log_edits.add_revision_note(read_text(text, "the note"), now())
    return edit_plan(call, plan, options, "revise", lambda project: changer, "execplan show {id}")


command = revise
