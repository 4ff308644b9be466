"""The checks that every request passes before a page sees it, and the security headers of every response.

A web site that is open in the same browser can send requests to this machine. It can't read the answers, unless it makes
its own name resolve to this machine (DNS rebinding). So the name in `Host` must be one of the server's, a request from
another site must be a plain navigation, and a write must come from a page of this server.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, NamedTuple

from starlette.datastructures import Headers, MutableHeaders

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


_METHODS = ("GET", "HEAD", "POST")
SECURITY_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With `no-referrer`, a browser would send `Origin: null` with the forms of our own pages.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
"""Headers of every response, unless the response sets the same header itself."""


class Rejection(NamedTuple):
    """The reason why a request is not answered."""

    status: int
    """HTTP status code."""
    message: str
    hint: str


class RequestGuard:
    """ASGI middleware that rejects requests from elsewhere and adds the security headers."""

    def __init__(
        self,
        app: ASGIApp,
        host_names: Collection[str],
        rejection_page: Callable[[Rejection], Response],
        *,
        any_address: bool,
    ) -> None:
        """Guard an application against requests from elsewhere.

        `host_names` are the names and addresses in `Host` that are this server's; with `any_address`, every address is,
        because no name that an attacker controls is an address.
        """
        self._app = app
        self._host_names = frozenset(name.lower() for name in host_names)
        self._any_address = any_address
        self._rejection_page = rejection_page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or reject it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        rejection = self.check(scope["method"], Headers(scope=scope))
        if rejection is None:
            await self._app(scope, receive, send_with_headers)
        else:
            response = self._rejection_page(rejection)
            if rejection.status == 405:
                response.headers["Allow"] = ", ".join(_METHODS)
            await response(scope, receive, send_with_headers)

    def check(self, method: str, headers: Headers) -> Rejection | None:
        """Return why a request is rejected, or None if it is not."""
        if method not in _METHODS:
            return Rejection(405, f"this server does not answer {method} requests", "open a page, or submit a form")
        host = headers.get("host", "")
        if not self._is_own_name(_host_name(host)):
            return Rejection(
                403,
                f"this server does not answer requests for the host {host!r}",
                "open the address that `execplan serve` printed",
            )
        origin = headers.get("origin")
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return Rejection(
                403, f"this request comes from {origin!r}, not from a page of this server", "open the page itself"
            )
        site, mode = headers.get("sec-fetch-site", "same-origin"), headers.get("sec-fetch-mode", "navigate")
        if site not in ("same-origin", "none") and (method == "POST" or mode != "navigate"):
            return Rejection(403, "this request comes from a page of another site", "open the page itself")
        return None

    def _is_own_name(self, name: str) -> bool:
        if name in self._host_names:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return self._any_address


def _host_name(host: str) -> str:
    """Return the name or address in a `Host` header, without the port; empty if it has another form.

    The port may be another one: a tunnel from another machine forwards a port of its own choice.
    """
    if host.startswith("["):
        name, bracket, port = host[1:].partition("]")
        port = port.removeprefix(":") if port.startswith(":") else port and "x"
        is_valid = bool(bracket)
    else:
        name, _, port = host.partition(":")
        is_valid = True
    return name.lower() if is_valid and (not port or (port.isascii() and port.isdigit())) else ""
