"""The `execplan decide` command."""

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
    reads="the plan; for the author: $EXECPLAN_AGENT, the settings, $EXECPLAN_AUTHOR and your git name.",
    writes="one entry in the Decision Log, formatted like the existing ones.",
    examples=(
        'execplan decide "Read line by line" --why "A task is a line."',
        'execplan decide "Read into a tree" --why "Lists nest." --supersedes "by line"',
    ),
)
@click.argument("text")
@click.option("--why", metavar="TEXT", required=True, help="The rationale: text, @FILE, or - for standard input.")
@click.option("--author", metavar="NAME", help="Who decided. Default: see `execplan explain decisions`.")
@click.option("--supersedes", metavar="DECISION", help="An earlier decision, by unique text.")
@plan_option
@create_option
@writer_options
def decide(
    call: Call,
    text: str,
    why: str,
    author: str | None,
    supersedes: str | None,
    plan: str | None,
    create: bool,
    options: WriteOptions,
) -> Answer:
    """Add a decision, with its rationale, date and author.

    Record each choice that shapes the work, so that others know later why you made it. TEXT can be @FILE, or - for
    standard input; its paragraphs, lists and code blocks are kept.
    """
    decision, rationale = read_blocks(text, "the decision"), read_blocks(why, "the rationale")
    return edit_plan(
        plan,
        lambda project, ref: plan_updates.decide(
            project, ref, decision, why=rationale, author=author, supersedes=supersedes, create=create, options=options
        ),
        options,
        "execplan next {id}",
        finishes=True,
    )


command = decide
