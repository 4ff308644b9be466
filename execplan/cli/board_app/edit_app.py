"""The part of the application that its screens use: edits in threads, their messages and errors, and loading."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from textual.app import App

from execplan.cli.board_app.card_list import plain_text
from execplan.cli.board_app.dialogs import TaskDialog
from execplan.core.errors import CONFLICT, ExecplanError

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.cli.board_app.plan_edits import SeenPlan
    from execplan.core.project.project_list import ProjectOrigin
    from execplan.views.board.board_cards import Card

_ERROR_SECONDS = 12.0
"""Seconds for which an error is shown."""
_MAX_CHANGES = 3
"""Maximum number of changes that a message about a conflict lists."""


class EditApp(App[int]):
    """An application whose screens edit plans; its result is an exit status."""

    @abstractmethod
    def plan_path(self, card: Card) -> str:
        """Return the absolute path of the file of a card's plan."""

    @abstractmethod
    def other_project(self, card: Card) -> ProjectOrigin | None:
        """Return the project of a card's plan if it is another one, which is only read."""

    @abstractmethod
    def check_files(self) -> None:
        """Load the board again if files have changed."""

    @abstractmethod
    def reload(self, *, everything: bool) -> None:
        """Load the board again, with or without archived plans."""

    def show_message(self, text: str) -> None:
        """Show a message for some seconds."""
        self.notify(plain_text(text), markup=False)

    def show_warning(self, text: str) -> None:
        """Show why something can't be done or seen, long enough to copy a command."""
        self.notify(plain_text(text), severity="warning", timeout=_ERROR_SECONDS, markup=False)

    def show_error(self, error: ExecplanError) -> None:
        """Show an error with its hint, or that a plan has changed since it was shown."""
        lines = [error.message, *([error.hint] if error.hint else [])]
        if error.exit == CONFLICT:
            lines = ["The plan has changed since it was shown, so nothing was written. Now you see the new version."]
            lines += error.candidates[:_MAX_CHANGES]
        self.notify(plain_text("\n".join(lines)), severity="error", timeout=_ERROR_SECONDS, markup=False)

    def ask_for_task(self, plan_title: str, seen_plan: SeenPlan, text: str = "") -> None:
        """Ask for the text of a task and add it; after an error, ask again with what the user has typed."""

        def add(entered_text: str | None) -> None:
            if entered_text:
                self.start_edit(
                    lambda: seen_plan.add_task(entered_text),
                    lambda: self.ask_for_task(plan_title, seen_plan.reload(), entered_text),
                )

        self.push_screen(TaskDialog(plan_title, text), add)

    def start_edit(self, edit: Callable[[], str], after_error: Callable[[], None] | None = None) -> None:
        """Make an edit in a thread, because it may wait for a lock, and show its message or error."""
        self.run_worker(lambda: self._edit(edit, after_error), thread=True, group="edit")

    def _edit(self, edit: Callable[[], str], after_error: Callable[[], None] | None) -> None:
        try:
            message = edit()
        except ExecplanError as error:
            self.call_from_thread(self.show_error, error)
            if after_error is not None:
                self.call_from_thread(after_error)
        else:
            self.call_from_thread(self.show_message, message)
        self.call_from_thread(self.check_files)
