"""The `execplan comment`, `execplan reply` and `execplan resolve` commands."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import complete_with, define_command, writer_options
from execplan.cli.plan_arguments import plan_option
from execplan.cli.text_input import read_lines
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import usage_error
from execplan.core.plan_store import plan_selection, plan_store
from execplan.core.plan_store.plan_store import quote_plan_name


@define_command(
    reads="the plan, and its comments; for the author: $EXECPLAN_AGENT, the settings, $EXECPLAN_AUTHOR and your git name.",
    writes="one line in comments.jsonl in the plan's artifacts; with the first one, a .gitattributes file next to it.",
    examples=(
        'execplan comment "Who will review this?"',
        'execplan comment --on 3 "Which line endings?" -p parser',
        "execplan comment --on 'Decision Log' @work.md",
        "execplan comment --on 'decision 1' \"This is no longer true.\"",
    ),
)
@click.argument("text", required=False, metavar="[TEXT]")
@click.option(
    "--on",
    metavar="PART",
    shell_complete=complete_with("section"),
    help="Task (number, ID or text), section, step ID, or an entry, such as 'decision 2'. Default: the whole plan.",
)
@plan_option
@writer_options
def comment(call: Call, text: str | None, on: str | None, plan: str | None, options: WriteOptions) -> Answer:
    """Comment on a plan, or on a part of it.

    A comment stays with its part: when a task or an entry is reworded, the comment follows it. When the part is
    removed, the comment is marked as stale. Comments are committed with the plan, and branches that add comments merge
    without conflicts. TEXT may have several lines, and can be @FILE, or - for standard input. Without TEXT, your editor
    opens. `undo` doesn't remove comments; close a comment with `resolve`.
    """
    from execplan.cli.output.comment_output import stored_answer
    from execplan.team.review.plan_comments import add_comment, load_comments

    if text is not None and plan is None and plan_selection.is_exact_name(os.getcwd(), text):
        plan, text = text, None
    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    lines = read_lines(_write_in_editor() if text is None else text, "the comment")
    stored = add_comment(project, ref, on, "\n".join(lines), options)
    name = quote_plan_name(ref.id, ref.path)
    show = f"execplan show {name} --comments"
    if stored.record is None:
        return stored_answer(stored, "", "you have made this comment already", options, show)
    short_id, place = stored.record.id, ""
    if not options.dry_run:
        parsed_plan = plan_store.parse(project, plan_store.read_bytes(project, ref.path))
        placed = next(
            placed
            for placed in load_comments(project, ref, parsed_plan).threads
            if placed.thread.comment.id == stored.record.id
        )
        short_id, place = placed.thread.short_id, placed.label
    return stored_answer(stored, short_id, f"commented on {place}: {short_id}", options, show)


def _write_in_editor() -> str:
    """Return a text that a person writes in an editor; raises ExecplanError if it is empty or nobody is there."""
    from execplan.cli.text_input import edit_text
    from execplan.core.plan_store.author import can_ask

    if not can_ask():
        message = "the text of the comment is missing"
        raise usage_error(message, "write it as an argument: execplan comment 'Text'")
    text = edit_text("")
    return f"@{text}" if text.startswith("@") else text  # `@@` is a text that begins with an at sign


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
    from execplan.team.review.plan_comments import add_reply

    return thread_answer(
        select_commented_plan(".", plan, comment),
        comment,
        lambda project, ref: add_reply(
            project, ref, comment, "\n".join(read_lines(text, "the reply")), options, reopen=reopen
        ),
        options,
    )


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
    from execplan.team.review.plan_comments import resolve_comment

    reason_text = "\n".join(read_lines(reason, "the reason")) if reason is not None else ""
    return thread_answer(
        select_commented_plan(".", plan, comment),
        comment,
        lambda project, ref: resolve_comment(project, ref, comment, reason_text, options),
        options,
    )
