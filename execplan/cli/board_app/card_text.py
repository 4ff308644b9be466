"""The texts of cards and tasks as Textual shows them; texts from plans are escaped and never read as markup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from execplan.cli.error_handler import printable_line
from execplan.cli.output.board_output import card_notes, progress_text
from execplan.cli.output.terminal_layout import bar_parts
from execplan.plan.model import DONE, OPEN
from execplan.text.message_parts import format_count

if TYPE_CHECKING:
    from execplan.board.board_cards import Card
    from execplan.cli.board_app.plan_view import ViewedTask

_BAR_WIDTH = 10
_DIM = "$text-muted"
_TASK_STYLES = {DONE: "$text-success", OPEN: ""}
_OTHER_TASK_STYLE = "$text-warning"


def card_content(card: Card) -> Content:
    """Return the lines of a card: title, progress and activity, next task, and notes."""
    lines = [Content.styled(_line(card.title or card.id), "bold")]
    if card.counts is None:
        return Content("\n").join([*lines, Content.styled(_line(card.error), "$text-error"), Content("")])
    full, empty = bar_parts(card.counts.done, card.counts.total, width=_BAR_WIDTH)
    progress = f"{' ' * bool(full + empty)}{progress_text(card)}  {activity_text(card)}"
    lines.append(Content.assemble((full, "$text-success"), (empty, _DIM), (progress, _DIM)))
    if card.next_text:
        lines.append(Content(_line(card.next_text)))
    if notes := _notes(card):
        lines.append(Content.assemble(*notes))
    return Content("\n").join([*lines, Content("")])


def activity_text(card: Card) -> str:
    """Describe when the plan was last active."""
    if card.idle_days is None:
        return card.last_date
    return f"{format_count(card.idle_days, 'day')} ago" if card.idle_days else "today"


def task_content(task: ViewedTask) -> Content:
    """Return the line of a task."""
    box = f"{task.number:>3}. {'  ' * task.depth}[{_line(task.mark)}] "
    holder = f"  claimed by {_line(task.by)}" if task.by else ""
    return Content.assemble(
        (box, _TASK_STYLES.get(task.state, _OTHER_TASK_STYLE)), _line(task.text), (holder, "$text-accent")
    )


def plain_content(text: str) -> Content:
    """Return a text of several lines, escaped."""
    return Content("\n".join([_line(line) for line in text.split("\n")]))


def _notes(card: Card) -> list[tuple[str, str]]:
    """Return notes with their styles: claims, findings, approval, run and conflict."""
    notes = [(_line(f"claimed by {', '.join(card.holders)}"), "$text-accent")] if card.holders else []
    if findings := card.findings.describe():
        notes.append((findings, "$text-error" if card.findings.error else _DIM))
    notes += [(_line(note), "$text-warning") for note in card_notes(card)]
    return [part for at, note in enumerate(notes) for part in ([(" · ", _DIM)] if at else []) + [note]]


def _line(text: str) -> str:
    """Escape a text to one line; a tab counts as a space."""
    return printable_line(text.replace("\t", " "))
