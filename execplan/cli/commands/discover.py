"""The `execplan discover` command."""

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
    writes="one entry in Surprises & Discoveries, formatted like the existing ones.",
    examples=('execplan discover "The last line is dropped" --evidence "test_lines.py fails"',),
)
@click.argument("text")
@click.option("--evidence", metavar="TEXT", required=True, help="The evidence: text, @FILE, or - for standard input.")
@plan_option
@create_option
@writer_options
def discover(call: Call, text: str, evidence: str, plan: str | None, create: bool, options: WriteOptions) -> Answer:
    """Add a discovery, with its evidence.

    Record what differs from your expectations, such as a bug or an unexpected measurement. TEXT can be @FILE, or - for
    standard input; its paragraphs, lists and code blocks are kept.
    """
    discovery, proof = read_blocks(text, "the discovery"), read_blocks(evidence, "the evidence")
    return edit_plan(
        plan,
        lambda project, ref: plan_updates.discover(
            project, ref, discovery, evidence=proof, create=create, options=options
        ),
        options,
        "execplan next {id}",
        finishes=True,
    )


command = discover
