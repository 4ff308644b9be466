"""The `execplan outcome` command."""

from __future__ import annotations

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import create_option, define_command, writer_options
from execplan.cli.plan_arguments import plan_option
from execplan.cli.plan_editing import edit_plan
from execplan.cli.text_input import read_blocks
from execplan.core.edits import plan_updates
from execplan.core.edits.plan_writer import WriteOptions


@define_command(
    reads="the plan.",
    writes="one paragraph or item in Outcomes & Retrospective.",
    examples=('execplan outcome "The parser reads all sections; tables are left out."',),
)
@click.argument("text")
@plan_option
@create_option
@writer_options
def outcome(call: Call, text: str, plan: str | None, create: bool, options: WriteOptions) -> Answer:
    """Add an outcome: what works now, what is missing, what you learned.

    Record it at each milestone and at the end; `archive` requires one for a completed plan. TEXT can be @FILE, or - for
    standard input; its paragraphs, lists and code blocks are kept.
    """
    outcome_text = read_blocks(text, "the outcome")
    return edit_plan(
        plan,
        lambda project, ref: plan_updates.outcome(project, ref, outcome_text, create=create, options=options),
        options,
        "execplan status {id}",
        finishes=True,
    )


command = outcome
