"""The `execplan note` command."""

from __future__ import annotations

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import create_option, define_command, writer_options
from execplan.cli.plan_arguments import plan_option
from execplan.cli.plan_editing import edit_plan
from execplan.cli.text_input import read_blocks, read_lines
from execplan.core.edits import plan_updates
from execplan.core.edits.plan_writer import WriteOptions


@define_command(
    reads="the plan; with --excerpt, a file or standard input.",
    writes="one paragraph or item in Artifacts and Notes, with the excerpt in a code block below it.",
    examples=(
        'execplan note "The benchmark ran on two cores."',
        'execplan note "All tests pass:" --excerpt "12 passed in 0.3s"',
    ),
)
@click.argument("text")
@click.option(
    "--excerpt", metavar="TEXT", help="Lines to show verbatim below it: text, @FILE, or - for standard input."
)
@plan_option
@create_option
@writer_options
def note(call: Call, text: str, excerpt: str | None, plan: str | None, create: bool, options: WriteOptions) -> Answer:
    """Add a note to Artifacts and Notes.

    Use it for short proof of the work, such as the last lines of a test run; `attach` is for files. TEXT can be @FILE,
    or - for standard input; its paragraphs, lists and code blocks are kept.
    """
    lines = read_lines(excerpt, "the excerpt") if excerpt is not None else []
    note_text = read_blocks(text, "the note")
    return edit_plan(
        plan,
        lambda project, ref: plan_updates.note(project, ref, note_text, excerpt=lines, create=create, options=options),
        options,
        "execplan show {id} --section 'Artifacts and Notes'",
    )


command = note
