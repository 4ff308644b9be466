"""Running the server until it is stopped."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from typing import Any

    from starlette.types import ASGIApp

    from execplan.views.server.change_feed import ChangeFeed

_MAX_CONNECTIONS = 256
_MAX_HEADER_BYTES = 16 * 1024
_SHUTDOWN_SECONDS = 2
"""Time that requests have to end when the server stops."""
_REQUEST_SECONDS = 10.0
"""Time within which a new connection must send the headers of its first request."""


class _Protocol(H11Protocol):
    """HTTP on a connection that is closed if no request arrives, so that idle connections don't use up the limit."""

    def __init__(self, feed: ChangeFeed, **options: Any) -> None:
        super().__init__(**options)
        self._feed = feed

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for the first request."""
        super().connection_made(transport)
        if self._feed.is_closed:  # accepted just before the server stopped listening; it would delay the end
            transport.close()
        asyncio.get_running_loop().call_later(_REQUEST_SECONDS, self._close_without_request)

    def _close_without_request(self) -> None:
        if self.cycle is None:
            self.transport.close()


class _Server(uvicorn.Server):
    """A uvicorn server that ends the streams of events when it stops, which would otherwise stay open."""

    def __init__(self, config: uvicorn.Config, feed: ChangeFeed, on_start: Callable[[], None]) -> None:
        super().__init__(config)
        self._feed = feed
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then report it."""
        await super().startup(sockets)
        await asyncio.to_thread(self._on_start)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, then everything else."""
        self._feed.close()
        await super().shutdown(sockets)


def run_server(
    application: ASGIApp, feed: ChangeFeed, listener: socket.socket, on_start: Callable[[], None] = lambda: None
) -> None:
    """Serve an application on a listening socket until a signal arrives.

    `on_start` is called in a thread once requests are answered. Raises KeyboardInterrupt after SIGINT, and whatever the
    handler of SIGTERM raises after SIGTERM; by then, edits that had begun are complete.
    """
    config = uvicorn.Config(
        application,
        http=partial(_Protocol, feed),  # type: ignore[arg-type]
        ws="none",
        loop="asyncio",
        lifespan="on",
        interface="asgi3",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=_MAX_CONNECTIONS,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        h11_max_incomplete_event_size=_MAX_HEADER_BYTES,
    )
    asyncio.run(_Server(config, feed, on_start).serve(sockets=[listener]))
