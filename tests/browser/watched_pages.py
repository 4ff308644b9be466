"""Windows of a browser that record errors, dialogs and requests to other places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

CANARY = "window.__canary"
"""What a script of a plan would set, if one ran."""
_EXPECTED_STATUSES = ("400", "403", "404", "409", "413")
"""Statuses that a test provokes; the browser reports them as errors of the console."""


class WatchedBrowser:
    """Separate windows of one browser, each without the cookies and the storage of the others."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.problems: list[str] = []
        """What a page should not have done."""

    def open(self, url: str, **options: Any) -> Page:
        """Open an address in a new window."""
        context = self._browser.new_context(**options)
        context.set_default_timeout(20_000)
        self._contexts.append(context)
        return self.open_tab(context, url)

    def open_tab(self, context: BrowserContext, url: str) -> Page:
        """Open an address in a new tab of a window."""
        page = context.new_page()
        origin = urlsplit(url)[:2]
        page.on("console", self._check_message)
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("dialog", lambda dialog: self.problems.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: self._check_request(request, origin))
        page.on("popup", lambda popup: self.problems.append(f"popup: {popup.url}"))
        page.goto(url)
        return page

    def close(self) -> None:
        """Close all windows."""
        for context in self._contexts:
            for page in context.pages:
                if page.evaluate(CANARY) is not None:
                    self.problems.append(f"a script of a plan ran in {page.url}")
            context.close()

    def _check_message(self, message: ConsoleMessage) -> None:
        is_expected = any([f"status of {status}" in message.text for status in _EXPECTED_STATUSES])
        if message.type in ("error", "warning") and not is_expected:
            self.problems.append(f"console: {message.text} ({message.location['url']})")

    def _check_request(self, request: Request, origin: tuple[str, str]) -> None:
        if tuple(urlsplit(request.url)[:2]) != tuple(origin):
            self.problems.append(f"request: {request.url}")
