"""One headless Chromium for all tests of a process, and pages that report what they should not do."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from execplan.core.plan.plan_anchors import Anchor
from execplan.team.review.comment_threads import CommentRecord
from tests.browser.hostile_plans import PAYLOADS, add_hostile_plans
from tests.browser.watched_pages import WatchedBrowser
from tests.conftest import Folder
from tests.needs import need
from tests.plans import CLEAN, STEPS
from tests.views.server.running_server import RunningServer, serve_repository

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser


@pytest.fixture(scope="package")  # not longer: while Playwright runs, its thread can't run another event loop
def chromium() -> Iterator[Browser]:
    """The browser, which runs until the last test of this package."""
    need("chromium")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=30_000)  # the machine may be busy with other tests
    with sync_playwright() as playwright:
        # A container may forbid the browser's own sandbox; the pages come from this test.
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def browser(chromium: Browser) -> Iterator[WatchedBrowser]:
    """Windows of the browser; the test fails if one of their pages has reported an error or sent a request elsewhere."""
    watched = WatchedBrowser(chromium)
    yield watched
    watched.close()
    assert watched.problems == []


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server of a repository with plans of every kind, for tests that only look at them."""
    yield from serve_repository(_create_library, tmp_path_factory.mktemp("library") / "repo")


def _create_library(folder: Folder) -> None:
    folder.git("init", "-q", "-b", "main")
    folder.write("README.md", "# A project\n")
    folder.plan()
    folder.plan(STEPS.replace("Build the parser", "Measure the parser"), "2026-01-02_measure")
    folder.plan(b"# Broken\n\0\n", "2026-01-03_broken")
    folder.plan(CLEAN.replace("Build the parser", "Replace the scanner"), "2026-01-04_scanner")
    folder.write(".agent/execplans/artifacts/2026-01-01_parser/timings.csv", "a,b\n1,2\n")
    comments = [
        CommentRecord(f"c{number}", "comment", "2026-01-01T10:00:00Z", payload, payload, anchor=Anchor("task", payload))
        for number, payload in enumerate(PAYLOADS)
    ]
    comments.append(CommentRecord("cx", "comment", "2026-01-01T10:00:00Z", "Bob", "Why?\nAnd when?"))
    comments.append(CommentRecord("cy", "resolve", "2026-01-01T11:00:00Z", "Ann", "Settled.", "cx"))
    lines = "".join([comment.to_line() for comment in comments])
    folder.write(".agent/execplans/artifacts/2026-01-01_parser/comments.jsonl", lines)
    add_hostile_plans(folder)
    folder.git("add", "-A")
    folder.git("commit", "-q", "-m", "Plans")
    folder.ok("archive", "2026-01-04_scanner", "--force", "--reason", "No longer wanted.")
    folder.ok("next", "2026-01-01_parser", "--claim", "agent-1")
