"""Open pages follow the files, and edits in them go the way of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.views.server.running_server import PLAN_PAGE, RunningServer

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.watched_pages import WatchedBrowser
    from tests.conftest import Folder


@pytest.fixture
def server(repo: Folder) -> RunningServer:
    """A server of a repository with one plan."""
    repo.plan()
    return RunningServer(repo)


def plan_url(server: RunningServer) -> str:
    """The address of the plan's page."""
    return server.url.rstrip("/") + PLAN_PAGE


def expect_done(page: Page, count: int) -> None:
    """Wait until a page shows so many completed tasks."""
    expect(page.locator(".task.done")).to_have_count(count)


@pytest.mark.exhaustive
def test_an_agents_work_appears_in_every_open_tab(browser: WatchedBrowser, server: RunningServer) -> None:
    """Ten tabs of one window, although a browser opens only six connections to a server."""
    first = browser.open(plan_url(server))
    tabs = [first, *[browser.open_tab(first.context, plan_url(server)) for _ in range(9)]]
    board = browser.open_tab(first.context, server.url)
    other_window = browser.open(plan_url(server))
    server.folder.ok("done", "2")
    for page in (*tabs, other_window):
        expect_done(page, 2)
    expect(board.locator(".card")).to_contain_text("2/3")
    first.close()  # the tab that listened for the others
    server.folder.ok("done", "3")
    for page in (*tabs[1:], other_window):
        expect_done(page, 3)


def test_edits_in_a_page(browser: WatchedBrowser, server: RunningServer) -> None:
    page = browser.open(plan_url(server))
    page.get_by_role("button", name="Check off task 2").click()
    expect_done(page, 2)
    expect(page.locator("#page-notices")).to_contain_text("done")
    page.get_by_role("button", name="Reopen task 1").click()
    expect_done(page, 1)
    page.get_by_role("button", name="Claim task 3").click()
    expect(page.locator(".claim")).to_contain_text("Ann")
    page.get_by_role("button", name="Release task 3").click()
    expect(page.locator(".claim")).to_have_count(0)
    page.get_by_label("New task").fill("Handle <b>CRLF</b>.")
    page.get_by_label("New task").press("Enter")
    expect(page.locator(".task")).to_have_count(4)
    page.get_by_label("Decision", exact=True).fill("Read bytes.")
    page.get_by_label("Rationale").fill("Nothing is lost.")
    page.get_by_role("button", name="Add decision").click()
    expect(page.locator(".decision")).to_have_count(2)
    page.get_by_label("Comment on").fill("2")
    page.get_by_label("Comment", exact=True).fill("Which <b>lines</b>?\nAll?")
    page.get_by_role("button", name="Comment", exact=True).click()
    expect(page.locator(".comment")).to_contain_text("Which <b>lines</b>?")
    page.get_by_label("Reply").fill("All.")
    page.get_by_role("button", name="Reply").click()
    expect(page.locator(".comment .message")).to_have_count(2)
    page.get_by_role("button", name="Resolve the comment on task 2").click()
    expect(page.locator(".comment.resolved")).to_have_count(1)
    shown = server.folder.ok("show")
    assert shown["comments"][0]["text"] == "Which <b>lines</b>?\nAll?"
    assert [reply["text"] for reply in shown["comments"][0]["replies"]] == ["All.", ""]
    assert [task["state"] for task in shown["tasks"]] == ["open", "done", "open", "open"]
    assert shown["tasks"][3]["text"] == "Handle <b>CRLF</b>."
    assert shown["decisions"][1]["author"] == "Ann"


@pytest.mark.exhaustive
def test_typed_text_survives_a_change_and_a_conflict(browser: WatchedBrowser, server: RunningServer) -> None:
    page, other_window = browser.open(plan_url(server)), browser.open(plan_url(server))
    page.get_by_label("New task").fill("Handle CRLF.")
    server.folder.ok("done", "2")
    expect(page.locator("#page-notices")).to_contain_text("This page has changed")
    assert page.get_by_label("New task").input_value() == "Handle CRLF."
    expect_done(page, 1)
    page.get_by_role("button", name="Add task").click()
    expect(page.locator("h1")).to_contain_text("Not written")
    expect(page.locator("main")).to_contain_text("Handle CRLF.")
    assert "Handle CRLF" not in str(server.folder.ok("show"))
    server.folder.ok("done", "3")
    expect_done(other_window, 3)  # so that the first window has been informed, too
    expect(page.locator("main")).to_contain_text("Handle CRLF.")
    page.get_by_role("button", name="Make this edit in the changed plan").click()
    expect(page.locator("h1")).to_contain_text("Not written")
    page.get_by_role("button", name="Make this edit in the changed plan").click()
    expect(page.locator(".task")).to_have_count(4)
    expect_done(page, 3)


@pytest.mark.exhaustive
def test_a_page_reconnects_to_a_server_that_was_started_again(browser: WatchedBrowser, repo: Folder) -> None:
    repo.plan()
    server = RunningServer(repo)
    page = browser.open(plan_url(server))
    expect_done(page, 1)
    server.stop()
    expect(page.locator(".live-status")).to_contain_text("Not connected")
    repo.ok("done", "2")
    again = RunningServer(repo, "serve", "--port", str(server.port))
    expect_done(page, 2)
    page.get_by_role("button", name="Check off task 3").click()  # with the token of the new start
    expect_done(page, 3)
    browser.problems[:] = [problem for problem in browser.problems if "ERR_" not in problem]
    assert again.get("/").status == 200


@pytest.mark.exhaustive
def test_typed_text_survives_another_edit_and_a_new_start(browser: WatchedBrowser, repo: Folder) -> None:
    repo.plan()
    server = RunningServer(repo)
    page = browser.open(plan_url(server))
    page.get_by_label("Decision", exact=True).fill("Read bytes.")
    page.get_by_label("Rationale").fill("Nothing is lost.")
    page.get_by_role("button", name="Check off task 2").click()
    expect_done(page, 2)
    expect(page.get_by_label("Decision", exact=True)).to_have_value("Read bytes.")
    server.stop()
    expect(page.locator(".live-status")).to_contain_text("Not connected")
    again = RunningServer(repo, "serve", "--port", str(server.port))
    token = again.get(PLAN_PAGE).field("token")
    expect(page.locator("main [name=token]").first).to_have_value(token)
    expect(page.get_by_label("Rationale")).to_have_value("Nothing is lost.")
    page.get_by_role("button", name="Add decision").click()
    expect(page.locator(".decision")).to_have_count(2)
    expect(page.get_by_label("Rationale")).to_have_value("")
    browser.problems[:] = [problem for problem in browser.problems if "ERR_" not in problem]


@pytest.mark.exhaustive
def test_typed_text_survives_an_error(browser: WatchedBrowser, server: RunningServer) -> None:
    page = browser.open(plan_url(server))
    page.get_by_label("New task").fill("Handle CRLF.")
    page.get_by_label("Decision", exact=True).fill("Read\u200b bytes.")
    page.get_by_label("Rationale").fill("Nothing is lost.")
    page.get_by_role("button", name="Add decision").click()
    expect(page.locator("h1")).to_have_text("Not written")
    expect(page.locator("main")).to_contain_text("Nothing is lost.")
    page.get_by_role("link", name="Back to the plan").click()
    expect(page.get_by_label("Rationale")).to_have_value("Nothing is lost.")
    expect(page.get_by_label("New task")).to_have_value("Handle CRLF.")
    page.get_by_label("Decision", exact=True).fill("Read bytes.")
    page.get_by_role("button", name="Add decision").click()
    expect(page.locator(".decision")).to_have_count(2)
    expect(page.get_by_label("New task")).to_have_value("Handle CRLF.")


@pytest.mark.exhaustive
def test_typed_text_survives_a_new_name_of_the_plan(browser: WatchedBrowser, server: RunningServer) -> None:
    page = browser.open(plan_url(server))
    page.get_by_label("New task").fill("Handle CRLF.")
    server.folder.ok("done", "2")
    page.get_by_role("button", name="Update the page").click()
    expect_done(page, 2)
    server.folder.ok("rename", "parser", "Build the reader")
    expect(page.locator("#page-notices")).to_contain_text("the plan has been renamed, archived or removed")
    expect(page.get_by_label("New task")).to_have_value("Handle CRLF.")
    page.get_by_role("button", name="Add task").click()
    expect(page.locator("h1")).to_have_text("Not written")
    expect(page.locator("main")).to_contain_text("Handle CRLF.")
    browser.problems[:] = [problem for problem in browser.problems if "404" not in problem]


@pytest.mark.exhaustive
def test_a_text_that_is_too_large_stays_in_its_form(browser: WatchedBrowser, server: RunningServer) -> None:
    page = browser.open(plan_url(server))
    page.get_by_label("New task").evaluate("(field) => { field.maxLength = 1e6; field.value = 'x'.repeat(200000); }")
    page.get_by_role("button", name="Add task").click()
    expect(page.locator("main")).to_contain_text("The text is too large")
    page.get_by_role("link", name="Back to the plan").click()
    expect(page.get_by_role("button", name="Add task")).to_be_enabled()
    assert len(page.get_by_label("New task").input_value()) == 200_000


@pytest.mark.exhaustive
def test_a_commit_without_changes_is_no_change_of_the_page(browser: WatchedBrowser, server: RunningServer) -> None:
    server.folder.git("add", "-A")
    server.folder.git("commit", "-q", "-m", "Plan")
    page = browser.open(plan_url(server))
    page.get_by_label("New task").fill("Handle CRLF.")
    with page.expect_response(lambda response: response.url == plan_url(server)) as response:
        server.folder.git("commit", "-q", "--allow-empty", "-m", "Nothing")
    assert response.value.status == 304
    assert page.locator("[data-stale]").count() == 0
    server.folder.ok("done", "2")
    expect(page.locator("[data-stale]")).to_be_visible()
    page.get_by_role("button", name="Update the page").click()
    expect_done(page, 2)
    expect(page.get_by_label("New task")).to_have_value("Handle CRLF.")


def test_pages_work_without_javascript(browser: WatchedBrowser, server: RunningServer) -> None:
    page = browser.open(plan_url(server), java_script_enabled=False)
    page.get_by_role("button", name="Check off task 2").click()
    expect_done(page, 2)
    expect(page.locator("#page-notices")).to_contain_text("done")
    server.folder.ok("done", "3")
    page.get_by_role("button", name="Reopen task 1").click()
    expect(page.locator("h1")).to_contain_text("Not written")
    page.get_by_role("button", name="Make this edit in the changed plan").click()
    expect_done(page, 2)


@pytest.mark.exhaustive
def test_the_place_in_a_page_is_kept(browser: WatchedBrowser, server: RunningServer) -> None:
    page = browser.open(plan_url(server), viewport={"width": 800, "height": 300})
    button = page.get_by_role("button", name="Check off task 3")
    page.evaluate("window.scrollTo({top: 200, behavior: 'instant'})")
    button.evaluate("(element) => element.focus({preventScroll: true})")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Check off task 3"
    before = page.evaluate("scrollY")
    assert before == 200
    server.folder.ok("done", "2")
    expect_done(page, 2)
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Check off task 3"
    assert page.evaluate("scrollY") == before
    page.keyboard.press("Enter")
    expect_done(page, 3)


@pytest.mark.exhaustive
def test_the_filter_of_a_board_is_kept_when_plans_change(browser: WatchedBrowser, server: RunningServer) -> None:
    server.folder.ok("new", "Write the documentation")
    page = browser.open(server.url)
    page.locator("#page-filter").fill("parser")
    expect(page.locator(".card:visible")).to_have_count(1)
    server.folder.ok("done", "2", "-p", "parser")
    expect(page.locator(".card:visible")).to_contain_text("2/3")
    assert page.locator(".card:visible").count() == 1
    assert page.evaluate("document.activeElement.id") == "page-filter"


@pytest.mark.exhaustive
def test_charts_follow_the_plan(browser: WatchedBrowser, server: RunningServer) -> None:
    page = browser.open(plan_url(server))
    chart = page.locator("figure.chart img")
    chart.scroll_into_view_if_needed()
    first = chart.get_attribute("src")
    expect(chart).to_have_js_property("complete", value=True)
    assert chart.evaluate("(image) => image.naturalWidth") > 0
    server.folder.ok("done", "2")
    expect_done(page, 2)
    assert chart.get_attribute("src") != first
    page.goto(f"{server.url}charts.html")
    assert page.locator("figure.chart img").count() > 1
