"""The board as text: one table of plans, grouped by column."""

from __future__ import annotations

from collections import Counter
from typing import Any

from execplan.cli.output.text_table import ProgressCell, format_grouped_table
from execplan.cli.output.worktree_output import worktree_lines
from execplan.core.plan.model import ARCHIVED, BROKEN
from execplan.core.text.message_parts import format_count, shorten
from execplan.views.board.board_cards import COLUMNS, Board, Card

_Row = tuple[str | ProgressCell, ...]

_SPARE_COLUMNS = ("dialect", "findings", "activity")
"""Columns that a narrow terminal leaves out, in this order."""
_MAX_NEXT_LENGTH = 120
"""Maximum length of a plan's next task, also in a pipe; `show` prints all of it."""


def board_text(board: Board, *, everything: bool) -> str:
    """Return the board as text: a line of counts, and a table of the plans."""
    counts = [f"{column.total} {column.name}" for column in board.columns if column.total]
    lines = [", ".join(counts) or "no plans yet"]
    cards = board.cards
    is_joint = any([card.from_project is not None for card in cards])
    uses = Counter([(card.from_project, card.id) for card in cards])
    names = {card.path: card.id if uses[card.from_project, card.id] == 1 else card.path for card in cards}
    has_dialects = len({card.dialect for card in cards}) > 1
    groups = [
        (
            f"{column.name} ({column.total})",
            [_card_row(card, names[card.path], has_dialects=has_dialects) for card in column.cards],
        )
        for column in board.columns
        if column.cards
    ]
    if groups:
        kind = ("dialect",) if has_dialects else ()
        head = (
            "done",
            "activity",
            "findings",
            *(("project",) if is_joint else ()),
            *kind,
            "path" if len(uses) < len(cards) else "id",
            "next",
        )
        lines += ["", format_grouped_table(head, groups, _SPARE_COLUMNS)]
    lines += worktree_lines([(names[card.path], card.worktree) for card in cards])
    archived = board.columns[COLUMNS.index(ARCHIVED)]
    if archived.total and not everything:
        lines += ["", "archived plans: execplan board --all"]
    return "\n".join(lines)


def board_json(board: Board) -> dict[str, Any]:
    """Return the board as a document shows it."""
    return {
        "columns": [
            {"name": column.name, "total": column.total, "plans": [card.to_json() for card in column.cards]}
            for column in board.columns
        ]
    }


def progress_text(card: Card) -> str:
    """Describe how many tasks are done, as in `3/7` or `3/7 +1 other`."""
    if card.counts is None:
        return "-"
    other = f" +{card.counts.other} other" if card.counts.other else ""
    return f"{card.counts.done}/{card.counts.total}{other}"


def card_notes(card: Card) -> list[str]:
    """Return notes about a plan: its open comments, its approval, its last run, and conflicts."""
    notes = [format_count(card.open_comments, "open comment")] if card.open_comments else []
    notes += [card.approval_text] if card.approval_text else []
    notes += [card.run.text] if card.run is not None else []
    return notes + ([f"conflict on line {card.conflict_line}"] if card.conflict_line else [])


def _card_row(card: Card, name: str, *, has_dialects: bool) -> _Row:
    origin = (card.from_project.name,) if card.from_project is not None else ()
    plan = (*origin, *((card.dialect,) if has_dialects else ()), name)
    findings = card.findings.describe() or "-"
    if card.counts is None:
        return "-", "-", findings, *plan, card.error
    notes = card_notes(card)
    suffix = f" ({', '.join(notes)})" if notes else ""
    progress = ProgressCell(progress_text(card), card.counts.done, card.counts.total)
    next_text = shorten(card.next_text, _MAX_NEXT_LENGTH)
    return progress, card.last_date or "-", findings, *plan, f"{next_text}{suffix}".strip() or "-"


def broken_cards(board: Board) -> tuple[Card, ...]:
    """Return the cards of broken plans."""
    return board.columns[COLUMNS.index(BROKEN)].cards
