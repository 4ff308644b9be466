"""The interactive board: an application that shows the plans and follows their files."""

from __future__ import annotations

import asyncio
import gc
import signal
from typing import TYPE_CHECKING

from textual.binding import Binding

from execplan.cli.board_app.board_edits import EditApp
from execplan.cli.board_app.board_screen import BoardScreen
from execplan.cli.board_app.dialogs import HelpDialog
from execplan.cli.board_app.plan_screen import PlanScreen
from execplan.cli.error_handler import Terminated
from execplan.core.errors import INTERRUPTED, OK, TERMINATED, ExecplanError

if TYPE_CHECKING:
    from execplan.cli.board_app.board_source import BoardSource
    from execplan.core.project.project_list import ProjectOrigin
    from execplan.views.board.board_cards import Board, Card
    from execplan.views.board.board_changes import Snapshot

_POLL_SECONDS = 1.0
"""Seconds between two checks for changed files."""


def run_board(source: BoardSource, board: Board, snapshot: Snapshot, *, everything: bool) -> None:
    """Show the board, loaded after this snapshot of the files, until the user quits.

    Raises KeyboardInterrupt or Terminated if a signal stops it, and what failed.
    """
    gc.enable()  # unlike other commands, this one runs for hours
    app = BoardApp(source, board, snapshot, everything=everything)
    result = app.run()
    if app.failure is not None:
        raise app.failure
    if result == INTERRUPTED:
        raise KeyboardInterrupt
    if result == TERMINATED:
        raise Terminated


class BoardApp(EditApp):
    """The application: it shows the board, follows files and signals, and quits."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS = [  # noqa: RUF012 (Textual's own declaration)
        Binding("question_mark", "help", "Keys"),
        Binding("q", "close", "Quit"),
        Binding("ctrl+q", "close", show=False, priority=True),
        Binding("ctrl+c", "interrupt", show=False, priority=True),
    ]

    def __init__(self, source: BoardSource, board: Board, snapshot: Snapshot, *, everything: bool) -> None:
        super().__init__()
        self._source = source
        self._everything = everything
        self._snapshot = snapshot
        self._is_loading = False
        self._last_error = ""
        """Message of the error that prevented loading; it is shown once."""
        self._shown_problems: set[str] = set()
        """The messages about projects that can't be read, which are shown once."""
        self.failure: Exception | None = None
        """The exception that stopped the application."""
        self._board_screen = BoardScreen(board, everything=everything)

    def on_mount(self) -> None:
        """Show the board, and follow signals and files."""
        loop = asyncio.get_running_loop()
        for number, status in ((signal.SIGINT, INTERRUPTED), (signal.SIGTERM, TERMINATED)):
            try:
                loop.add_signal_handler(number, self.exit, status)
            except (RuntimeError, ValueError):
                pass  # only the main thread handles signals
        self.push_screen(self._board_screen)
        self._show_problems(self._source.selected.problems if self._source.selected is not None else ())
        self.set_interval(_POLL_SECONDS, self.check_files)

    def plan_path(self, card: Card) -> str:
        """Return the absolute path of the file of a card's plan, in the worktree that has the newest version."""
        return self._source.plan_path(card)

    def other_project(self, card: Card) -> ProjectOrigin | None:
        """Return the project of a card's plan if it is another one, which is only read."""
        return self._source.other_project(card)

    def check_files(self) -> None:
        """Load the board again if files have changed."""
        self._start_loading(only_changes=True)

    def reload(self, *, everything: bool) -> None:
        """Load the board again, with or without archived plans."""
        self._everything = everything
        self._start_loading(only_changes=False)

    def _start_loading(self, *, only_changes: bool) -> None:
        if self._is_loading and only_changes:
            return
        self._is_loading = True
        everything = self._everything
        self.run_worker(lambda: self._load(everything=everything, only_changes=only_changes), thread=True, group="load")

    def _load(self, *, everything: bool, only_changes: bool) -> None:
        """Load the board in a thread, and show it."""
        snapshot, board, error = self._snapshot, None, None
        problems: tuple[str, ...] = ()
        try:
            snapshot = self._source.take_snapshot()
            if snapshot != self._snapshot or not only_changes:
                board, problems = self._source.load(everything=everything)
        except ExecplanError as caught:
            error = caught
        if everything == self._everything:  # else a later request is loading what the user wants to see now
            self.call_from_thread(self._finish_loading, snapshot, board, error, problems)

    def _finish_loading(
        self, snapshot: Snapshot, board: Board | None, error: ExecplanError | None, problems: tuple[str, ...]
    ) -> None:
        self._is_loading = False
        has_changed, self._snapshot = snapshot != self._snapshot, snapshot
        if error is not None and error.message != self._last_error:
            self.show_error(error)
        if error is not None or has_changed:
            self._last_error = error.message if error is not None else ""
        self._show_problems(problems)
        if board is not None:
            self._board_screen.show_board(board)
        if has_changed:
            for screen in self.screen_stack:
                if isinstance(screen, PlanScreen):
                    screen.reload()

    def _show_problems(self, problems: tuple[str, ...]) -> None:
        """Show once why plans of some projects are missing."""
        for problem in problems:
            if problem not in self._shown_problems:
                self._shown_problems.add(problem)
                self.show_warning(problem)

    def _handle_exception(self, error: Exception) -> None:
        """Stop after an exception, which the caller reports; Textual would print it with all variables."""
        self.failure = error
        super()._handle_exception(error)
        self._exit_renderables.clear()

    def action_help(self) -> None:
        """Show the list of keys."""
        self.push_screen(HelpDialog())

    def action_close(self) -> None:
        """Quit at the user's request."""
        self.exit(OK)

    def action_interrupt(self) -> None:
        """Quit as an interrupted command."""
        self.exit(INTERRUPTED)
