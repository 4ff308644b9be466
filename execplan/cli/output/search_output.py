"""Output of `search`: plans with their matching lines on a terminal, one line for each match elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.cli.answer import json_fields
from execplan.cli.error_handler import printable_line
from execplan.cli.output.terminal_layout import STATE_STYLES, is_terminal, paint, terminal_size
from execplan.context.search.search_items import SECTION
from execplan.core.text.message_parts import format_count

if TYPE_CHECKING:
    from execplan.context.search.match_lines import Match
    from execplan.context.search.plan_search import PlanResult, SearchResults

_MATCH_STYLE = "bold red"
_MAX_LINE_LENGTH = 200
"""Maximum characters of a line outside a terminal; plans with one line for each paragraph have longer ones."""
_MIN_LINE_LENGTH = 16
_LEAD_LENGTH = 20
"""Maximum characters before the first match in a shortened line."""


def format_results(results: SearchResults) -> str:
    """Return the results as text."""
    if not is_terminal():
        lines = [
            f"{_location(match)}: {_label(match)}: {_format_line(match, _MAX_LINE_LENGTH)}"
            for plan in results.plans
            for match in plan.matches
        ]
        shown_count = sum([len(plan.matches) for plan in results.plans])
        if shown_count < results.match_count:
            plans = format_count(results.plan_count, "plan")
            lines.append(f"{shown_count} of {results.match_count} matches in {plans} shown")
        return "\n".join(lines)
    blocks = [_format_plan(plan) for plan in results.plans]
    if results.plan_count > len(results.plans):
        blocks.append(f"{len(results.plans)} of {format_count(results.plan_count, 'plan')} shown")
    return "\n\n".join(blocks)


def _format_plan(plan: PlanResult) -> str:
    """Return a plan with its matches for a terminal."""
    if plan.match_count > len(plan.matches):
        count = f"{len(plan.matches)} of {plan.match_count} matches"
    else:
        count = f"{plan.match_count} match{'' if plan.match_count == 1 else 'es'}"
    state = paint(plan.state, STATE_STYLES.get(plan.state, ""))
    title = paint(printable_line(plan.title or "(no title)"), "bold")
    path = printable_line(plan.display_path)
    lines = [f"{title}  {state}, {count}", paint(path, "cyan")]
    width = max([len(str(match.line)) for match in plan.matches])
    label_width = max([len(_label(match)) for match in plan.matches])
    columns = terminal_size()[0]
    label_width = min(label_width, max(columns // 4, 10))
    for match in plan.matches:
        location = str(match.line) if match.line else "-"
        label = _label(match)
        label = label if len(label) <= label_width else label[: label_width - 1] + "…"
        prefix = f"  {location:>{width}}  {label:{label_width}}  "
        lines.append(prefix + _format_line(match, max(columns - len(prefix), _MIN_LINE_LENGTH)))
    return "\n".join(lines)


def _location(match: Match) -> str:
    path = printable_line(match.path)
    return f"{path}:{match.line}" if match.line else path


def _label(match: Match) -> str:
    """Return the kind of a match, for text of a section its headings."""
    return printable_line(match.heading) if match.kind == SECTION and match.heading else match.kind


def _format_line(match: Match, max_length: int) -> str:
    """Return the line with its matches marked, shortened around the first one."""
    start, end = _visible_part(match, max_length)
    pieces, position = ["…"] if start else [], start
    for span_start, span_end in match.spans:
        if span_end <= start or span_start >= end:
            continue
        marked_start, marked_end = max(span_start, start), min(span_end, end)
        pieces.append(printable_line(match.text[position:marked_start]))
        pieces.append(paint(printable_line(match.text[marked_start:marked_end]), _MATCH_STYLE))
        position = marked_end
    pieces.append(printable_line(match.text[position:end]))
    return "".join([*pieces, "…" if end < len(match.text) else ""])


def _visible_part(match: Match, max_length: int) -> tuple[int, int]:
    """Return the start and end of the part of a line that is shown; it begins and ends between words if possible."""
    text = match.text
    if len(text) <= max_length:
        return 0, len(text)
    first, first_end = match.spans[0] if match.spans else (0, 0)
    start = max(0, min(first - min(_LEAD_LENGTH, max_length // 3), len(text) - max_length + 1))
    if start:
        start = text.find(" ", start - 1, first) + 1 or start
    end = start + max_length - 1 - (start > 0)
    if end >= len(text):
        return start, len(text)
    space = text.rfind(" ", max(first_end, end - _LEAD_LENGTH), end + 1)
    return start, space if space > start else end


def results_json(results: SearchResults) -> dict[str, Any]:
    """Return the results as JSON data."""
    plans = [
        {
            "id": plan.ref.id,
            "path": plan.display_path,
            "from_project": plan.from_project.to_json() if plan.from_project is not None else None,
            **json_fields(plan, "title state match_count"),
            "matches": [_match_json(match) for match in plan.matches],
        }
        for plan in results.plans
    ]
    return {**json_fields(results, "plan_count match_count"), "plans": plans}


def _match_json(match: Match) -> dict[str, Any]:
    return {
        **json_fields(match, "kind path line? heading? text"),
        "marks": [{"column": start + 1, "end_column": end} for start, end in match.spans],
        "state": match.task_state or None,
        **json_fields(match, "author? date?"),
    }
