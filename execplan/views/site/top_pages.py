"""The pages about all plans: the board, the archive, the decisions and the charts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from execplan.views.site import page_rendering
from execplan.views.site.decision_items import DecisionItem
from execplan.views.site.page_charts import draw_project_charts
from execplan.views.site.page_context import ARCHIVE_PAGE, BOARD_PAGE, CHARTS_PAGE, DECISIONS_PAGE
from execplan.views.site.page_rendering import PlanDecisions
from execplan.views.site.redacted_records import redact_board, redact_cards

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.views.board.board_cards import Board
    from execplan.views.charts.chart_sources import PlanSources
    from execplan.views.site.page_context import PageContext, PageNames
    from execplan.views.site.page_plans import PagePlan
    from execplan.views.site.redacted_records import RedactText

TEXT_PAGES = (BOARD_PAGE, ARCHIVE_PAGE, DECISIONS_PAGE)


def render_text_pages(
    board: Board,
    page_plans: Sequence[PagePlan],
    decisions: Sequence[Sequence[Sequence[str]]],
    context: PageContext,
    names: PageNames,
    redact_text: RedactText,
) -> dict[str, str]:
    """Render the pages without charts; `decisions` are those of each plan, with their fields as texts."""
    redacted_board = redact_board(board, redact_text)
    cards = redact_cards([page_plan.card for page_plan in page_plans], redact_text)
    plan_decisions = [
        PlanDecisions(card, tuple(map(_restore_decision, entries)))
        for card, entries in zip(cards, decisions, strict=True)
    ]
    return {
        BOARD_PAGE: page_rendering.render_board(redacted_board, context, names),
        ARCHIVE_PAGE: page_rendering.render_archive(redacted_board, context, names),
        DECISIONS_PAGE: page_rendering.render_decisions(plan_decisions, context, names),
    }


def render_chart_files(
    page_plans: Sequence[PagePlan], sources: Sequence[PlanSources], context: PageContext, *, has_history: bool
) -> dict[str, str]:
    """Render the page with charts and draw the charts; `sources` are the data of each plan."""
    events = [event for page_plan in page_plans for event in page_plan.facts.history]
    events.sort(key=lambda event: event.time, reverse=True)
    charts = draw_project_charts(sources, events if has_history else None)
    return {CHARTS_PAGE: page_rendering.render_charts(charts, context), **{chart.target: chart.svg for chart in charts}}


def _restore_decision(fields: Sequence[str]) -> DecisionItem:
    """Return a decision whose fields were cached as plain texts; its text and rationale are HTML."""
    decision = DecisionItem._make(fields)
    return decision._replace(text=Markup(decision.text), rationale=Markup(decision.rationale))  # noqa: S704 (escaped)
