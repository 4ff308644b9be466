"""A column of the board: a list of cards of equal height, of which only the visible ones are drawn, and their texts.

Texts from plans are escaped and never read as markup.

Textual's own lists lay out every item at each change, which takes 0.2 seconds for a thousand cards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.text import Text
from textual.binding import Binding
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from execplan.cli.error_handler import printable_line
from execplan.cli.output.board_output import card_notes, progress_text
from execplan.cli.output.terminal_layout import bar_parts
from execplan.core.text.message_parts import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.events import Click

    from execplan.views.board.board_cards import Card

_BAR_WIDTHS = (10, 6, 0)
"""Widths of a progress bar, widest first; a narrow card has a shorter one or none."""
CLAIM_STYLE = "cyan"
_ERROR_STYLE = "#ff7b72"
"""Readable on the highlight too, which the red of many terminals is not."""


CARD_LINES = 4
"""Number of lines of a card: title, progress and activity, next task, and notes."""
_TITLE_MARGIN = 6
"""Width of an empty column besides its title: a corner, a line and a space on each side."""
_CARD_HEIGHT = CARD_LINES + 1
"""Height of a card with the empty line after it."""


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


def plain_text(text: str) -> str:
    """Escape a text of several lines."""
    return "\n".join([_line(line) for line in text.split("\n")])


def _notes(card: Card) -> Text:
    """Return the notes of a card in one line: project, claims, findings, worktree, approval, run and conflict."""
    notes = [(card.from_project.name, "bold")] if card.from_project is not None else []
    notes += [(f"claimed by {', '.join(card.holders)}", CLAIM_STYLE)] if card.holders else []
    if findings := card.findings.describe():
        notes.append((findings, _ERROR_STYLE if card.findings.error else "dim"))
    notes += [(card.worktree.describe(), "dim")] if card.worktree is not None else []
    notes += [(note, "yellow") for note in card_notes(card)]
    return Text(" · ", style="dim").join([Text(_line(note), style=style) for note, style in notes])


def _line(text: str) -> str:
    """Escape a text to one line; a tab counts as a space."""
    return printable_line(text.replace("\t", " "))


class CardList(ScrollView, can_focus=True):
    """The cards of one column, of which one is highlighted."""

    class Opened(Message):
        """The user wants to open the plan of a card."""

        def __init__(self, card: Card) -> None:
            super().__init__()
            self.card = card

    BINDINGS = [  # noqa: RUF012 (Textual's own declaration)
        Binding("down,j", "move(1)", show=False),
        Binding("up,k", "move(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("home", "first", show=False),
        Binding("end", "last", show=False),
        Binding("enter", "open", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {"card-list--highlighted"}
    DEFAULT_CSS: ClassVar[str] = """
    CardList {
        width: 1fr;
        height: 1fr;
        border: round $panel-lighten-2;
        border-title-color: $foreground;
        padding: 0 1;
        scrollbar-size-vertical: 1;
        scrollbar-color: $panel-lighten-2;
        scrollbar-color-hover: $accent;
        scrollbar-color-active: $accent;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
        overflow-x: hidden;
    }
    CardList:focus { border: round $accent; border-title-style: bold; }
    CardList > .card-list--highlighted { background: $foreground 10%; }
    CardList:focus > .card-list--highlighted { background: $primary 40%; }
    """
    highlighted: reactive[int] = reactive(0)
    """Position of the highlighted card, from 0."""

    def __init__(self, column: str) -> None:
        super().__init__(id=f"column-{column}")
        self.column = column
        """Name of the column."""
        self.cards: tuple[Card, ...] = ()

    @property
    def highlighted_card(self) -> Card | None:
        """The highlighted card, or None in an empty column."""
        return self.cards[self.highlighted] if self.cards else None

    def show_cards(self, cards: Sequence[Card], total: int) -> None:
        """Show these cards, with the same plan highlighted as before; `total` is the number of plans in the column."""
        self.border_title = (
            f"{self.column} {total}" if total == len(cards) else f"{self.column} {len(cards)} of {total}"
        )
        self.styles.width = "1fr" if cards else cell_len(self.border_title) + _TITLE_MARGIN
        if tuple(cards) == self.cards:
            return
        old_card = self.highlighted_card
        self.cards = tuple(cards)
        position = self.find_plan(old_card) if old_card is not None else None
        self.virtual_size = Size(0, len(cards) * _CARD_HEIGHT)
        position = self.highlighted if position is None else position
        self.set_reactive(CardList.highlighted, max(0, min(position, len(cards) - 1)))
        self._show_highlighted()
        self.refresh()

    def find_plan(self, card: Card) -> int | None:
        """Return the position of the card with the plan of another card, or None."""
        return next((at for at, other in enumerate(self.cards) if other.identity == card.identity), None)

    def render_line(self, y: int) -> Strip:
        """Draw a line of the visible part."""
        at, line = divmod(y + round(self.scroll_offset.y), _CARD_HEIGHT)
        width = self.scrollable_content_region.width
        if at >= len(self.cards) or line >= CARD_LINES:
            return Strip.blank(width, self.rich_style)
        text = card_lines(self.cards[at], width)[line].copy()
        text.truncate(width, overflow="ellipsis", pad=True)
        is_highlighted = at == self.highlighted
        style = self.get_component_rich_style("card-list--highlighted") if is_highlighted else self.rich_style
        segments = [segment for segment in text.render(self.app.console) if segment.text]
        return Strip(Segment.apply_style(segments, style), width)

    def watch_highlighted(self) -> None:
        """Draw the highlight at its new place."""
        self._show_highlighted()
        self.refresh()

    def _show_highlighted(self) -> None:
        region = Region(0, self.highlighted * _CARD_HEIGHT, 1, CARD_LINES)
        self.scroll_to_region(region, animate=False, force=True)

    def on_click(self, event: Click) -> None:
        """Highlight the clicked card; open it if it was highlighted."""
        at = (event.get_content_offset_capture(self).y + round(self.scroll_offset.y)) // _CARD_HEIGHT
        if 0 <= at < len(self.cards):
            if at == self.highlighted and event.chain > 1:
                self.action_open()
            self.highlighted = at

    def action_move(self, step: int) -> None:
        """Highlight the next or previous card."""
        self.highlighted = max(0, min(self.highlighted + step, len(self.cards) - 1))

    def action_page(self, step: int) -> None:
        """Move the highlight by the number of visible cards."""
        self.action_move(step * max(1, self.size.height // _CARD_HEIGHT))

    def action_first(self) -> None:
        """Highlight the first card."""
        self.highlighted = 0

    def action_last(self) -> None:
        """Highlight the last card."""
        self.highlighted = max(0, len(self.cards) - 1)

    def action_open(self) -> None:
        """Open the plan of the highlighted card."""
        if card := self.highlighted_card:
            self.post_message(self.Opened(card))
