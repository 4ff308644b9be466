"""The texts of cards and tasks as Textual shows them; texts from plans are escaped and never read as markup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from execplan.cli.error_handler import printable_line
from execplan.cli.output.board_output import card_notes, progress_text
from execplan.cli.output.terminal_layout import bar_parts
from execplan.core.plan.model import DONE, OPEN
from execplan.core.text.message_parts import format_count

if TYPE_CHECKING:
    from execplan.cli.board_app.opened_plan import ViewedTask
    from execplan.views.board.board_cards import Card

_BAR_WIDTHS = (10, 6, 0)
"""Widths of a progress bar, widest first; a narrow card has a shorter one or none."""
_CLAIM_STYLE = "cyan"
_ERROR_STYLE = "#ff7b72"
"""Readable on the highlight too, which the red of many terminals is not."""
_TASK_STYLES = {DONE: "green", OPEN: ""}
_OTHER_TASK_STYLE = "yellow"


CARD_LINES = 4
"""Number of lines of a card: title, progress and activity, next task, and notes."""


def card_lines(card: Card, width: int) -> list[Text]:
    """Return the lines of a card of this width; a longer line is cut by whoever shows it."""
    title = Text.assemble((_line(card.title or card.id), "bold"))
    if card.counts is None:
        return [title, Text.assemble((_line(card.error), _ERROR_STYLE)), Text(), _notes(card)]
    return [
        title,
        _progress_line(card, width),
        Text(_line(_next_text(card))),
        _notes(card),
    ]


def _progress_line(card: Card, width: int) -> Text:
    """Return a bar, the number of done tasks and the activity; shorter forms are used where the full ones don't fit."""
    done, total = (card.counts.done, card.counts.total) if card.counts is not None else (0, 0)
    line = Text()
    for bar_width, is_short in ((_BAR_WIDTHS[0], False), *[(bar_width, True) for bar_width in _BAR_WIDTHS]):
        full, empty = bar_parts(done, total, width=bar_width)
        activity = activity_text(card, is_short=is_short)
        progress = f"{' ' * bool(full + empty)}{progress_text(card)}  {activity}".rstrip()
        line = Text.assemble((full, "green"), (empty, "dim"), progress)
        if line.cell_len <= width:
            break
    return line


def _next_text(card: Card) -> str:
    """Describe the next task, without the claims of others, which are among the notes."""
    if card.next_task is None:
        return card.next_text
    is_yours = card.next_task.id in [claim.id for claim in card.claims]
    return f"{card.next_task.number}. {card.next_task.text}{' (yours)' if is_yours else ''}"


def activity_text(card: Card, *, is_short: bool = False) -> str:
    """Describe when the plan was last active, as in `2 days ago`; the short form is `2d`."""
    if card.idle_days is None:
        return card.last_date
    if not card.idle_days:
        return "today"
    return f"{card.idle_days}d" if is_short else f"{format_count(card.idle_days, 'day')} ago"


def task_text(task: ViewedTask) -> Text:
    """Return the line of a task."""
    box = f"{task.number:>3}. {'  ' * task.depth}[{_line(task.mark)}] "
    holder = f"  claimed by {_line(task.by)}" if task.by else ""
    style = _TASK_STYLES.get(task.state, _OTHER_TASK_STYLE)
    return Text.assemble((box, style), _line(task.text), (holder, _CLAIM_STYLE))


def plain_text(text: str) -> str:
    """Escape a text of several lines."""
    return "\n".join([_line(line) for line in text.split("\n")])


def _notes(card: Card) -> Text:
    """Return the notes of a card in one line: project, claims, findings, worktree, approval, run and conflict."""
    notes = [(card.from_project.name, "bold")] if card.from_project is not None else []
    notes += [(f"claimed by {', '.join(card.holders)}", _CLAIM_STYLE)] if card.holders else []
    if findings := card.findings.describe():
        notes.append((findings, _ERROR_STYLE if card.findings.error else "dim"))
    notes += [(card.worktree.describe(), "dim")] if card.worktree is not None else []
    notes += [(note, "yellow") for note in card_notes(card)]
    return Text(" · ", style="dim").join([Text(_line(note), style=style) for note, style in notes])


def _line(text: str) -> str:
    """Escape a text to one line; a tab counts as a space."""
    return printable_line(text.replace("\t", " "))
