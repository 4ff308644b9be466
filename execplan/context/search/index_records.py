"""What the index has of a plan and its items, and the hits of a query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.context.search import search_items
from execplan.context.search.indexed_text import clean_text, prepare_text
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.model import ARCHIVED

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

    from execplan.context.search.search_items import SearchItem

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
