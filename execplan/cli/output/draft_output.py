"""Output of `new --draft-with`: the created plan, what was sent, and a draft with errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.agents.drafting.plan_drafting import describe_calls, draft_json, shorten
from execplan.cli.answer import Answer
from execplan.cli.output.terminal_text import printable_lines
from execplan.core.errors import CHECK_FAILED
from execplan.core.text.message_parts import format_count

if TYPE_CHECKING:
    from execplan.agents.drafting.drafting_settings import DraftingSettings
    from execplan.agents.drafting.plan_drafting import Draft


def add_draft(answer: Answer, draft: Draft, settings: DraftingSettings, *, dry_run: bool) -> Answer:
    """Add which program wrote a plan, and what was sent; in a dry run with --json, also the requests themselves."""
    line = printable_lines([describe_calls(draft.calls, settings.name)])
    data = {**draft_json(draft, settings), **(_requests(draft) if dry_run else {})}
    return answer._replace(data={**answer.data, "draft": data}, text=f"{answer.text}\n{line}")


def broken_draft_answer(draft: Draft, settings: DraftingSettings) -> Answer:
    """Return the answer of a dry run whose draft has errors: the draft and its errors; nothing is written."""
    text = draft.data.decode("utf-8", "replace")
    again = f", and {settings.name} gave no better one: {draft.failure}" if draft.failure else ""
    lines = [f"the draft has {format_count(len(draft.problems), 'error')}{again}:", *shorten(draft.problems)]
    findings = [finding.to_json("draft.md") for finding in draft.findings]
    data = {
        "changed": False,
        "findings": findings,
        "text": text,
        "draft": {**draft_json(draft, settings), **_requests(draft)},
    }
    output = printable_lines([text.rstrip("\n"), "", *lines, describe_calls(draft.calls, settings.name)])
    return Answer(data, output, CHECK_FAILED)


def _requests(draft: Draft) -> dict[str, list[str]]:
    return {"requests": [call.prompt.data.decode("utf-8", "replace") for call in draft.calls]}
