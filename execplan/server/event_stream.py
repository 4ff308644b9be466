"""The stream of server-sent events that tells open pages what has changed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from starlette.responses import Response, StreamingResponse

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.requests import Request

    from execplan.server.change_feed import Change, ChangeFeed, Subscription

_HEARTBEAT_SECONDS = 15.0
"""Time without a change after which a comment is sent, so that a connection that broke silently is noticed."""
_RETRY_MILLISECONDS = 1000
"""Time after which a browser connects again when the connection ends."""
MEDIA_TYPE = "text/event-stream"


def event_response(
    request: Request, feed: ChangeFeed, start_id: str, page_names: Callable[[frozenset[str]], list[str] | None]
) -> Response:
    """Return the stream of changes for one open page.

    Its first event, `start`, contains the ID of this start of the server and the number of the last change; the others,
    `change`, also contain the names of the changed pages from `page_names`, or null for all pages.
    """
    if request.method == "HEAD":
        return Response(media_type=MEDIA_TYPE)
    subscription = feed.subscribe()
    if subscription is None:
        return Response("Too many open pages.\n", 503, {"Retry-After": "10"}, "text/plain")
    return StreamingResponse(_events(feed, subscription, start_id, page_names), media_type=MEDIA_TYPE)


async def _events(
    feed: ChangeFeed,
    subscription: Subscription,
    start_id: str,
    page_names: Callable[[frozenset[str]], list[str] | None],
) -> AsyncIterator[str]:
    """Yield events until the page is closed or the server stops."""
    with subscription:
        yield f"retry: {_RETRY_MILLISECONDS}\n" + _format_event("start", feed.number, {"start": start_id})
        while not feed.is_closed:
            change: Change | None = await subscription.next_change(_HEARTBEAT_SECONDS)
            if change is not None:
                yield _format_event(
                    "change", change.number, {"start": start_id, "pages": page_names(change.plans)}
                )
            elif not feed.is_closed:
                yield ": no change\n\n"


def _format_event(name: str, number: int, data: dict[str, object]) -> str:
    return f"id: {number}\nevent: {name}\ndata: {json.dumps(data)}\n\n"
