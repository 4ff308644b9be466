"""Every page: no errors, readable on a phone, usable with the keyboard alone, accessible in light and dark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.views.server.running_server import PLAN_PAGE

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.watched_pages import WatchedBrowser
    from tests.views.server.running_server import RunningServer

PAGES = {
    "board": "/",
    "decisions": "/decisions.html",
    "archive": "/archive.html",
    "charts": "/charts.html",
    "plan": PLAN_PAGE,
    "plan with steps": "/plans/2026-01-02_measure.html",
    "broken plan": "/plans/2026-01-03_broken.html",
    "archived plan": "/plans/2026-01-04_scanner.html",
    "unknown page": "/plans/none.html",
}


def violations(page: Page) -> list[str]:
    """The serious and critical faults that axe finds, with the elements."""
    from axe_playwright_python.sync_playwright import Axe

    results = Axe().run(page).response
    return [
        f"{fault['id']}: {fault['help']}: {[node['html'][:200] for node in fault['nodes'][:3]]}"
        for fault in results["violations"]
        if fault["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=name, marks=[pytest.mark.exhaustive] * (name not in ("board", "plan")))
        for name, path in PAGES.items()
    ],
)
def test_pages_are_accessible_and_fit_on_a_phone(
    browser: WatchedBrowser, library: RunningServer, path: str, scheme: str
) -> None:
    page = browser.open(library.url.rstrip("/") + path, color_scheme=scheme, viewport={"width": 1280, "height": 900})
    assert page.title()
    assert page.locator("h1").count() == 1
    assert violations(page) == []
    page.set_viewport_size({"width": 360, "height": 640})
    width = page.evaluate("Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)")
    assert width <= 360
    assert violations(page) == []


def test_the_board_is_filtered_with_the_keyboard_alone(browser: WatchedBrowser, library: RunningServer) -> None:
    page = browser.open(library.url)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip-link"
    page.keyboard.press("/")
    page.keyboard.type("measure")
    page.get_by_text("1 of").wait_for()
    page.evaluate("window.setTimeout = () => 0")  # a reader that leaves the field at once
    page.keyboard.type(" the")
    page.keyboard.press("Tab")
    assert page.locator(".card:visible").count() == 1
    while page.evaluate("document.activeElement.textContent") != "Measure the parser":
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement !== document.body"), "the card can't be reached"
    page.keyboard.press("Enter")
    page.wait_for_url("**/2026-01-02_measure.html")
    page.go_back()
    assert page.locator("#page-filter").input_value() == "measure the"


def test_the_theme_is_remembered(browser: WatchedBrowser, library: RunningServer) -> None:
    page = browser.open(library.url, color_scheme="light")
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    switch = page.locator("#page-theme")
    switch.click()
    switch.click()
    assert "dark" in switch.inner_text()
    dark = page.evaluate(background)
    assert dark != light
    page.goto(library.url.rstrip("/") + PLAN_PAGE)
    assert page.evaluate(background) == dark


def test_decisions_of_all_plans_are_searched(browser: WatchedBrowser, library: RunningServer) -> None:
    page = browser.open(f"{library.url}decisions.html")
    total = page.locator("[data-filter-item]").count()
    page.locator("#page-filter").fill("line by line")
    page.get_by_text(f"of {total} decisions").wait_for()
    assert 0 < page.locator("[data-filter-item]:visible").count() < total


def test_dates_of_archived_plans_with_long_names_are_not_broken(
    browser: WatchedBrowser, library: RunningServer
) -> None:
    page = browser.open(f"{library.url}archive.html", viewport={"width": 1280, "height": 900})
    lines = "document.querySelector('td time').getClientRects().length"
    assert page.evaluate(lines) == 1
    page.evaluate("document.querySelector('th .path').textContent = 'archive/' + 'long-name-'.repeat(30)")
    assert page.evaluate(lines) == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_a_plan_with_steps_shows_how_to_approve_it(browser: WatchedBrowser, library: RunningServer) -> None:
    page = browser.open(f"{library.url}plans/2026-01-02_measure.html")
    page.locator("details").evaluate_all("(elements) => elements.forEach((element) => { element.open = true; })")
    text = page.locator("main").inner_text()
    assert text.count("execplan approve ") == 1
    assert "execplan approve 2026-01-02_measure --digest " in text
    assert page.locator("form input[value=approve], form input[value=run]").count() == 0
