"""The documentation site, built from docs/: it is complete, its search finds pages, and it needs no other server."""

from __future__ import annotations

import functools
import http.server
import os
import re
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.needs import client, need

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.browser.watched_pages import WatchedBrowser

pytestmark = pytest.mark.exhaustive

ROOT = Path(__file__).resolve().parents[2]


class _QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:  # the name is that of the base class
        """Print nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site. The build is strict (but not with `-q`, which hides warnings from it): a link that leads nowhere, or a page that no reader is shown, fails it."""
    need("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    command = [client("mkdocs"), "build", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """The address of a server of the site."""
    handler = functools.partial(_QuietHandler, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_search_finds_a_page(browser: WatchedBrowser, address: str) -> None:
    page = browser.open(f"{address}/index.html")
    page.get_by_role("textbox", name="Search").fill("merge driver")
    page.locator("a.md-search-result__link[href*='/how-to/resolve-a-merge.html']").first.click()
    page.wait_for_url("**/how-to/resolve-a-merge.html*")
    assert "conflict" in page.get_by_role("article").inner_text()


@pytest.mark.parametrize(
    "name", ["index", "for-people", "tutorials/your-first-plan", "reference/commands", "changelog"]
)
def test_pages_are_readable(browser: WatchedBrowser, address: str, name: str) -> None:
    page = browser.open(f"{address}/{name}.html", viewport={"width": 400, "height": 800})
    assert page.locator("h1").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert page.evaluate("[...document.images].every((image) => image.complete && image.naturalWidth > 0)")


def test_pages_show_no_fixtures_and_no_raw_blocks(site: Path) -> None:
    pages = [path for path in site.rglob("*.html") if path.name != "404.html"]
    assert len(pages) > 60
    for path in pages:
        html = path.read_text(encoding="utf-8")
        article = html[html.index("<article") : html.index("</article>")]
        prose = re.sub(r"<(pre|code)\b.*?</\1>", "", article, flags=re.DOTALL)
        assert "```" not in prose, path
        assert "<!--" not in prose, path
