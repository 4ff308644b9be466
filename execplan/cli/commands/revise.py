"""The `execplan revise` command."""

from __future__ import annotations

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, writer_options
from execplan.cli.plan_arguments import plan_option
from execplan.cli.plan_editing import edit_plan
from execplan.cli.text_input import read_text
from execplan.edits.plan_writer import WriteOptions


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
    note_text = read_text(text, "the note")
    return edit_plan(plan, lambda plan: plan.revise(note_text, options=options), options, "execplan show {id}")


command = revise
