"""Running the server until it is stopped, and its socket: its address, its port, and what others can reach."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import os
import socket
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from execplan.core.errors import ExecplanError

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp

    from execplan.views.server.change_feed import ChangeFeed

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8017
"""Default port; registered for no other service that developers run."""
_PORT_ATTEMPTS = 20
"""Number of ports above one in use that are tried for the hint."""
_BACKLOG = 128
_MAX_CONNECTIONS = 256
_MAX_HEADER_BYTES = 16 * 1024
_SHUTDOWN_SECONDS = 2
"""Time that requests have to end when the server stops."""
_REQUEST_SECONDS = 10.0
"""Time within which a new connection must send the headers of its first request."""


def open_listening_socket(host: str, port: int) -> socket.socket:
    """Listen on a port of an address; port 0 takes any free port.

    Raises ExecplanError if the port is in use (with the next free one in the hint), or if the address is unknown or not
    one of this machine.
    """
    family, address = _resolve(host, port)
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        # A server that has just ended leaves connections in TIME_WAIT, which would block its port for a minute.
        if sys.platform == "win32":  # there, that option would share the port with another server
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise _bind_error(error, host, port) from None
    listener.setblocking(False)
    return listener


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address: every address that the name resolves to."""
    try:
        addresses = {str(info[4][0]) for info in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except OSError:
        return False
    return bool(addresses) and all([_is_loopback_address(address) for address in addresses])


def own_host_names(host: str) -> frozenset[str]:
    """Return the names and addresses under which browsers reach a server that listens on `host`."""
    names = {"localhost", DEFAULT_HOST, "::1", host.lower()}
    return frozenset(names if is_loopback(host) else {*names, socket.gethostname().lower(), socket.getfqdn().lower()})


def format_url(host: str, port: int) -> str:
    """Return the URL of the first page, with an address that a browser on this machine can open."""
    if host in ("", "0.0.0.0", "::"):  # noqa: S104 - compares with these addresses, binds to nothing
        host = DEFAULT_HOST
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def format_network_url(host: str, port: int) -> str:
    """Return the URL of the first page for other machines; empty if the server listens on one address only."""
    if host not in ("", "0.0.0.0", "::"):  # noqa: S104 - compares with these addresses, binds to nothing
        return ""
    return f"http://{socket.gethostname().lower()}:{port}/"


def _is_loopback_address(address: str) -> bool:
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def _resolve(host: str, port: int) -> tuple[socket.AddressFamily, tuple[Any, ...]]:
    """Return the family and the address of a host; raises ExecplanError if it is unknown."""
    try:
        infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        reason = error.strerror.lower() if isinstance(error, OSError) and error.strerror else "not a valid name"
        message = f"can't listen on {host!r}: {reason}"
        hint = f"omit --host to listen on {DEFAULT_HOST}"
        raise ExecplanError("unknown-host", message, hint=hint) from None
    family, _, _, _, address = infos[0]
    return family, address


def _bind_error(error: OSError, host: str, port: int) -> ExecplanError:
    """Return the error for an address or a port that can't be used."""
    if error.errno == errno.EADDRINUSE:
        free_port = _next_free_port(host, port)
        return ExecplanError(
            "port-in-use",
            f"port {port} of {host} is in use by another program, perhaps by another execplan serve",
            hint=f"use another port: execplan serve --port {free_port}" if free_port else "execplan serve --port 0",
        )
    if error.errno == errno.EACCES:
        message = f"can't listen on port {port}: only the administrator can use ports below 1024"
        hint = f"use a higher port: execplan serve --port {DEFAULT_PORT}"
        return ExecplanError("port-not-allowed", message, hint=hint)
    message = f"can't listen on {host}, port {port}: {os.strerror(error.errno or 0).lower()}"
    hint = f"--host takes an address of this machine; omit it to listen on {DEFAULT_HOST}"
    return ExecplanError("unknown-host", message, hint=hint)


def _next_free_port(host: str, port: int) -> int:
    """Return the next port that is free now, or 0 if the ones that were tried are all in use."""
    for candidate in range(port + 1, min(port + 1 + _PORT_ATTEMPTS, 65536)):
        family, address = _resolve(host, candidate)
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            try:
                probe.bind(address)
            except OSError:
                continue
            return candidate
    return 0


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
