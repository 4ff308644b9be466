"""The `execplan reply` command."""

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
        'execplan reply c7f3k "All three kinds."',
        'execplan reply c7f3k "The test still fails." --reopen',
    ),
)
@click.argument("comment")
@click.argument("text")
@click.option("--reopen", is_flag=True, help="Reopen the comment if it is resolved.")
@plan_option
@writer_options
def reply(call: Call, comment: str, text: str, reopen: bool, plan: str | None, options: WriteOptions) -> Answer:
    """Reply to a review comment.

    COMMENT is the ID that `execplan show` prints, or the beginning of it. TEXT may have several lines, and can be
    @FILE, or - for standard input.
    """
    from execplan.cli.output.comment_output import thread_answer
    from execplan.team.review.comment_file import select_commented_plan

    return thread_answer(
        select_commented_plan(".", plan, comment),
        comment,
        lambda plan: plan.reply(comment, "\n".join(read_lines(text, "the reply")), reopen=reopen, options=options),
        options,
    )


command = reply
