"""The stream of server-sent events that tells open pages what has changed."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from starlette.responses import Response, StreamingResponse

from execplan.views.server.change_feed import EVERYTHING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request

    from execplan.views.server.change_feed import ChangeFeed, Subscription

_HEARTBEAT_SECONDS = 15.0
"""Time without a change after which a comment is sent, so that a connection that broke silently is noticed."""
_RETRY_MILLISECONDS = 1000
"""Time after which a browser connects again when the connection ends."""
MEDIA_TYPE = "text/event-stream"


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
