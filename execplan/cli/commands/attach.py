"""The `execplan attach` command."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import create_option, define_command, writer_options
from execplan.cli.output.terminal_text import printable_lines
from execplan.cli.plan_arguments import plan_option
from execplan.cli.plan_editing import edit_answer
from execplan.cli.text_input import read_text
from execplan.core.archive import attachments
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.plan_store import plan_selection
from execplan.core.plan_store.plan_store import quote_plan_name


@define_command(
    reads="the files, and the plan.",
    writes="a copy of each file in the plan's artifacts directory, and a line for each in Artifacts and Notes.",
    examples=(
        "execplan attach run.log",
        "execplan attach before.png after.png --about 'Before and after' -p parser",
    ),
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--about", metavar="TEXT", help="What the files show.")
@plan_option
@create_option
@writer_options
def attach(
    call: Call, files: tuple[str, ...], about: str | None, plan: str | None, create: bool, options: WriteOptions
) -> Answer:
    """Attach files to a plan as evidence.

    Use it to keep logs, screenshots and other proof with the plan. A file with the same SHA-256 as an attached one is
    not copied again.
    """
    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    description = read_text(about, "the description") if about is not None else ""
    amended, attached = attachments.attach_files(project, ref, files, description, options, create=create)
    answer = edit_answer(
        amended._replace(messages=()),
        options,
        f"execplan show {quote_plan_name(ref.id, amended.path)} --section 'Artifacts and Notes'",
    )
    file_entries = [
        {
            "path": project.display_path(attachment.path),
            "sha256": attachment.digest,
            "bytes": attachment.size,
            "copied": attachment.copied,
        }
        for attachment in attached
    ]
    action = "would copy" if options.dry_run else "copied"
    lines = [
        f"{action} {source} to {file_entry['path']}"
        if file_entry["copied"]
        else f"already attached: {file_entry['path']}"
        for source, file_entry in zip(files, file_entries, strict=True)
    ]
    return answer._replace(
        data={**answer.data, "said": list(amended.messages), "files": file_entries},
        text="\n".join([printable_lines(lines), answer.text]).rstrip("\n"),
    )
