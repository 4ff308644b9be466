"""The feed of changes: one task looks for changes four times a second, and a stream of events wakes every open page.

A page that reads slowly holds nothing up: what it has not been sent yet is one set of plans, not a queue.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, NamedTuple

from starlette.responses import Response, StreamingResponse

from execplan.core.errors import ExecplanError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from typing import Self

    from starlette.requests import Request

    from execplan.views.board.board_changes import Snapshot

POLL_SECONDS = 0.25
"""Time between two looks at the files, so that an open page shows a change within a second."""
MAX_SUBSCRIBERS = 100
"""Maximum number of pages that wait for changes at the same time."""
EVERYTHING = ""
"""Stands for all pages in a set of changed pages."""
_HEARTBEAT_SECONDS = 15.0
"""Time without a change after which a comment is sent, so that a connection that broke silently is noticed."""
_RETRY_MILLISECONDS = 1000
"""Time after which a browser connects again when the connection ends."""
MEDIA_TYPE = "text/event-stream"


class PageEvent(NamedTuple):
    """Something for an open page to react to."""

    number: int
    """Number of changes since the server started."""
    pages: frozenset[str]
    """The changed pages; with EVERYTHING, any page may have changed."""


class Subscription:
    """The changes that one open page has not been sent yet; a context manager that ends the subscription."""

    def __init__(self, feed: ChangeFeed) -> None:
        self._feed = feed
        self._pages: set[str] = set()
        self._is_awake = asyncio.Event()

    def __enter__(self) -> Self:
        self._feed.subscriptions.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._feed.subscriptions.discard(self)

    def add(self, pages: frozenset[str]) -> None:
        """Add changed pages and wake the reader."""
        self._pages |= pages
        self._is_awake.set()

    async def next_change(self) -> PageEvent | None:
        """Wait for the next change; None when the feed is closed."""
        await self._is_awake.wait()
        self._is_awake.clear()
        pages, self._pages = frozenset(self._pages), set()
        return None if self._feed.is_closed else PageEvent(self._feed.number, pages)


class ChangeFeed:
    """The changes of a project's files, for all open pages."""

    def __init__(
        self, take_snapshot: Callable[[], Snapshot], changed_pages: Callable[[Snapshot, Snapshot], frozenset[str]]
    ) -> None:
        """Create a feed of the differences between snapshots; `changed_pages` returns the pages that differ."""
        self.number = 0
        """Number of changes since the server started."""
        self.is_closed = False
        self.subscriptions: set[Subscription] = set()
        self._take_snapshot = take_snapshot
        self._changed_pages = changed_pages
        self._earlier: Snapshot | None = None
        self._was_readable = True

    def subscribe(self) -> Subscription | None:
        """Return a subscription to enter, or None if there are too many."""
        return None if len(self.subscriptions) >= MAX_SUBSCRIBERS else Subscription(self)

    def close(self) -> None:
        """End the subscriptions of all pages."""
        self.is_closed = True
        for subscription in self.subscriptions:
            subscription.add(frozenset())

    async def watch(self) -> None:
        """Look for changes until the task is canceled. Files are read only while a page is open."""
        while True:
            if self.subscriptions:
                pages = await asyncio.to_thread(self._find_changes)
                if pages:
                    self.number += 1
                    for subscription in self.subscriptions:
                        subscription.add(pages)
            else:
                self._earlier = None
            await asyncio.sleep(POLL_SECONDS)

    def _find_changes(self) -> frozenset[str]:
        """Compare the files with the last time; return the changed pages."""
        earlier = self._earlier
        try:
            self._earlier = self._take_snapshot()
            pages = self._changed_pages(earlier, self._earlier) if earlier is not None else frozenset((EVERYTHING,))
        except (ExecplanError, OSError):  # settings that can't be read, for example: the pages show what is wrong
            self._earlier = None
            pages = frozenset((EVERYTHING,) if self._was_readable else ())
        self._was_readable = self._earlier is not None
        return pages


def event_response(request: Request, feed: ChangeFeed, start_id: str) -> Response:
    """Return the stream of changes for one open page.

    Its first event, `start`, contains the ID of this start of the server; the others, `change`, also contain the names of
    the changed pages, or null if any page may have changed. The ID of each event is the number of the last change.
    """
    if request.method == "HEAD":
        return Response(media_type=MEDIA_TYPE)
    subscription = feed.subscribe()
    if subscription is None:
        return Response("Too many open pages.\n", 503, {"Retry-After": "10"}, "text/plain")
    return StreamingResponse(_events(feed, subscription, start_id), media_type=MEDIA_TYPE)


async def _events(feed: ChangeFeed, subscription: Subscription, start_id: str) -> AsyncIterator[str]:
    """Yield events until the page is closed or the server stops."""
    with subscription:
        if not feed.is_closed:
            yield f"retry: {_RETRY_MILLISECONDS}\n" + _format_event("start", feed.number, {"start": start_id})
        while not feed.is_closed:
            try:
                async with asyncio.timeout(_HEARTBEAT_SECONDS):
                    change = await subscription.next_change()
            except TimeoutError:
                yield ": no change\n\n"
                continue
            if change is not None:
                pages = None if EVERYTHING in change.pages else sorted(change.pages)
                yield _format_event("change", change.number, {"start": start_id, "pages": pages})


def _format_event(name: str, number: int, data: dict[str, object]) -> str:
    return f"id: {number}\nevent: {name}\ndata: {json.dumps(data)}\n\n"
