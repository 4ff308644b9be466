"""Two browsers and five agents edit one plan at the same time, and nothing is lost.

It takes a few seconds; `make browsers` lets it run for a minute.
"""

from __future__ import annotations

import os
import threading
import time
from itertools import count
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.conftest import COUNTED
from tests.views.server.running_server import PLAN_PAGE, RunningServer

if TYPE_CHECKING:
    import pytest
    from playwright.sync_api import Locator, Page

    from tests.browser.watched_pages import WatchedBrowser
    from tests.conftest import Folder

pytestmark = pytest.mark.exhaustive

SECONDS = float(os.environ.get("EXECPLAN_BROWSER_SECONDS", "3"))
"""How long they edit."""
AGENTS = 5
PAUSE = 1.0
"""Seconds that an agent works between two edits."""
MINIMUM = 4
"""How often each of them edits at least, however slow the machine is."""


def test_two_browsers_and_five_agents_lose_nothing(
    browser: WatchedBrowser, repo: Folder, request: pytest.FixtureRequest
) -> None:
    repo.plan()
    server = RunningServer(repo)
    url = server.url.rstrip("/") + PLAN_PAGE
    pages = [browser.open(url) for _ in range(2)]
    reader = browser.open(url)
    end = time.monotonic() + SECONDS
    texts: list[list[str]] = [[] for _ in range(AGENTS)]
    agents = [threading.Thread(target=_work, args=(repo, name, end, texts[name])) for name in range(AGENTS)]
    for agent in agents:
        agent.start()
    added = []
    conflicts = 0
    for number in count():
        if number >= MINIMUM and time.monotonic() > end:
            break
        for name, page in enumerate(pages):
            text = f"Browser {name} adds task {number}."
            conflicts += _add_task(page, text)
            added.append(text)
    for agent in agents:
        agent.join()
    expected = [*added, *[text for agent_texts in texts for text in agent_texts]]
    shown = repo.ok("show", "2026-01-01_parser")
    assert sorted([task["text"] for task in shown["tasks"]][3:]) == sorted(expected)
    for page in (*pages, reader):
        expect(page.locator(".task")).to_have_count(3 + len(expected))
    contents = {page.locator(".plan-body").inner_text() for page in (*pages, reader)}
    assert len(contents) == 1
    assert repo.run("lint").exit in (0, 1)
    line = f"concurrent editing for {SECONDS:g} s: {len(added)} edits in browsers, {len(expected) - len(added)} by agents, {conflicts} conflicts"
    request.node.user_properties.append((COUNTED, line))


def _work(repo: Folder, name: int, end: float, texts: list[str]) -> None:
    """Add tasks on the command line until the time is over."""
    for number in count():
        if number >= MINIMUM and time.monotonic() > end:
            return
        text = f"Agent {name} adds task {number}."
        repo.ok("add", text)
        texts.append(text)
        time.sleep(PAUSE)


def _add_task(page: Page, text: str) -> int:
    """Add a task in a page as a person would, and return how often the plan had changed meanwhile."""
    if page.get_by_role("link", name="Show the plan as it is now").count():
        page.get_by_role("link", name="Show the plan as it is now").click()
    page.get_by_label("New task").fill(text)
    _submit(page.get_by_role("button", name="Add task"))
    repeat = page.get_by_role("button", name="Make this edit in the changed plan")
    conflicts = 0
    while repeat.count():
        conflicts += 1
        _submit(repeat)
    expect(page.locator(".task", has_text=text)).to_be_visible()
    return conflicts


def _submit(button: Locator) -> None:
    """Submit a form and wait until the page is replaced."""
    element = button.element_handle()
    button.click()
    element.wait_for_element_state("hidden")
