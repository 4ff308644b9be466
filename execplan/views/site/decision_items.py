"""The decisions of a plan as HTML, for the plan's page and for the page with all decisions."""

from __future__ import annotations

from bisect import bisect_left
from textwrap import dedent
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from execplan.core.plan.line_grammar import is_list_item
from execplan.core.plan.text_blocks import has_blocks
from execplan.core.text.markdown_blocks import CODE, FENCE, HTML, QUOTE

if TYPE_CHECKING:
    from execplan.core.plan.model import Entry, ParsedPlan
    from execplan.core.text.markdown_html import MarkdownHtml


class DecisionItem(NamedTuple):
    """A decision with its fields."""

    text: Markup
    """Text of the decision; blocks, with all fields, if it contains code or a quote."""
    rationale: Markup
    """The reason: text, or blocks if it contains a list."""
    date: str
    author: str
    supersedes: str
    anchor: str
    """ID of the decision on the page."""


class DecisionWriter:
    """Converts decisions of a plan to HTML."""

    def __init__(self, plan: ParsedPlan, markdown: MarkdownHtml) -> None:
        self._plan = plan
        self._markdown = markdown

    def decisions(self, start: int = 0, end: int | None = None) -> tuple[DecisionItem, ...]:
        """Return the decisions between two lines, by default all of them."""
        return tuple(
            [
                self._decision(entry, number)
                for number, entry in enumerate(self._plan.decisions, 1)
                if start <= entry.start and (end is None or entry.start < end)
            ]
        )

    def _decision(self, entry: Entry, number: int) -> DecisionItem:
        fields = (entry.date or "", entry.author or "", entry.supersedes or "", f"decision-{number}")
        if _has_blocks(self._plan, entry):
            first_line, *other_lines = self._plan.text.lines[entry.start : entry.end]
            bullet_end = len(first_line) - len(first_line.lstrip(" \t-*+"))
            source = dedent("\n".join([" " * bullet_end + first_line[bullet_end:], *other_lines]))
            return DecisionItem(Markup(self._markdown.block(source)), Markup(), *fields)  # noqa: S704 (escaped)
        rationale = entry.rationale or ""
        has_list = has_blocks(rationale) or is_list_item(rationale)
        convert_rationale = self._markdown.block if has_list else self._markdown.inline
        return DecisionItem(
            Markup(self._markdown.inline(entry.text)),  # noqa: S704 (escaped)
            Markup(convert_rationale(rationale)),  # noqa: S704 (escaped)
            *fields,
        )


def _has_blocks(plan: ParsedPlan, entry: Entry) -> bool:
    """Return whether an entry contains code, HTML or a quote, which its fields would show on one line."""
    first = bisect_left(plan.blocks, entry.start, key=lambda block: block.start)
    last = bisect_left(plan.blocks, entry.end, key=lambda block: block.start)
    return has_blocks(entry.body) or any(
        [block.kind in (FENCE, CODE, HTML, QUOTE) for block in plan.blocks[first:last]]
    )
