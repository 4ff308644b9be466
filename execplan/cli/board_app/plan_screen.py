"""An opened plan: its tasks, which can be checked off, and its text."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import ClassVar, NamedTuple

from rich.markdown import Markdown
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from execplan.cli.board_app.board_edits import EditApp, SeenPlan
from execplan.cli.board_app.card_list import CLAIM_STYLE, plain_text
from execplan.cli.board_app.dialogs import KeyFooter
from execplan.core.errors import ExecplanError
from execplan.core.files.file_access import read_failure
from execplan.core.plan.model import DONE, OPEN, ParsedPlan, is_unfinished
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.plan_store import claims, plan_store
from execplan.core.plan_store.comment_location import has_comments
from execplan.core.project import project_discovery
from execplan.core.project.project_list import ProjectOrigin
from execplan.core.text.invisible_characters import escape_unprintable, escape_unprintable_lines
from execplan.core.text.message_parts import format_count
from execplan.core.text.text_lines import digest
from execplan.library.plan_api import Plan
from execplan.team.review.plan_comments import load_comments

_MAX_CHARS = 200_000
"""Maximum number of characters that are laid out; more take seconds."""


class ViewedTask(NamedTuple):
    """A task of an opened plan."""

    number: int
    id: str
    state: str
    mark: str
    """Character in the checkbox."""
    text: str
    depth: int
    by: str
    """Name of the author who has claimed it; empty if nobody has."""


class OpenedPlan(NamedTuple):
    """A plan that the user has opened."""

    title: str
    path: str
    """Path from the repository root."""
    digest: str
    tasks: tuple[ViewedTask, ...]
    markdown: str
    """The text of the plan, with control characters and invisible characters escaped."""
    error: str
    """Why the plan can't be read; then there are no tasks."""


def load_opened_plan(path: str, *, is_read_only: bool = False) -> OpenedPlan:
    """Load the plan in a file. Raises ExecplanError if there is no such plan; a damaged plan has an error instead.

    With `is_read_only`, nothing is written in its project, where an interrupted move is not finished either.
    """
    plan = _find_in_other_project(path) if is_read_only else Plan.find(path, ".")
    display_path = plan.project.display_path(plan.path)
    stored_plan = plan_store.load(plan.project, plan.ref)
    parsed_plan = stored_plan.plan
    if parsed_plan is None:
        error = read_failure(stored_plan.error, plan.path) if stored_plan.error is not None else ""
        return OpenedPlan(plan.id, display_path, digest(stored_plan.data), (), "", error)
    claims_by_task = claims.task_claims(plan.project, plan.ref, parsed_plan)
    tasks = [
        ViewedTask(
            task.number,
            task_id,
            task.state,
            task.mark,
            task.text,
            task.depth,
            claims_by_task[task_id].name if task_id in claims_by_task else "",
        )
        for task, task_id in zip(parsed_plan.tasks, task_ids(parsed_plan.tasks), strict=True)
    ]
    text = "\n".join(parsed_plan.text.lines)
    markdown = escape_unprintable_lines(text[:_MAX_CHARS])
    if len(text) > _MAX_CHARS:
        markdown += f"\n\n---\n\nThe rest is left out: the plan has {len(text):,} characters."
    markdown += _format_comments(plan, parsed_plan)
    return OpenedPlan(parsed_plan.title or plan.id, display_path, digest(stored_plan.data), tuple(tasks), markdown, "")


def _find_in_other_project(path: str) -> Plan:
    project = project_discovery.find_read_only(os.path.dirname(path))
    return Plan(project, plan_store.ref_for_path(project, path))


def _format_comments(plan: Plan, parsed_plan: ParsedPlan) -> str:
    """Return the open review comments as markdown: an indented block, from which no comment can break out."""
    if not has_comments(plan.project, plan.ref):
        return ""
    try:
        threads = load_comments(plan.project, plan.ref, parsed_plan).open_threads
    except ExecplanError as error:
        return f"\n\n---\n\nThe comments can't be read: {escape_unprintable(error.message)}"
    lines: list[str] = []
    for placed in threads:
        lines.append(f"{placed.thread.short_id}  on {placed.label}")
        for record in (placed.thread.comment, *placed.thread.replies):
            first, *rest = record.text.splitlines() or [""]
            lines += [f"  {record.author}, {record.time[:10]}: {first}", *[f"    {line}" for line in rest]]
    block = "\n".join([f"    {escape_unprintable(line)}" for line in lines])
    return f"\n\n---\n\n{format_count(len(threads), 'open comment')}:\n\n{block}" if threads else ""


_LOW_HEIGHT = 16
"""Minimum height of a terminal for a title of several lines, and the path."""


_TASK_STYLES = {DONE: "green", OPEN: ""}
_OTHER_TASK_STYLE = "yellow"


def _task_text(task: ViewedTask) -> Text:
    """Return the line of a task."""
    box = f"{task.number:>3}. {'  ' * task.depth}[{plain_text(task.mark)}] "
    holder = f"  claimed by {plain_text(task.by)}" if task.by else ""
    style = _TASK_STYLES.get(task.state, _OTHER_TASK_STYLE)
    return Text.assemble((box, style), plain_text(task.text), (holder, CLAIM_STYLE))


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
        tasks.add_options([Option(_task_text(task)) for task in view.tasks])
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
