"""Units to choose from, and everything that is done with them, as the command does it."""

from __future__ import annotations

from typing import NamedTuple

from execplan.context.context_pack import FILE, KEEP, MESSAGE, PRUNE, SECTION, TASK, ContextPack, PackFormat, Unit
from execplan.context.context_settings import DEFAULT_SHARES, Allocation, BudgetShares, allocate_budget
from execplan.context.pack_printer import PackItem
from execplan.context.relevance import score_units
from execplan.context.relevance_selection import select_by_relevance
from execplan.context.task_intent import classify_intent
from execplan.context.token_counter import Counter

PURPOSE = Unit(
    "section:purpose",
    SECTION,
    "People read a report without waiting. The parser is fast.",
    "Purpose",
    pinned="the purpose",
)
NEXT_TASK = Unit(
    "task:t1",
    TASK,
    "Teach `src/reader.py` to parse dates with offsets",
    "Task 3",
    pinned="the next open task",
    references=("src/reader.py",),
)


class BudgetedPack(NamedTuple):
    """What came of a budget."""

    items: list[PackItem]
    text: str
    allocation: Allocation


def pack(*units: Unit) -> ContextPack:
    """A pack of the purpose, the next task and other units."""
    return ContextPack("2026-01-01_dates", "Dates", NEXT_TASK.content, PURPOSE.content, (PURPOSE, NEXT_TASK, *units))


def file(path: str, content: str, order: int = 0) -> Unit:
    """A file."""
    return Unit(f"file:{path}", FILE, content, path, path, 1, content.count("\n") + 1, order)


def message(number: int, content: str) -> Unit:
    """Something that somebody said."""
    return Unit(f"message:{number}", MESSAGE, content, f"user, {number}", order=number)


def make(
    context_pack: ContextPack, budget: int, counter: Counter, form: PackFormat, shares: BudgetShares = DEFAULT_SHARES
) -> BudgetedPack:
    """Choose and print."""
    allocation = allocate_budget(budget, shares)
    items = select_by_relevance(
        context_pack, score_units(context_pack, classify_intent(context_pack.task)), allocation, counter, form
    )
    pieces = [form.render_unit(item.unit, item.text, item.action) for item in items if item.action != PRUNE]
    shortened = any([item.action != KEEP for item in items])
    return BudgetedPack(items, form.render_pack(context_pack, pieces, is_shortened=shortened), allocation)
