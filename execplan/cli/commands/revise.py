"""The `execplan revise` command."""

from __future__ import annotations

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, writer_options
from execplan.cli.plan_arguments import plan_option
from execplan.cli.plan_editing import edit_plan
from execplan.cli.text_input import read_blocks
from execplan.core.edits import plan_updates
from execplan.core.edits.plan_writer import WriteOptions


@define_command(
    reads="the plan.",
    writes="a dated revision note after the existing ones, or at the end of the plan if there are none.",
    examples=('execplan revise "Plan of Work rewritten: lines are enough, no tree."',),
)
@click.argument("text")
@plan_option
@writer_options
def revise(call: Call, text: str, plan: str | None, options: WriteOptions) -> Answer:
    """Add a revision note: what changed in the plan, and why.

    Use it after you rewrite a part of the plan. TEXT can be @FILE, or - for standard input; its paragraphs,
    lists and code blocks are kept.
    """
    note_text = read_blocks(text, "the note")
    return edit_plan(
        plan, lambda project, ref: plan_updates.revise(project, ref, note_text, options), options, "execplan show {id}"
    )


command = revise
