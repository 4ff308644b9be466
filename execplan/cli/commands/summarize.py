"""The `execplan summarize` command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.cli.plan_arguments import plan_argument
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.plan_store import plan_selection, plan_store
from execplan.team.advice.conflict_warnings import conflict_commands, conflict_warnings
from execplan.team.advice.plan_json import plan_json

if TYPE_CHECKING:
    from execplan.context.summary.summary_pieces import SummarySection

SUMMARY_FORMS = ("summary", "report", "itinerary", "analysis", "structured", "bullet_points")
LENGTHS = ("brief", "detailed", "comprehensive")


@define_command(
    reads="the plan.",
    writes="nothing.",
    examples=(
        "execplan summarize",
        "execplan summarize parser --as report",
        "execplan summarize parser --as itinerary --length detailed",
        "execplan summarize parser --as structured --json",
    ),
)
@plan_argument()
@click.option(
    "--as",
    "form",
    type=click.Choice(SUMMARY_FORMS),
    default=SUMMARY_FORMS[0],
    help="Form of the summary (default: summary): execplan explain summaries.",
)
@click.option(
    "--length",
    type=click.Choice(LENGTHS),
    default=LENGTHS[0],
    help="At most 120, 350 or 1,000 words (default: brief).",
)
def summarize(call: Call, plan: str | None, form: str, length: str) -> Answer:
    """Summarize a plan (no AI).

    Use it to report on a plan to people who don't read all of it. The summary uses the plan's own text and adds only
    numbers. The same plan always gives the same summary. Secrets are redacted.
    """
    from execplan.context.summary.plan_summary import redact_plan, summarize_plan
    from execplan.core.secrets.redaction import Redactor

    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    stored_plan = plan_store.load(project, ref)
    parsed_plan = stored_plan.require_plan()
    redaction = Redactor(os.environ, os.environ)  # of variables only those whose names tell
    redacted_plan = redact_plan(parsed_plan, redaction)
    ids = task_ids((parsed_plan if len(parsed_plan.tasks) == len(redacted_plan.tasks) else redacted_plan).tasks)
    plan_summary = summarize_plan(redacted_plan, ref.id, stored_plan.state, ids, form, length)
    text = redaction.redact_text(plan_summary.text)
    data: dict[str, Any] = {
        **plan_json(stored_plan),
        "title": redaction.redact_text(redacted_plan.title) if redacted_plan.title is not None else None,
        "form": form,
        "length": length,
        "limit": plan_summary.max_words,
        "words": plan_summary.word_count,
        "text": text,
        "sections": redaction.redact_value([_part_json(part) for part in plan_summary.sections]),
    }
    return Answer(data, text, warnings=conflict_warnings([stored_plan]), next_commands=conflict_commands([stored_plan]))


def _part_json(part: SummarySection) -> dict[str, Any]:
    """Return a section and its printed text; each item has the plan's original text and its location."""
    items = [
        {
            "text": piece.text,
            "quotes": piece.quotes,
            "line_start": piece.start or None,
            "line_end": piece.end or None,
        }
        for piece in part.pieces
    ]
    return {"name": part.name, "heading": part.heading, "items": items, "left_out": part.omitted_count}
