"""The `execplan resolve` command."""

from __future__ import annotations

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, writer_options
from execplan.cli.plan_arguments import plan_option
from execplan.cli.text_input import read_lines
from execplan.core.edits.plan_writer import WriteOptions


@define_command(
    reads="the comments of the plan, or of all plans; for the author, the same as `execplan comment`.",
    writes="one line in comments.jsonl in the plan's artifacts.",
    examples=(
        "execplan resolve c7f3k",
        'execplan resolve c7f3k --reason "Task 3 names them now."',
    ),
)
@click.argument("comment")
@click.option("--reason", metavar="TEXT", help="How it was resolved: text, @FILE, or - for standard input.")
@plan_option
@writer_options
def resolve(call: Call, comment: str, reason: str | None, plan: str | None, options: WriteOptions) -> Answer:
    """Resolve a review comment.

    COMMENT is the ID that `execplan show` prints, or the beginning of it. A resolved comment stays in the file and is
    shown by `execplan show --comments`; `execplan reply --reopen` opens it again.
    """
    from execplan.cli.output.comment_output import thread_answer
    from execplan.team.review.comment_file import select_commented_plan

    reason_text = "\n".join(read_lines(reason, "the reason")) if reason is not None else ""
    return thread_answer(
        select_commented_plan(".", plan, comment),
        comment,
        lambda plan: plan.resolve(comment, reason=reason_text, options=options),
        options,
    )


command = resolve
