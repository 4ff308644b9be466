"""What the index has of a plan and its items, as indexed texts, and the hits of a query with marks around matches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from execplan.context.search import search_items
from execplan.context.search.search_items import SearchItem
from execplan.context.text_search import separate_unspaced
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.model import ARCHIVED
from execplan.core.text.accents import replace_accented

MARK_START: Final = "\x02"
MARK_END: Final = "\x03"
_UNSPACED_SEPARATOR: Final = "\x1f"
"""Character around letters of scripts without spaces; it separates words for SQLite and is removed from results."""
_RESERVED = (MARK_START, MARK_END, _UNSPACED_SEPARATOR, "\0")
_KIND_WEIGHTS = {
    search_items.TITLE: 3.0,
    search_items.TASK: 1.5,
    search_items.DECISION: 1.5,
    search_items.DISCOVERY: 1.5,
    search_items.OUTCOME: 1.5,
}
"""Weights of matches by kind of item; others have 1."""
_ARCHIVED_WEIGHT: Final = 0.8
"""Weight of matches in archived plans, which are less likely to be wanted."""


def clean_text(text: str) -> str:
    """Replace characters that SQLite can't store, such as those of file names that are not UTF-8."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def prepare_text(text: str) -> str:
    """Return a text as it is indexed and searched for."""
    for char in _RESERVED:
        if char in text:
            text = text.replace(char, " ")
    return text if text.isascii() else separate_unspaced(replace_accented(clean_text(text)), _UNSPACED_SEPARATOR)


def find_marks(text: str) -> list[tuple[int, int]]:
    """Return the spans between marks in a prepared text, as positions in the original text."""
    spans = []
    position = start = 0
    for char in text:
        if char == MARK_START:
            start = position
        elif char == MARK_END:
            spans.append((start, position))
        elif char != _UNSPACED_SEPARATOR:
            position += 1
    return spans


class PlanRecord(NamedTuple):
    """A plan as the index has it, without its items."""

    path: bytes
    """Path that is displayed, encoded for the file system."""
    status: str
    """File status in which the file has the digest; empty if it can't be trusted."""
    digest: str
    name: str
    """ID of the plan."""
    title: str
    state: str
    date: str
    """Date at the start of the plan's ID, or empty; the date of items without their own."""
    artifacts: str
    """Digest of the names of the plan's artifacts."""
    problem: str = ""
    """Why the plan can't be read; empty if it can."""


class IndexedItem(NamedTuple):
    """An item as the index has it."""

    position: int
    """Index of the item in its plan."""
    kind: str
    section: str
    state: str
    author: str
    date: str
    weight: float
    """Weight of matches in the item."""
    text: str
    """Prepared text."""
    context: str
    """Prepared titles of the plan and the section."""


class Hit(NamedTuple):
    """An item that matches a query."""

    path: bytes
    position: int
    """Index of the item in its plan."""
    score: float
    """Rank; higher is better."""


def indexed_items(record: PlanRecord, items: Iterable[tuple[int, SearchItem]]) -> list[IndexedItem]:
    """Return the items of a plan, given with their positions, as the index has them."""
    title = prepare_text(record.title)
    weight = _ARCHIVED_WEIGHT if record.state == ARCHIVED else 1.0
    return [
        IndexedItem(
            position,
            item.kind,
            clean_text(item.section),
            item.state,
            clean_text(item.author),
            item.date or record.date,
            weight * _KIND_WEIGHTS.get(item.kind, 1.0),
            prepare_text(item.text),
            f"{title}\n{prepare_text(item.heading)}",
        )
        for position, item in items
    ]
