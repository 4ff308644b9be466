"""The feed of changes: one task looks for changes four times a second and wakes every open page.

A page that reads slowly holds nothing up: what it has not been sent yet is one set of plans, not a queue.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from execplan.errors import ExecplanError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from execplan.server.file_watch import Snapshot

POLL_SECONDS = 0.25
"""Time between two looks at the files, so that an open page shows a change within a second."""
MAX_SUBSCRIBERS = 100
"""Maximum number of pages that wait for changes at the same time."""


class Change(NamedTuple):
    """Something for an open page to react to."""

    number: int
    """Number of changes since the server started."""
    plans: frozenset[str]
    """Paths of the plans that changed; with an empty string, anything may have changed."""


class Subscription:
    """The changes that one open page has not been sent yet; a context manager that ends the subscription."""

    def __init__(self, feed: ChangeFeed) -> None:
        self._feed = feed
        self._plans: set[str] = set()
        self._is_awake = asyncio.Event()

    def __enter__(self) -> Self:
        self._feed.subscriptions.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._feed.subscriptions.discard(self)

    def add(self, plans: frozenset[str]) -> None:
        """Add changed plans and wake the page."""
        self._plans |= plans
        self._is_awake.set()

    async def next_change(self, timeout: float) -> Change | None:
        """Wait for the next change; None after `timeout` seconds without one, or when the feed is closed."""
        try:
            async with asyncio.timeout(timeout):
                await self._is_awake.wait()
        except TimeoutError:
            return None
        self._is_awake.clear()
        plans, self._plans = frozenset(self._plans), set()
        return None if self._feed.is_closed else Change(self._feed.number, plans)


class ChangeFeed:
    """The changes of a project's files, for all open pages."""

    def __init__(self, take_snapshot: Callable[[], Snapshot], everything: str) -> None:
        """Create a feed; `everything` is the key that stands for any change at all."""
        self.number = 0
        """Number of changes since the server started."""
        self.is_closed = False
        self.subscriptions: set[Subscription] = set()
        self._take_snapshot = take_snapshot
        self._everything = frozenset((everything,))

    def subscribe(self) -> Subscription | None:
        """Return a subscription to enter, or None if there are too many."""
        return None if len(self.subscriptions) >= MAX_SUBSCRIBERS or self.is_closed else Subscription(self)

    def close(self) -> None:
        """End all subscriptions."""
        self.is_closed = True
        for subscription in self.subscriptions:
            subscription.add(frozenset())

    async def watch(self) -> None:
        """Look for changes until the task is canceled. Files are read only while a page is open."""
        earlier: Snapshot | None = None
        is_readable = True
        while True:
            if self.subscriptions:
                try:
                    snapshot = await asyncio.to_thread(self._take_snapshot)
                except (ExecplanError, OSError):  # the pages show what is wrong; look again
                    if is_readable:
                        self._publish(self._everything)
                    is_readable, earlier = False, None
                else:
                    plans = snapshot.changed_plans(earlier) if earlier is not None else self._everything
                    if plans:
                        self._publish(plans)
                    is_readable, earlier = True, snapshot
            else:
                earlier = None
            await asyncio.sleep(POLL_SECONDS)

    def _publish(self, plans: frozenset[str]) -> None:
        self.number += 1
        for subscription in self.subscriptions:
            subscription.add(plans)
