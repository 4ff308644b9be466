"""The `execplan review` command."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.cli.plan_arguments import plan_argument
from execplan.core.plan_store import plan_selection
from execplan.core.plan_store.author import can_ask
from execplan.core.plan_store.plan_store import quote_plan_name


@define_command(
    reads="the plan, its comments, and the version that you last reviewed.",
    writes="with --mark, or at the end of a review on a terminal, the reviewed version to the state directory.",
    examples=("execplan review", "execplan review parser --mark", "execplan review parser --json"),
)
@plan_argument()
@click.option("--mark", is_flag=True, help="Record that you have reviewed the plan as it is now.")
def review(call: Call, plan: str | None, mark: bool) -> Answer:
    """Show what changed in a plan since you last reviewed it.

    Tasks, entries and sections that changed, as `diff` shows them, and comments that are new or have new replies. The
    first review shows the whole plan. On a terminal, the review stops at each change, where you can comment on it, and
    records at the end that you have reviewed the plan. Elsewhere, --mark records it.
    """
    from execplan.cli.output.review_output import review_json, review_text
    from execplan.core.plan_store.author import author, clean_name
    from execplan.team.review.plan_review import load_review, mark_reviewed

    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    plan_review = load_review(project, ref, clean_name(author(project)))
    is_marked = mark
    if can_ask() and not (call.as_json or call.quiet or mark):
        from execplan.cli.review_walk import walk_through

        is_marked = walk_through(plan_review)
        text = "" if is_marked else "The review is not finished, so nothing was recorded."
    else:
        text = review_text(plan_review)
    if is_marked:
        mark_reviewed(plan_review)
        text = "\n".join([*([text] if text else []), f"recorded: {plan_review.reviewer} has reviewed {ref.id}"])
    has_news = bool(plan_review.events or plan_review.new_threads)
    command = f"execplan review {quote_plan_name(ref.id, ref.path)} --mark"
    return Answer(
        review_json(plan_review, is_marked=is_marked),
        text,
        warnings=plan_review.problems,
        next_commands=(command,) if has_news and not is_marked else (),
    )
