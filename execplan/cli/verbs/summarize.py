"""`execplan summarize`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.plan_name import plan_argument
from execplan.cli.shape import conflict_warnings, plan_json
from execplan.cli.verb import verb
from execplan.errors import About
from execplan.plan.seek import task_ids
from execplan.repo import pick, shelf

if TYPE_CHECKING:
    from execplan.context.summary.piece import SummarySection

FORMS = ("summary", "report", "itinerary", "analysis", "structured", "bullet_points")
LENGTHS = ("brief", "detailed", "comprehensive")


@verb(
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
    "--as", "form", type=click.Choice(FORMS), default=FORMS[0], help="What kind of text; summary unless told."
)
@click.option(
    "--length",
    type=click.Choice(LENGTHS),
    default=LENGTHS[0],
    help="At most 120, 350 or 1,000 words; brief unless told.",
)
def summarize(call: Call, plan: str | None, form: str, length: str) -> Answer:
    """Tell a plan to people, in its own words: nothing is asked of a model, and nothing is added but numbers.

    The same plan gives the same text each time. Secrets are taken out.
    """
    from execplan.context.summary.clean import redact_plan
    from execplan.context.summary.summarize import summarize_plan as told_as
    from execplan.text.redaction import Redaction

    home, ref = pick.open_plan(os.getcwd(), plan)
    shelved = shelf.load(home, ref)
    if shelved.plan is None:
        assert shelved.error is not None
        with About(home.shown(ref.path)):
            raise shelved.error
    redaction = Redaction(os.environ, os.environ)  # of variables only those whose names tell
    read = redact_plan(shelved.plan, redaction)
    ids = task_ids((shelved.plan if len(shelved.plan.tasks) == len(read.tasks) else read).tasks)
    told = told_as(read, ref.id, shelved.state, ids, form, length)
    text = redaction.text(told.text)
    data: dict[str, Any] = {
        **plan_json(shelved),
        "title": redaction.text(read.title) if read.title is not None else None,
        "form": form,
        "length": length,
        "limit": told.max_words,
        "words": told.word_count,
        "text": text,
        "sections": redaction.value([_part_json(part) for part in told.sections]),
    }
    return Answer(data, text, warnings=conflict_warnings([shelved]))


def _part_json(part: SummarySection) -> dict[str, Any]:
    """A part with what is printed of it; of each piece the plan's own words, and where they stand."""
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


command = summarize
