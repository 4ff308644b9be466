"""Dialogs over the board, for the text of a new task and the list of keys, and the footer of its screens."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, Static

from execplan.cli.board_app.card_list import plain_text

if TYPE_CHECKING:
    from textual.app import ComposeResult

_FIRST_ACTIONS = ("help", "close")
_DIALOG_CSS = """
    align: center middle;
    & > Vertical, & > VerticalScroll {
        width: 76;
        max-width: 95%;
        height: auto;
        max-height: 95%;
        border: round $accent;
        padding: 1 2;
        background: $surface;
        overflow-y: auto;
    }
"""
KEYS = (
    ("←  →", "go to the next column"),
    ("↑  ↓", "go to the next plan or task"),
    ("enter", "open the plan"),
    ("/", "filter the plans as you type; escape removes the filter"),
    ("d", "check off the task; on the board, the next task of the plan"),
    ("o", "reopen the task, in an opened plan"),
    ("a", "add a task to the plan"),
    ("c", "claim the task; on the board, the next task of the plan"),
    ("tab", "switch between tasks and text, in an opened plan"),
    ("v", "show or hide archived plans"),
    ("r", "load all plans again; changed files are loaded automatically"),
    ("?", "show these keys"),
    ("escape", "go back"),
    ("q", "quit"),
)
"""The keys of the board, each with what it does."""


class KeyFooter(Footer):
    """Shows the keys of the screen after those for help and to quit."""

    def compose(self) -> ComposeResult:
        """Build the list of keys."""
        yield from sorted(super().compose(), key=lambda key: getattr(key, "action", "") not in _FIRST_ACTIONS)


class TaskDialog(ModalScreen[str]):
    """Asks for the text of a new task; returns an empty text if the user cancels."""

    BINDINGS = [Binding("escape", "cancel", "Cancel")]  # noqa: RUF012 (Textual's own declaration)
    # at the top, because messages of the application are at the bottom
    DEFAULT_CSS: ClassVar[str] = f"TaskDialog {{ {_DIALOG_CSS} align: center top; }}"

    def __init__(self, plan_title: str, text: str = "") -> None:
        super().__init__()
        self._plan_title = plan_title
        self._text = text

    def compose(self) -> ComposeResult:
        """Build the dialog with its input."""
        with Vertical():
            yield Static(plain_text(f"Add a task to {self._plan_title}"), markup=False)
            yield Input(self._text, placeholder="Text of the task", max_length=2000, select_on_focus=False)
            yield Static(Content.styled("enter adds it, escape cancels", "$text-muted"))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Return the text of the task."""
        self.dismiss(event.value.strip())

    def action_cancel(self) -> None:
        """Return an empty text instead."""
        self.dismiss("")


class HelpDialog(ModalScreen[None]):
    """Shows the keys of the board."""

    BINDINGS = [Binding("escape,q,question_mark,enter", "dismiss(None)", "Back")]  # noqa: RUF012 (Textual's own declaration)
    DEFAULT_CSS: ClassVar[str] = f"HelpDialog {{ {_DIALOG_CSS} }}"

    def compose(self) -> ComposeResult:
        """Build the list of keys."""
        lines = [Content.assemble((f"{key:8}", "$text-accent"), description) for key, description in KEYS]
        with VerticalScroll():
            yield Static(Content.styled("Keys of the board", "bold"))
            yield Static(Content("\n").join([Content(""), *lines]))
            yield Static(
                Content.styled(
                    "\nA click selects a plan or a task, and a double-click opens a plan. Every edit is written like that of the command of the "
                    "same name, and `execplan undo` undoes it. If a plan has changed since it was shown, nothing is "
                    "written.",
                    "$text-muted",
                )
            )
