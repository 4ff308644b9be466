"""The pages of the site as HTML: pure functions of their content and context, for files and for the live server."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.filters import do_filesizeformat
from markupsafe import Markup

from execplan.core.plan.model import ARCHIVED
from execplan.core.project import builtin_templates
from execplan.core.text.inline_markdown import plain_text
from execplan.core.text.invisible_characters import escape_unprintable_lines
from execplan.core.text.markdown_html import decode_entities
from execplan.core.text.message_parts import format_count, format_duration
from execplan.core.text.text_lines import digest
from execplan.core.timestamps import format_minute, is_utc_timestamp
from execplan.views.site.page_context import ARCHIVE_PAGE, ASSETS_DIRECTORY, BOARD_PAGE, CHARTS_PAGE, DECISIONS_PAGE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from execplan.views.board.board_cards import Board, Card
    from execplan.views.site.decision_items import DecisionItem
    from execplan.views.site.page_charts import ChartImage
    from execplan.views.site.page_context import PageContext, PageNames
    from execplan.views.site.plan_view import PlanView

_NO_HTML: Final = Markup()
_MARKUP: Final = frozenset("`*_[]<>&\\!~")
"""Characters of markup; most lines have none, and need not be parsed."""
_NAVIGATION: Final = (
    (BOARD_PAGE, "Board"),
    (DECISIONS_PAGE, "Decisions"),
    (ARCHIVE_PAGE, "Archive"),
    (CHARTS_PAGE, "Charts"),
)


class PlanDecisions(NamedTuple):
    """The decisions of a plan, for the page with all decisions."""

    card: Card
    decisions: tuple[DecisionItem, ...]


def render_board(board: Board, context: PageContext, pages: PageNames) -> str:
    """Return the start page: the cards of all plans outside the archive, in columns; archived plans are counted."""
    columns = [column for column in board.columns if column.name != ARCHIVED and column.total]
    archived_count = sum([column.total for column in board.columns if column.name == ARCHIVED])
    return _render("board.html", BOARD_PAGE, context, columns=columns, archived_count=archived_count, pages=pages)


def render_archive(board: Board, context: PageContext, pages: PageNames) -> str:
    """Return the page with the archived plans, which the board must contain."""
    cards = [card for column in board.columns if column.name == ARCHIVED for card in column.cards]
    return _render("archive.html", ARCHIVE_PAGE, context, cards=cards, pages=pages)


def render_decisions(plans: Sequence[PlanDecisions], context: PageContext, pages: PageNames) -> str:
    """Return the page with the decisions of all plans, latest first; those without a date come last."""
    entries = [(plan.card, decision) for plan in plans for decision in plan.decisions]
    entries.sort(key=lambda entry: (entry[1].date[:10], entry[0].last_date), reverse=True)
    return _render("decisions.html", DECISIONS_PAGE, context, entries=entries, pages=pages)


def render_charts(charts: Sequence[ChartImage], context: PageContext) -> str:
    """Return the page with the charts of all plans."""
    return _render("charts.html", CHARTS_PAGE, context, charts=charts)


def render_plan(view: PlanView, context: PageContext, pages: PageNames, *, approval_preview: Markup = _NO_HTML) -> str:
    """Return the page of a plan, also of one that can't be read; a live page can show what would be approved."""
    can_edit = bool(context.csrf_token) and view.content is not None and view.card.state != ARCHIVED
    content = {
        "view": view,
        "card": view.card,
        "can_edit": can_edit,
        "approval_preview": approval_preview,
        "extras": _extra_contents(view, can_edit=can_edit, has_preview=bool(approval_preview)),
    }
    return _render("plan.html", view.page, context, pages=pages, **content)


def _extra_contents(view: PlanView, *, can_edit: bool, has_preview: bool) -> list[tuple[str, str, bool]]:
    """Return the anchors and titles of the parts below the plan's own sections, and whether the page has them."""
    return [
        ("page-comments", "Comments", bool(view.comments.items)),
        ("page-edits", "Edit", can_edit),
        ("page-approval-preview", "What would be approved", has_preview),
        ("page-charts", "Charts", bool(view.charts)),
        ("page-findings", "Findings", bool(view.findings)),
        ("page-runs", "Runs", bool(view.records.runs)),
        ("page-approvals", "Approvals and audit log", bool(view.records.approvals or view.records.audit)),
        ("page-artifacts", "Artifacts", bool(view.artifacts)),
        ("page-history", "History", bool(view.history)),
    ]


def render_message(
    title: str,
    paragraphs: Sequence[str],
    context: PageContext,
    texts: Sequence[tuple[str, str]] = (),
    plan_page: str = "",
) -> str:
    """Return a page that only has a title and some text, such as an error of the server.

    `texts` are what a person entered, by name. With `plan_page`, the page links to that plan's page.
    """
    url = context.url(plan_page) if plan_page else ""
    return _render("message.html", "", context, title=title, paragraphs=paragraphs, texts=texts, page_url=url)


def render_edit_conflict(
    changes: Sequence[str],
    texts: Sequence[tuple[str, str]],
    fields: Mapping[str, str],
    page: str,
    context: PageContext,
    *,
    is_version_unknown: bool = False,
) -> str:
    """Return the page about an edit of a plan that has changed since its page was loaded.

    `changes` describe what has changed, `texts` are what was entered, by name, and `fields` repeat the edit; without them,
    it can't be repeated. `page` is the plan's page.
    """
    content: dict[str, Any] = {"changes": changes, "texts": texts, "fields": fields, "page_url": context.url(page)}
    content["is_version_unknown"] = is_version_unknown
    return _render("edit_conflict.html", "", context, **content)


def read_assets() -> dict[str, bytes]:
    """Return the style sheet, the scripts and the icon by their paths in the site."""
    directory = os.path.join(builtin_templates.directory(), "site", ASSETS_DIRECTORY)
    assets = {}
    for name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, name), "rb") as file:
            assets[f"{ASSETS_DIRECTORY}/{name}"] = file.read()
    return assets


@cache
def templates_digest() -> str:
    """Return a digest of all templates; pages must be rendered again once it differs."""
    directory = os.path.join(builtin_templates.directory(), "site")
    names = sorted([name for name in os.listdir(directory) if name.endswith(".html")])
    return digest("".join([builtin_templates.read_text(os.path.join("site", name)) for name in names]).encode())


def _render(template: str, page: str, context: PageContext, **content: Any) -> str:
    """Render a template; control characters, which HTML does not allow, are shown as escapes."""
    html = _environment().get_template(template).render(page=page, context=context, navigation=_NAVIGATION, **content)
    return escape_unprintable_lines(html)


@cache
def _environment() -> Environment:
    """Return the environment of the templates, which escapes every value that is not HTML already."""
    environment = Environment(
        loader=FileSystemLoader(os.path.join(builtin_templates.directory(), "site")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters["plain"] = _plain
    environment.filters["count"] = format_count
    environment.filters["duration"] = format_duration
    environment.filters["minute"] = format_minute
    environment.filters["timestamp"] = _format_timestamp
    environment.filters["filesize"] = _format_size
    return environment


def _format_timestamp(text: str) -> str:
    """Return a timestamp of a record as the page's other dates, as in `2000-01-01 00:00Z`; other text is unchanged."""
    return f"{text[:10]} {text[11:16]}Z" if is_utc_timestamp(text) else text


def _format_size(size: int) -> str:
    """Return a number of bytes with a unit, such as `519 B` or `1.6 KiB`."""
    if size < 1024:
        return f"{size} B"
    return do_filesizeformat(size, binary=True)


def _plain(source: str) -> str:
    """Return one line of markdown as displayed text."""
    if _MARKUP.isdisjoint(source) and "://" not in source:
        return source
    return decode_entities(plain_text(source))
