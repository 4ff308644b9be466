"""Names of pages: unique, stable, and possible on every file system."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from execplan.core.plan.model import ACTIVE, ARCHIVED
from execplan.views.board.board_cards import Card, FindingCounts
from execplan.views.site.page_context import PageNames


def card(plan_id: str, path: str = "", project: str = "", state: str = ACTIVE) -> Card:
    """A card with an ID and a path."""
    return Card(
        id=plan_id,
        path=path or f"plans/{plan_id}.md",
        project=project,
        title="",
        column=state,
        state=state,
        digest="",
        counts=None,
        next_task=None,
        next_text="",
        blocked_by=(),
        claims=(),
        last_date="",
        idle_days=None,
        findings=FindingCounts(),
        approval="none",
        run=None,
        conflict_line=0,
        error="",
    )


def test_a_page_is_named_after_the_plan() -> None:
    pages = PageNames([card("2026-01-01_parser")])
    assert pages.page("plans/2026-01-01_parser.md") == "plans/2026-01-01_parser.html"
    assert pages.path("plans/2026-01-01_parser.html") == "plans/2026-01-01_parser.md"
    assert pages.page("other.md") == pages.path("plans/other.html") == ""


def test_of_plans_with_one_name_the_open_one_outside_nested_projects_keeps_it() -> None:
    cards = [
        card("parser", "tools/plans/parser.md", project="tools"),
        card("Parser", "archive/Parser.md", state=ARCHIVED),
        card("parser", "plans/parser.md"),
    ]
    for order in (cards, cards[::-1]):
        pages = PageNames(order)
        assert pages.page("plans/parser.md") == "plans/parser.html"
        assert pages.page("archive/Parser.md").startswith("plans/Parser-")
        assert len({page.lower() for page in pages.all_pages().values()}) == 3


@given(st.lists(st.text(min_size=1, max_size=300), unique=True, max_size=20))
def test_names_are_unique_and_possible(ids: list[str]) -> None:
    pages = PageNames([card(plan_id, f"p/{at}.md") for at, plan_id in enumerate(ids)]).all_pages()
    names = [page.removeprefix("plans/") for page in pages.values()]
    assert len({name.casefold() for name in names}) == len(ids)
    for name in names:
        assert "/" not in name
        assert not name.startswith(".")
        assert name.isprintable()
        assert len(name.encode()) <= 255
