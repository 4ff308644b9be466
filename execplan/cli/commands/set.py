"""The `execplan set` command."""

from __future__ import annotations

import click

from execplan.advice.plan_advice import advise_filling, unfilled_sections
from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import complete_with, create_option, define_command, writer_options
from execplan.cli.plan_arguments import plan_option
from execplan.cli.plan_editing import edit_answer
from execplan.cli.text_input import read_lines
from execplan.edits.plan_writer import WriteOptions
from execplan.library.plan_api import Plan
from execplan.plan_store.plan_store import quote_plan_name


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
    edited_plan = Plan.find(plan)
    amended = edited_plan.set(section, lines, create=create, options=options)
    name = quote_plan_name(edited_plan.id, amended.path)
    sections = [] if options.dry_run else unfilled_sections(edited_plan.read())
    if not sections:
        return edit_answer(amended, options, f"execplan lint {name}")
    advice = advise_filling(sections, name)
    return edit_answer(amended, options, *advice.commands)._replace(work=advice.work)


command = set_
