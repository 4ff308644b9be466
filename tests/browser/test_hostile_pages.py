"""Hostile plans run nothing in a browser: as a static site and served live."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.watched_pages import CANARY

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.watched_pages import WatchedBrowser
    from tests.views.server.running_server import RunningServer

pytestmark = pytest.mark.exhaustive


@pytest.mark.parametrize("form", ["live", "static"])
def test_hostile_plans_run_nothing(browser: WatchedBrowser, library: RunningServer, form: str) -> None:
    """No script runs, no dialog opens and no request leaves the origin, also after clicks on everything."""
    start = library.url
    if form == "static":
        library.folder.ok("site")
        start = (library.folder.path / ".agent/site/index.html").as_uri()
    page = browser.open(start)
    hrefs = page.evaluate("[...document.querySelectorAll('.card a')].map((link) => link.href)")
    hostile = [href for href in hrefs if "hostile" in href or "img" in href]
    assert len(hostile) > 15
    base = start.removesuffix("index.html")
    for url in [f"{base}decisions.html", f"{base}archive.html", *hostile]:
        page.goto(url)
        _try_everything(page)
        assert page.evaluate(CANARY) is None, url
    assert page.evaluate("location.href").startswith(base)


def _try_everything(page: Page) -> None:
    """Move over, focus and click what a plan may have put into a page, without following links of the site."""
    unsafe = page.evaluate(
        """() => [...document.querySelectorAll("*")].flatMap((element) => [
          ...[...element.attributes].filter(({name}) => name.startsWith("on") || name === "style").map(({name}) => name),
          ...["script", "iframe", "object", "embed", "base", "svg", "math"].filter((name) =>
            element.localName === name && !(name === "script" && element.src)),
          ...[element.getAttribute("href") ?? "", element.getAttribute("src") ?? "", element.getAttribute("action") ?? ""]
            .filter((url) => /^\\s*(javascript|data|vbscript):/i.test(url)),
        ])"""
    )
    assert unsafe == []
    page.evaluate(
        """() => {
          for (const element of document.querySelectorAll("main a, main summary, main [tabindex]")) {
            element.addEventListener("click", (event) => event.preventDefault(), {once: true});
            element.focus();
            element.dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
            element.click();
          }
        }"""
    )


def test_artifacts_are_downloads_that_run_nothing(browser: WatchedBrowser, library: RunningServer) -> None:
    page = browser.open(f"{library.url}plans/2026-02-01_hostile-0.html")
    links = page.locator(".artifacts a")
    assert links.count() == 3
    for index in range(3):
        with page.expect_download() as download:
            links.nth(index).click()
        assert download.value.url.startswith(library.url)
    for path in (".agent/execplans/artifacts/2026-02-01_hostile-0/page.html", "files/2026-02-01_hostile-0/page.html"):
        assert library.get(f"/{path}").status == 404
    reply = library.get("/files/2026-02-01_hostile-0/page.html.txt")
    assert reply.headers["content-type"].startswith("text/plain")
    assert reply.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in reply.headers["content-security-policy"]
