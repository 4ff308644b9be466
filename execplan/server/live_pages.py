"""The pages of the site as they are now, rendered from the current files."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, NamedTuple

from execplan.board.board_cards import Board, load_board
from execplan.clock import current_minute
from execplan.engine.commands.command_environment import public_variables
from execplan.errors import ExecplanError
from execplan.library.plan_api import Plan
from execplan.plan_store import plan_store
from execplan.project import builtin_templates, project_discovery
from execplan.secrets.redaction import Redactor
from execplan.server.approval_preview import render_approval_preview
from execplan.server.file_watch import Snapshot, take_snapshot
from execplan.server.page_edits import DIGEST_FIELD
from execplan.site import page_rendering
from execplan.site.artifact_copies import list_artifacts, read_copy
from execplan.site.page_context import (
    ARCHIVE_PAGE,
    ASSETS_DIRECTORY,
    BOARD_PAGE,
    DECISIONS_PAGE,
    FILES_DIRECTORY,
    PLANS_DIRECTORY,
    PageContext,
)
from execplan.site.page_names import PageNames
from execplan.site.page_rendering import PlanDecisions
from execplan.site.plan_view import PlanFacts, load_decisions, load_plan_view, read_published_plan
from execplan.site.redacted_records import redact_board
from execplan.text.text_lines import digest

if TYPE_CHECKING:
    from execplan.board.board_cards import Card
    from execplan.history.history_event import HistoryEvent
    from execplan.linter.rule import Finding
    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project
    from execplan.server.page_edits import PageEdit
    from execplan.site.plan_sections import DecisionItem

EVENTS_URL = "/events"
LIVE_SCRIPT = f"{ASSETS_DIRECTORY}/live.js"


class LivePlan(NamedTuple):
    """A plan that has a page."""

    project: Project
    ref: PlanRef


class PageVersion(NamedTuple):
    """What a page is rendered from; equal versions are equal pages."""

    snapshot: Snapshot
    minute: int
    """Minutes since 1970: claims expire, and plans stall."""
    digest: str
    """SHA-256 of the plan's file: two edits can be too close for the time of a file to tell them apart."""


class ProjectState(NamedTuple):
    """The plans of a project at one time."""

    board: Board
    """The board with the archived plans; its texts are redacted."""
    pages: PageNames
    plans: dict[str, LivePlan]
    """Plans by their path from the repository root."""

    def find_plan(self, page: str) -> LivePlan | None:
        """Return the plan of a page such as `plans/parser.html`; None if there is none."""
        return self.plans.get(self.pages.path(page))


class LivePages:
    """The pages of the project that contains a directory. Two threads must not render the same page."""

    def __init__(self, directory: str, token: str) -> None:
        """Render the pages of a project; `token` is what their forms send."""
        self._directory = directory
        self._token = token
        self._redact_text = Redactor(os.environ, public_variables(os.environ)).redact_text
        self._state: tuple[Snapshot, int, ProjectState] | None = None
        self._state_lock = threading.Lock()
        self._decisions: dict[str, tuple[str, tuple[DecisionItem, ...]]] = {}

    def context(self, notices: tuple[str, ...] = ()) -> PageContext:
        """Return the context of live pages."""
        return PageContext(
            os.path.basename(self._directory) or "Plans",
            root="/",
            policy="",
            csrf_token=self._token,
            events=EVENTS_URL,
            scripts=(f"/{LIVE_SCRIPT}",),
            notices=notices,
        )

    def version(self, page: str) -> PageVersion:
        """Return the current version of a page. Raises ExecplanError if the project can't be read."""
        snapshot, minute = take_snapshot(self._directory), current_minute()
        plan = self._current_state(snapshot, minute).find_plan(page)
        return PageVersion(snapshot, minute, digest(plan_store.load(*plan).data) if plan is not None else "")

    def find_plan(self, page: str) -> LivePlan | None:
        """Return the plan of a page; None if there is none. Raises ExecplanError if the project can't be read.

        A page that was rendered before is not looked for again: an edit compares the digest of the plan anyway.
        """
        known_plan = self._state[2].find_plan(page) if self._state is not None else None
        if known_plan is not None and os.path.exists(known_plan.ref.path):
            return known_plan
        return self._current_state(take_snapshot(self._directory), current_minute()).find_plan(page)

    def changed_pages(self, earlier: Snapshot, later: Snapshot) -> frozenset[str]:
        """Return the pages of the plans whose files differ; with an empty string, any page may differ."""
        root = project_discovery.require(self._directory)
        names = [root.display_path(path) if path else "" for path in later.changed_plans(earlier)]
        if self._state is None:
            return frozenset(("",) if names else ())
        return frozenset([self._state[2].pages.page(name) for name in names])

    def render(self, page: str, notices: tuple[str, ...] = ()) -> str | None:
        """Return the HTML of a page; None if there is none. Raises ExecplanError if the project can't be read."""
        state = self._current_state(take_snapshot(self._directory), current_minute())
        context = self.context(tuple(map(self._redact_text, notices)))
        if page == BOARD_PAGE:
            return page_rendering.render_board(state.board, context, state.pages)
        if page == ARCHIVE_PAGE:
            return page_rendering.render_archive(state.board, context, state.pages)
        if page == DECISIONS_PAGE:
            return page_rendering.render_decisions(self._all_decisions(state), context, state.pages)
        plan = state.find_plan(page)
        return self._render_plan(plan, state, context) if plan is not None else None

    def render_error(self, title: str, paragraphs: list[str]) -> str:
        """Return a page about an error, whose texts may quote a plan."""
        return page_rendering.render_message(title, list(map(self._redact_text, paragraphs)), self.context())

    def render_conflict(self, plan: LivePlan, edit: PageEdit, page: str, error: ExecplanError) -> str:
        """Return the page about an edit of a plan that has changed since the page was loaded."""
        stored_plan = plan_store.load(*plan)
        return page_rendering.render_edit_conflict(
            list(map(self._redact_text, error.candidates)),
            edit.entered_texts,
            {**edit.fields, DIGEST_FIELD: digest(stored_plan.data)} if stored_plan.plan is not None else {},
            page,
            self.context(),
        )

    def read_asset(self, path: str) -> bytes | None:
        """Return a style sheet, script or icon; None if there is none at this path."""
        if path == LIVE_SCRIPT:
            return builtin_templates.read_text(os.path.join("server", "live.js")).encode()
        return page_rendering.read_assets().get(path)

    def read_artifact(self, path: str) -> bytes | None:
        """Return an artifact to which a plan's page links, without secrets; None if no page links to this path."""
        directory, _, rest = path.removeprefix(f"{FILES_DIRECTORY}/").partition("/")
        page = f"{PLANS_DIRECTORY}/{directory}.html"
        plan = self.find_plan(page) if rest and path.startswith(f"{FILES_DIRECTORY}/") else None
        for artifact in list_artifacts(plan.project, plan.ref, page) if plan is not None else ():
            if artifact.target == path:
                return read_copy(artifact, self._redact_text)
        return None

    def _render_plan(self, plan: LivePlan, state: ProjectState, context: PageContext) -> str | None:
        path = plan.project.display_path(plan.ref.path)
        card = next((card for card in state.board.cards if card.path == path), None)
        if card is None:  # moved while the board was loaded
            return None
        published = read_published_plan(plan.project, plan.ref, self._redact_text)
        facts = PlanFacts(_findings(plan), _history(plan))
        view = load_plan_view(published, card, context, state.pages, self._redact_text, facts)
        preview = render_approval_preview(Plan(*plan), card, self._redact_text)
        return page_rendering.render_plan(view, context, state.pages, approval_preview=preview)

    def _current_state(self, snapshot: Snapshot, minute: int) -> ProjectState:
        """Return the plans as they are now; loaded again only if a file has changed or a minute has passed."""
        with self._state_lock:
            if self._state is None or self._state[:2] != (snapshot, minute):
                self._state = snapshot, minute, self._load_state()
            return self._state[2]

    def _load_state(self) -> ProjectState:
        project = project_discovery.require(self._directory)
        board = redact_board(load_board(project, archived=True), self._redact_text)
        plans = {
            member.display_path(ref.path): LivePlan(member, ref)
            for member in project_discovery.with_nested_projects(project)
            for ref in plan_store.all_refs(member)
        }
        return ProjectState(board, PageNames(board.cards), plans)

    def _all_decisions(self, state: ProjectState) -> list[PlanDecisions]:
        """Return the decisions of all plans; only plans that have changed are read again."""
        decisions = {
            card.path: self._plan_decisions(card, state.plans[card.path], state)
            for card in state.board.cards
            if card.path in state.plans
        }
        self._decisions = {path: self._decisions[path] for path in decisions if path in self._decisions}
        return [PlanDecisions(card, decisions[card.path]) for card in state.board.cards if card.path in decisions]

    def _plan_decisions(self, card: Card, plan: LivePlan, state: ProjectState) -> tuple[DecisionItem, ...]:
        cached = self._decisions.get(card.path)
        if cached is not None and cached[0] == card.digest:
            return cached[1]
        published = read_published_plan(plan.project, plan.ref, self._redact_text)
        decisions = load_decisions(published, card, self.context(), state.pages)
        self._decisions[card.path] = published.digest, decisions
        return decisions


def _findings(plan: LivePlan) -> tuple[Finding, ...]:
    """Return the findings of a plan; none if it can't be checked."""
    from execplan.linter.checking.plan_check import CheckOptions, CheckTarget, check_plan

    return tuple(check_plan(CheckTarget(plan.project, plan.ref, plan.ref.path), CheckOptions()).findings)


def _history(plan: LivePlan) -> list[HistoryEvent]:
    """Return the events in a plan's life, latest first; none without Git, or if Git fails."""
    if plan.project.git is None:
        return []
    from execplan.history.plan_history import load_history

    try:
        return load_history(plan.project, plan.ref)
    except ExecplanError:
        return []
