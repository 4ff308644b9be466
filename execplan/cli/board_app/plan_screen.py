"""An opened plan: its tasks, which can be checked off, and its text."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.markdown import Markdown
from rich.text import Text
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from execplan.cli.board_app.board_edits import SeenPlan
from execplan.cli.board_app.card_list import plain_text, task_text
from execplan.cli.board_app.dialogs import KeyFooter
from execplan.cli.board_app.opened_plan import OpenedPlan, ViewedTask, load_opened_plan
from execplan.core.errors import ExecplanError
from execplan.core.plan.model import is_unfinished

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult

    from execplan.cli.board_app.board_edits import EditApp
    from execplan.core.project.project_list import ProjectOrigin


_LOW_HEIGHT = 16
"""Minimum height of a terminal for a title of several lines, and the path."""


class PlanScreen(Screen[None]):
    """Shows one plan, and follows changes of its file."""

    app: EditApp
    BINDINGS = [  # noqa: RUF012 (Textual's own declaration)
        Binding("d", "complete", "Check off"),
        Binding("o", "reopen", "Reopen"),
        Binding("a", "add", "Add task"),
        Binding("c", "claim", "Claim"),
        Binding("tab", "switch", "Tasks/text"),
        Binding("escape", "back", "Back"),
    ]
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012 (Textual's own declaration)
        (0, "-low"),
        (_LOW_HEIGHT, "-high"),
    ]
    DEFAULT_CSS: ClassVar[str] = """
    PlanScreen {
        #plan-title { padding: 0 1; text-style: bold; }
        #plan-path { padding: 0 1; color: $text-muted; }
        #tasks { height: auto; max-height: 40%; border: round $surface-lighten-2; background: $background; }
        #tasks:focus { border: round $accent; }
        #text { height: 1fr; border: round $surface-lighten-2; padding: 0 1; }
        #text:focus { border: round $accent; }
        &.-low #plan-title { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        &.-low #plan-path { display: none; }
    }
    """

    def __init__(self, path: str, other_project: ProjectOrigin | None = None) -> None:
        super().__init__()
        self._path = path
        self._other_project = other_project
        """The project of the plan if it is another one, which is only read."""
        self._view: OpenedPlan | None = None

    def compose(self) -> ComposeResult:
        """Build the screen: title, tasks and text."""
        yield Static(id="plan-title", markup=False)
        yield Static(id="plan-path", markup=False)
        yield OptionList(id="tasks", markup=False)
        with VerticalScroll(id="text", can_focus=True):
            yield Static(id="markdown")
        yield KeyFooter(show_command_palette=False)

    def on_mount(self) -> None:
        """Show the plan when the screen opens."""
        tasks = self.query_one("#tasks", OptionList)
        tasks.border_title = "tasks"
        self.reload()
        (tasks if self._view is not None and self._view.tasks else self.query_one("#text")).focus()

    def on_screen_resume(self) -> None:
        """Follow what happened to the plan while a dialog was over it."""
        if self._view is not None:
            self.reload()

    def reload(self) -> None:
        """Load the plan again and show it if it has changed; if it is gone, go back to the board."""
        try:
            view = load_opened_plan(self._path, is_read_only=self._other_project is not None)
        except ExecplanError as error:
            if self.app.screen is self:  # `dismiss` would close a dialog over it
                self.app.show_error(error)
                self.dismiss()
            return
        if view == self._view:
            return
        self._view, old_view = view, self._view
        self.query_one("#plan-title", Static).update(plain_text(view.title))
        self.query_one("#plan-path", Static).update(plain_text(view.path))
        self._show_tasks(view, old_view)
        text = self.query_one("#markdown", Static)
        if view.error:
            text.update(Text(plain_text(view.error), style="red"))
        elif old_view is None or view.markdown != old_view.markdown:
            text.update(Markdown(view.markdown, hyperlinks=False))

    def _show_tasks(self, view: OpenedPlan, old_view: OpenedPlan | None) -> None:
        tasks = self.query_one("#tasks", OptionList)
        tasks.display = bool(view.tasks)
        if old_view is not None and view.tasks == old_view.tasks:
            return
        old_highlighted, scroll_y = tasks.highlighted, tasks.scroll_y
        highlighted = _find_highlighted(view, old_view, old_highlighted)
        tasks.clear_options()
        tasks.add_options([Option(task_text(task)) for task in view.tasks])
        if view.tasks:
            tasks.highlighted = highlighted
            if highlighted == old_highlighted:
                tasks.scroll_to(y=scroll_y, animate=False)

    def _selected_task(self) -> ViewedTask | None:
        """Return the highlighted task, or None after a message why there is none."""
        at = self.query_one("#tasks", OptionList).highlighted
        if self._view is None or at is None or at >= len(self._view.tasks):
            error = self._view.error if self._view is not None else ""
            self.app.show_message(f"The plan can't be read: {error}." if error else "This plan has no tasks.")
            return None
        return self._view.tasks[at]

    def action_complete(self) -> None:
        """Check off the highlighted task."""
        self._edit_task(SeenPlan.complete_task, "done {} -p")

    def action_reopen(self) -> None:
        """Uncheck the highlighted task."""
        self._edit_task(SeenPlan.reopen_task, "reopen {} -p")

    def action_claim(self) -> None:
        """Claim the highlighted task."""
        self._edit_task(SeenPlan.claim_task, "next --claim --task {} -p")

    def _edit_task(self, edit: Callable[[SeenPlan, str], str], arguments: str) -> None:
        """Edit the highlighted task in the plan as it is shown now; what is loaded meanwhile doesn't count.

        `arguments` are those of the command that does the same, with a field for the task.
        """
        task = self._selected_task()
        if task and self._view is not None and not self._is_read_only(arguments.format(task.id)):
            seen_plan = SeenPlan(self._path, self._view.digest)
            self.app.start_edit(lambda: edit(seen_plan, task.id))

    def _is_read_only(self, arguments: str) -> bool:
        return self.app.is_read_only(self._other_project, arguments, self._path)

    def action_add(self) -> None:
        """Ask for the text of a task and add it."""
        if self._view is None or self._is_read_only("add 'New task' -p"):
            return
        self.app.ask_for_task(self._view.title, SeenPlan(self._path, self._view.digest))

    def action_switch(self) -> None:
        """Move the focus between tasks and text."""
        tasks, text = self.query_one("#tasks", OptionList), self.query_one("#text")
        (text if tasks.has_focus or not tasks.display else tasks).focus()

    def action_back(self) -> None:
        """Go back to the board."""
        self.dismiss()


def _find_highlighted(view: OpenedPlan, old_view: OpenedPlan | None, highlighted: int | None) -> int:
    """Return the position of the task that was highlighted, or of the one in its place; at first, of the first open one."""
    if highlighted is None or old_view is None:
        return next((at for at, task in enumerate(view.tasks) if is_unfinished(task.mark, task.text)), 0)
    task_id = old_view.tasks[highlighted].id
    return next(
        (at for at, task in enumerate(view.tasks) if task.id == task_id), max(0, min(highlighted, len(view.tasks) - 1))
    )
