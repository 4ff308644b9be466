"""Edits from the board: in threads, through the library, with the digest of the plan that the user sees."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import NamedTuple

from textual.app import App

from execplan.cli.board_app.board_source import read_only_message
from execplan.cli.board_app.card_list import plain_text
from execplan.cli.board_app.dialogs import TaskDialog
from execplan.core.edits.digest_check import ensure_digest_matches
from execplan.core.edits.plan_writer import EditResult, WriteOptions
from execplan.core.errors import CONFLICT, ExecplanError
from execplan.core.plan_store import claims
from execplan.core.plan_store.author import actor
from execplan.core.project.project_discovery import require_existing
from execplan.core.project.project_list import ProjectOrigin
from execplan.library.plan_api import Plan
from execplan.views.board.board_cards import Card

_ERROR_SECONDS = 12.0
"""Seconds for which an error is shown."""
_MAX_CHANGES = 3
"""Maximum number of changes that a message about a conflict lists."""


class SeenPlan(NamedTuple):
    """A plan as the user saw it when they decided to edit it."""

    path: str
    """Absolute path of the file."""
    digest: str

    def reload(self) -> SeenPlan:
        """Return the plan as it is now, or this one if it can't be read."""
        try:
            return self._replace(digest=self._find().digest)
        except ExecplanError:
            return self

    @property
    def _options(self) -> WriteOptions:
        return WriteOptions(if_match=self.digest)

    def complete_task(self, task_id: str) -> str:
        """Check off a task and return a message. Raises ExecplanError, also if the plan has changed."""
        return _message(self._find().done(task_id, options=self._options))

    def reopen_task(self, task_id: str) -> str:
        """Uncheck a task and return a message. Raises ExecplanError, also if the plan has changed."""
        return _message(self._find().reopen(task_id, options=self._options))

    def add_task(self, text: str) -> str:
        """Add a task at the end and return a message. Raises ExecplanError, also if the plan has changed."""
        return _message(self._find().add(text, options=self._options))

    def claim_task(self, task_id: str) -> str:
        """Claim a task for the current author and return a message. Raises ExecplanError, also if the plan has changed."""
        plan = self._find()
        require_existing(plan.project)
        ensure_digest_matches(plan.project, plan.ref, self.digest)
        name = actor(plan.project)
        claims.claim_task(plan.project, plan.ref, name, claims.DEFAULT_HOURS, task_id)
        claim = claims.task_claims(plan.project, plan.ref, plan.read())[task_id]
        return f"claimed by {name} until {claim.format_end()}"

    def _find(self) -> Plan:
        return Plan.find(self.path, ".")


def _message(result: EditResult) -> str:
    """Return what an edit did, and its warnings, one per line."""
    committed = [f"committed {result.commit[:12]}"] if result.commit else []
    return "\n".join([*result.messages, *committed, *[f"warning: {warning}" for warning in result.warnings]])


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

    def is_read_only(self, origin: ProjectOrigin | None, arguments: str, plan: str) -> bool:
        """Return whether a plan is in another project, after a message with the command that edits it there."""
        if origin is not None:
            self.show_warning(read_only_message(origin, arguments, plan))
        return origin is not None

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
