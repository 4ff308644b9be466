"""The `execplan set` command."""

from __future__ import annotations

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import complete_with, create_option, define_command, writer_options
from execplan.cli.plan_arguments import plan_option
from execplan.cli.plan_editing import edit_plan
from execplan.cli.text_input import read_lines
from execplan.edits.plan_writer import WriteOptions


@define_command(
    reads="the plan, and the new body.",
    writes="all lines of one section except its heading and the revision notes at its end.",
    examples=(
        "execplan set 'Plan of Work' - <work.md",
        "execplan set 'Plan of Work' 'Change `src/reader.py`.' --dry-run",
    ),
)
@click.argument("section", shell_complete=complete_with("section"))
@click.argument("text")
@plan_option
@create_option
@writer_options
def set_(call: Call, section: str, text: str, plan: str | None, create: bool, options: WriteOptions) -> Answer:
    """Replace the body of a section.

    Use it to fill in a new plan, or to rewrite a section. TEXT is markdown, or @FILE, or - for standard input. It can
    contain anything except headings of the first two levels. Other sections do not change.
    """
    lines = read_lines(text, "the section")
    return edit_plan(
        plan, lambda plan: plan.set(section, lines, create=create, options=options), options, "execplan lint {id}"
    )


command = set_
