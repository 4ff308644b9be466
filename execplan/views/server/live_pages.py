"""The pages of the site as they are now, rendered from the current files, with their charts.

Charts are drawn when a page needs them, at addresses that change with their content: a browser shows an image that it
has loaded once again without asking, as long as the address stays the same.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from execplan.core.edits.digest_check import UNKNOWN_VERSION
from execplan.core.errors import ExecplanError
from execplan.core.plan.model import ACTIVE, DRAFT
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.author import actor
from execplan.core.project import builtin_templates
from execplan.core.text.markdown_html import MarkdownHtml, ResolvedLink
from execplan.core.text.text_lines import digest
from execplan.execution.evaluation.evaluation_page import render_page
from execplan.execution.evaluation.evaluation_text import format_verdict
from execplan.library.plan_api import Plan
from execplan.team.advice.overview_builder import make_redactor
from execplan.team.history.plan_history import load_history
from execplan.views.charts.chart_sources import read_plan_sources
from execplan.views.server import page_edits
from execplan.views.server.live_project import LiveProject
from execplan.views.server.page_edits import DIGEST_FIELD
from execplan.views.site import page_rendering
from execplan.views.site.artifact_copies import list_artifacts, read_copy
from execplan.views.site.page_charts import draw_plan_chart, draw_project_charts
from execplan.views.site.page_context import (
    ARCHIVE_PAGE,
    ASSETS_DIRECTORY,
    BOARD_PAGE,
    CHARTS_DIRECTORY,
    CHARTS_PAGE,
    DECISIONS_PAGE,
    FILES_DIRECTORY,
    PLANS_DIRECTORY,
    PageContext,
)
from execplan.views.site.page_rendering import PlanDecisions
from execplan.views.site.plan_view import PageFacts, load_decisions, load_plan_view, publish_plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan_store.plan_store import PlanRef, StoredPlan
    from execplan.core.project.project import Project
    from execplan.team.history.history_event import HistoryEvent
    from execplan.views.board.board_cards import Card
    from execplan.views.server.live_project import LivePlan, ProjectState
    from execplan.views.server.page_edits import PageEdit
    from execplan.views.site.decision_items import DecisionItem
    from execplan.views.site.page_charts import ChartImage
    from execplan.views.site.redacted_records import RedactText

_MAX_IMAGES = 500
"""Number of images to keep for the pages that show them, 20 KB each."""
_DIGEST_DIGITS = 16
"""Number of digits of a digest in the command; `approve` accepts eight or more."""
_NO_LINK = ResolvedLink("", "link removed")
_PREVIEW = Markup("<p>{}</p>{}<details><summary>Evaluation of each step</summary>{}</details>")
_COMMAND = Markup(
    "<p>After you have read the evaluation, approve exactly this in the terminal:</p><pre><code>{}</code></pre>"
)


class LiveCharts:
    """The charts that pages show now."""

    def __init__(self) -> None:
        self._images: dict[str, str] = {}
        self._lock = threading.Lock()  # several pages may be rendered at once

    def draw_plan(
        self, stored_plan: StoredPlan, events: Sequence[HistoryEvent] | None, page: str
    ) -> tuple[ChartImage, ...]:
        """Draw the progress of the plan of a page; nothing if there is nothing to draw."""
        if stored_plan.plan is None:
            return ()
        with self._lock:
            image = draw_plan_chart(read_plan_sources(stored_plan), events, page)
            return (self._keep(image),) if image is not None else ()

    def draw_project(self, projects: Sequence[Project], plans: Sequence[tuple[Project, PlanRef]]) -> list[ChartImage]:
        """Draw the charts of all plans of projects; without Git, or if it fails, those that need no history."""
        try:
            events = [event for project in projects if project.git for event in load_history(project)]
        except ExecplanError:
            events = []
        events.sort(key=lambda event: event.time, reverse=True)
        sources = [read_plan_sources(plan_store.load(project, ref)) for project, ref in plans]
        with self._lock:
            images = draw_project_charts(sources, events if any([project.git for project in projects]) else None)
            return [self._keep(image) for image in images]

    def read(self, path: str) -> bytes | None:
        """Return the image at a path of the site; None if no page has shown it lately."""
        image = self._images.get(path)
        return image.encode() if image is not None else None

    def _keep(self, image: ChartImage) -> ChartImage:
        """Keep an image and return it with its address."""
        name = image.target.removeprefix(f"{CHARTS_DIRECTORY}/")
        target = f"{CHARTS_DIRECTORY}/{digest(image.svg.encode())[:16]}/{name}"
        self._images.pop(target, None)
        self._images[target] = image.svg
        while len(self._images) > _MAX_IMAGES:
            del self._images[next(iter(self._images))]
        return image._replace(target=target)


def render_approval_preview(plan: Plan, card: Card, redact_text: RedactText) -> Markup:
    """Return the evaluation of a plan, with the command that approves it if it may run; empty for a plan without steps.

    If the plan can't be evaluated, return the reason.
    """
    if card.state not in (DRAFT, ACTIVE):
        return Markup()
    from execplan.execution.approvals.plan_evaluation import evaluate_plan
    from execplan.execution.engine.run_records.run_summary import find_active_run

    try:
        evaluated = evaluate_plan(plan.project, plan.ref, find_active_run(plan.project, plan.ref))
    except ExecplanError as error:
        if error.code == "no-steps":
            return Markup()
        return Markup("<p>{}</p>").format(escape(redact_text(f"Can't be evaluated: {error.message}")))
    if not evaluated.evaluation.steps:
        return Markup()
    evaluation, digest = evaluated.evaluation, evaluated.binding.digest
    page = render_page(
        evaluated.current_plan.document, evaluation, evaluated.path, digest, is_in_text=evaluated.is_in_text
    )
    html = MarkdownHtml(lambda url: _NO_LINK, lambda text: "").block(redact_text(page))
    verdict = format_verdict(evaluation)
    command = (
        _COMMAND.format(f"execplan approve {plan.ref.shell_name} --digest {digest[:_DIGEST_DIGITS]}")
        if evaluation.ok
        else ""
    )
    return _PREVIEW.format(f"{verdict[0].upper()}{verdict[1:]}.", command, Markup(html))  # noqa: S704 (escaped by the conversion)


EVENTS_URL = "/events"
LIVE_SCRIPT = f"{ASSETS_DIRECTORY}/live.js"


class LivePages:
    """The pages of a project. Two threads must not render the same page."""

    def __init__(self, directory: str, token: str) -> None:
        """Render the pages of a project; `token` is what their forms send."""
        self._site_name = os.path.basename(directory) or "Plans"
        self._token = token
        self._redact_text = make_redactor()
        self.project = LiveProject(directory, self._redact_text)
        """The plans that have pages."""
        self._charts = LiveCharts()
        self._decisions: dict[str, tuple[str, tuple[DecisionItem, ...]]] = {}

    def _context(self, notices: tuple[str, ...] = ()) -> PageContext:
        """Return the context of live pages."""
        return PageContext(
            self._site_name,
            root="/",
            policy="",
            csrf_token=self._token,
            events=EVENTS_URL,
            scripts=(f"/{LIVE_SCRIPT}",),
            notices=notices,
        )

    def render(self, page: str, notices: tuple[str, ...] = ()) -> str | None:
        """Return the HTML of a page; None if there is none. Raises ExecplanError if the project can't be read."""
        state = self.project.load()
        context = self._context(tuple(map(self._redact_text, notices)))
        if page == BOARD_PAGE:
            return page_rendering.render_board(state.board, context, state.pages)
        if page == ARCHIVE_PAGE:
            return page_rendering.render_archive(state.board, context, state.pages)
        if page == DECISIONS_PAGE:
            return page_rendering.render_decisions(self._all_decisions(state), context, state.pages)
        if page == CHARTS_PAGE:
            charts = self._charts.draw_project(state.members, list(state.plans.values()))
            return page_rendering.render_charts(charts, context)
        plan = state.find_plan(page)
        return self._render_plan(plan, state, context._replace(actor=actor(plan.project))) if plan is not None else None

    def render_error(
        self, title: str, paragraphs: list[str], entered_texts: Sequence[tuple[str, str]] = (), plan_page: str = ""
    ) -> str:
        """Return a page about an error, whose texts may quote a plan, with what a person entered."""
        redacted = list(map(self._redact_text, paragraphs))
        return page_rendering.render_message(title, redacted, self._context(), entered_texts, plan_page)

    def render_conflict(self, plan: LivePlan, edit: PageEdit, page: str, error: ExecplanError) -> str:
        """Return the page about an edit of a plan that has changed since the page was loaded."""
        stored_plan = plan_store.load(*plan)
        return page_rendering.render_edit_conflict(
            [self._redact_text(change) for change in error.candidates if change != UNKNOWN_VERSION],
            page_edits.entered_texts(edit.fields),
            {**edit.fields, DIGEST_FIELD: digest(stored_plan.data)} if stored_plan.plan is not None else {},
            page,
            self._context(),
            is_version_unknown=UNKNOWN_VERSION in error.candidates,
        )

    def read_asset(self, path: str) -> bytes | None:
        """Return a style sheet, script or icon; None if there is none at this path."""
        if path == LIVE_SCRIPT:
            return builtin_templates.read_text(os.path.join("server", "live.js")).encode()
        return page_rendering.read_assets().get(path)

    def read_chart(self, path: str) -> bytes | None:
        """Return an image that a page shows; None if none does."""
        return self._charts.read(path)

    def read_artifact(self, path: str) -> bytes | None:
        """Return an artifact to which a plan's page links, without secrets; None if no page links to this path."""
        directory, _, rest = path.removeprefix(f"{FILES_DIRECTORY}/").partition("/")
        page = f"{PLANS_DIRECTORY}/{directory}.html"
        plan = self.project.find_plan(page) if rest and path.startswith(f"{FILES_DIRECTORY}/") else None
        for artifact in list_artifacts(plan.project, plan.ref, page) if plan is not None else ():
            if artifact.target == path:
                return read_copy(artifact, self._redact_text)
        return None

    def _render_plan(self, plan: LivePlan, state: ProjectState, context: PageContext) -> str | None:
        path = plan.project.display_path(plan.ref.path)
        card = next((card for card in state.board.cards if card.path == path), None)
        if card is None:  # moved while the board was loaded
            return None
        stored_plan = plan_store.load(*plan)
        published = publish_plan(stored_plan, self._redact_text)
        history = _history(plan)
        page = state.pages.page(path)
        events = history if plan.project.git is not None else None
        charts = self._charts.draw_plan(stored_plan, events, page) if card.state in (DRAFT, ACTIVE) else ()
        facts = PageFacts(state.board.findings.get(path, ()), history, tuple(list_artifacts(*plan, page)), charts)
        view = load_plan_view(published, card, context, state.pages, self._redact_text, facts)
        preview = render_approval_preview(Plan(*plan), card, self._redact_text)
        return page_rendering.render_plan(view, context, state.pages, approval_preview=preview)

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
        published = publish_plan(plan_store.load(*plan), self._redact_text)
        decisions = load_decisions(published, card, self._context(), state.pages)
        self._decisions[card.path] = published.digest, decisions
        return decisions


def _history(plan: LivePlan) -> list[HistoryEvent]:
    """Return the events in a plan's life, latest first; none without Git, or if Git fails."""
    if plan.project.git is None:
        return []
    from execplan.team.history.plan_history import load_history

    try:
        return load_history(plan.project, plan.ref)
    except ExecplanError:
        return []
