"""A column of the board: a list of cards that stays where it is when files change."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from execplan.cli.board_app.card_text import card_content

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.board.board_cards import Card


class CardList(OptionList):
    """The cards of one column, of which one is highlighted."""

    BINDINGS = [  # noqa: RUF012 (Textual's own declaration)
        Binding("j", "cursor_down", show=False),
        Binding("k", "cursor_up", show=False),
    ]
    DEFAULT_CSS: ClassVar[str] = """
    CardList {
        width: 1fr;
        height: 1fr;
        max-height: 100%;
        border: round $surface-lighten-2;
        padding: 0 1;
        background: $background;
        text-wrap: nowrap;
        text-overflow: ellipsis;
        scrollbar-size-vertical: 1;
    }
    CardList:focus { border: round $accent; }
    """

    def __init__(self, column: str) -> None:
        super().__init__(id=f"column-{column}", markup=False)
        self.column = column
        """Name of the column."""
        self.cards: tuple[Card, ...] = ()

    @property
    def highlighted_card(self) -> Card | None:
        """The highlighted card, or None in an empty column."""
        return self.cards[self.highlighted] if self.highlighted is not None and self.cards else None

    def show_cards(self, cards: Sequence[Card], count: int) -> None:
        """Show these cards, with the same plan highlighted as before; `count` is the number of plans in the column."""
        self.border_title = (
            f"{self.column} {count}" if count == len(cards) else f"{self.column} {len(cards)} of {count}"
        )
        if tuple(cards) == self.cards:
            return
        old_index, old_card = self.highlighted, self.highlighted_card
        scroll_y = self.scroll_y
        self.cards = tuple(cards)
        self.clear_options()
        self.add_options([Option(card_content(card)) for card in cards])
        if cards:
            paths = [card.path for card in cards]
            is_same = old_card is not None and old_card.path in paths
            self.highlighted = (
                paths.index(old_card.path) if is_same and old_card is not None else min(old_index or 0, len(cards) - 1)
            )
            self.scroll_to(y=scroll_y, animate=False)
