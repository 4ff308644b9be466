"""The main screen of the board: columns of cards, a filter, and the edits of the highlighted plan's next task."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widgets import Input, Static

from execplan.cli.board_app.board_edits import SeenPlan
from execplan.cli.board_app.card_list import CardList
from execplan.cli.board_app.dialogs import KeyFooter
from execplan.cli.board_app.plan_screen import PlanScreen
from execplan.cli.error_handler import printable_line
from execplan.core.plan.model import ACTIVE, ARCHIVED, COMPLETE, DRAFT
from execplan.views.board.board_cards import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.events import Resize

    from execplan.cli.board_app.board_edits import EditApp
    from execplan.views.board.board_cards import Board, Card

_MIN_WIDTH = 100
"""Minimum width of a terminal for several columns side by side."""
_MIN_COLUMN_WIDTH = 24
"""Minimum width of a column side by side with others."""
_ALWAYS_SHOWN = (DRAFT, ACTIVE, COMPLETE)
"""Columns that are shown even if they are empty."""


class BoardScreen(Screen[None]):
    """Shows all columns side by side, or one on a narrow terminal."""

    app: EditApp
    AUTO_FOCUS = ""  # the current column gets the focus, not the first one
    BINDINGS = [  # noqa: RUF012 (Textual's own declaration)
        Binding("left,h", "move(-1)", show=False),
        Binding("right,l", "move(1)", show=False),
        Binding("slash", "filter", "Filter"),
        Binding("d", "complete", "Check off"),
        Binding("a", "add", "Add task"),
        Binding("c", "claim", "Claim"),
        Binding("v", "archived", "Archived"),
        Binding("r", "reload", show=False),
        Binding("escape", "clear_filter", show=False),
    ]
    DEFAULT_CSS: ClassVar[str] = """
    BoardScreen {
        #summary { padding: 0 1; height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        #columns { height: 1fr; }
        #filter { display: none; border: none; height: 1; padding: 0 1; }
        #filter.visible { display: block; }
    }
    """

    def __init__(self, board: Board, *, everything: bool) -> None:
        super().__init__()
        self._board = board
        self._everything = everything
        self._current = next((column.name for column in board.columns if column.cards), ACTIVE)
        """Name of the column that has the focus, and is the only one on a narrow terminal."""

    def compose(self) -> ComposeResult:
        """Build the screen: counts, columns, filter and keys."""
        yield Static(id="summary")
        with Horizontal(id="columns"):
            for name in COLUMNS:
                yield CardList(name)
        yield Input(id="filter", placeholder="filter: words of a title, an ID, a task, a name or a project")
        yield KeyFooter(show_command_palette=False)

    def on_mount(self) -> None:
        """Show the board when the screen opens."""
        self.show_board(self._board)
        self._card_list(self._current).focus()

    def on_resize(self, event: Resize) -> None:
        """Show one column or all."""
        self._show_columns()

    def show_board(self, board: Board) -> None:
        """Show the cards of a board that match the filter; the highlight follows its plan to another column."""
        highlighted_card = self._card_list(self._current).highlighted_card
        self._board = board
        words = self._filter_words()
        for column in board.columns:
            cards = [card for card in column.cards if _matches(card, words)]
            self._card_list(column.name).show_cards(cards, len(column.cards))
        if highlighted_card is not None:
            self._highlight(highlighted_card)
        if words and not self._card_list(self._current).cards:
            self._current = next((name for name in COLUMNS if self._card_list(name).cards), self._current)
        self._show_columns()

    def _highlight(self, card: Card) -> None:
        """Highlight the plan of a card in the column that has it now; a later key must not edit another one."""
        for name in self._visible_columns():
            position = self._card_list(name).find_plan(card)
            if position is not None:
                self._card_list(name).highlighted = position
                self._current = name

    def _show_columns(self) -> None:
        """Show the columns that have cards, or only the current one on a narrow terminal."""
        columns = self._visible_columns()
        had_focus = isinstance(self.focused, CardList)
        if self._current not in columns:
            self._current = columns[0]
        filled = [name for name in COLUMNS if self._card_list(name).cards]
        is_narrow = self.size.width < max(_MIN_WIDTH, len(filled) * _MIN_COLUMN_WIDTH)
        for name in COLUMNS:
            is_visible = name in columns and (not is_narrow or name == self._current)
            if self._card_list(name).display != is_visible:  # a new layout takes a tenth of a second
                self._card_list(name).display = is_visible
        if had_focus:
            self._card_list(self._current).focus()
        counts = [
            Text(f" {column.name} {column.total} ", "reverse" if is_narrow and column.name == self._current else "")
            for column in self._board.columns
            if column.total
        ]
        summary = Text(" ").join(counts) if counts else Text("no plans yet")
        if no_match := self._no_match_text():
            summary = Text.assemble(" ", no_match)
        self.query_one("#summary", Static).update(summary, layout=False)

    def _no_match_text(self) -> str:
        """Return a message if the filter matches no plan; otherwise an empty text."""
        words = self._filter_words()
        if not words or any([self._card_list(name).cards for name in COLUMNS]):
            return ""
        return f"no plan matches {printable_line(repr(' '.join(words)))}"

    def _filter_words(self) -> list[str]:
        return self.query_one("#filter", Input).value.casefold().split()

    def _visible_columns(self) -> list[str]:
        """Return the names of the columns that have cards or are always shown."""
        return [
            column.name
            for column in self._board.columns
            if (self._card_list(column.name).cards or column.name in _ALWAYS_SHOWN)
            and (column.name != ARCHIVED or self._everything)
        ]

    def _card_list(self, name: str) -> CardList:
        return self.query_one(f"#column-{name}", CardList)

    def on_card_list_opened(self, event: CardList.Opened) -> None:
        """Open a card's plan."""
        self.app.push_screen(PlanScreen(self.app.plan_path(event.card), self.app.other_project(event.card)))

    def on_descendant_focus(self) -> None:
        """Remember the column that has the focus."""
        if isinstance(self.focused, CardList):
            self._current = self.focused.column

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter the cards while the user types."""
        self.show_board(self._board)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go from the filter to the cards."""
        self._leave_filter(is_visible=bool(event.value))

    def action_move(self, step: int) -> None:
        """Go to the next column on the left or right."""
        columns = self._visible_columns()
        self._current = columns[(columns.index(self._current) + step) % len(columns)]
        self._show_columns()
        self._card_list(self._current).focus()

    def action_filter(self) -> None:
        """Show the filter and type in it."""
        filter_input = self.query_one("#filter", Input)
        filter_input.add_class("visible")
        filter_input.focus()

    def action_clear_filter(self) -> None:
        """Remove the filter and hide it."""
        self.query_one("#filter", Input).value = ""
        self._leave_filter(is_visible=False)

    def _leave_filter(self, *, is_visible: bool) -> None:
        self.query_one("#filter", Input).set_class(is_visible, "visible")
        self._card_list(self._current).focus()

    def action_complete(self) -> None:
        """Check off the next task of the highlighted plan."""
        self._edit_next_task(SeenPlan.complete_task, "done {} -p")

    def action_claim(self) -> None:
        """Claim the next task of the highlighted plan."""
        self._edit_next_task(SeenPlan.claim_task, "next --claim --task {} -p")

    def _edit_next_task(self, edit: Callable[[SeenPlan, str], str], arguments: str) -> None:
        """Edit the next task; `arguments` are those of the command that does the same, with a field for the task."""
        if (card := self._require_card()) and (task_id := self._next_task_id(card)):
            if self._is_read_only(card, arguments.format(task_id)):
                return
            self.app.start_edit(lambda: edit(self._seen_plan(card), task_id))

    def action_add(self) -> None:
        """Ask for the text of a task and add it to the highlighted plan."""
        card = self._require_card()
        if card is not None and not self._is_read_only(card, "add 'New task' -p"):
            self.app.ask_for_task(card.title or card.id, self._seen_plan(card))

    def action_archived(self) -> None:
        """Show or hide archived plans."""
        self._everything = not self._everything
        self.app.reload(everything=self._everything)

    def action_reload(self) -> None:
        """Load all plans again."""
        self.app.reload(everything=self._everything)

    def _is_read_only(self, card: Card, arguments: str) -> bool:
        return self.app.is_read_only(self.app.other_project(card), arguments, card.id)

    def _require_card(self) -> Card | None:
        """Return the highlighted card, or None after a message that there is none."""
        card = self._card_list(self._current).highlighted_card
        if card is None:
            self.app.show_message(self._no_match_text() or "This column is empty.")
        return card

    def _next_task_id(self, card: Card) -> str:
        """Return the ID of a card's next task; empty after a message that there is none."""
        if card.next_task is None:
            self.app.show_message(f"{card.title or card.id}: {card.next_text or 'no open tasks'}")
            return ""
        return card.next_task.id

    def _seen_plan(self, card: Card) -> SeenPlan:
        return SeenPlan(self.app.plan_path(card), card.digest)


def _matches(card: Card, words: list[str]) -> bool:
    """Return whether a card contains all words, in lowercase."""
    project = card.from_project.name if card.from_project is not None else ""
    text = " ".join([card.title, card.id, card.next_text, project, *card.holders]).casefold()
    return all([word in text for word in words])
