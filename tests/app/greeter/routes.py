"""Which function answers which request."""

from __future__ import annotations

from greeter.greeting import greeting
from greeter.ping import ping

ROUTES = {
    ("GET", "/greeting"): greeting,
    ("GET", "/ping"): ping,
}


def answer(method: str, target: str) -> tuple[int, str]:
    """Return the status and the body of the response to a request."""
    path, _, query = target.partition("?")
    handler = ROUTES.get((method, path))
    if handler is not None:
        return handler(query)
    known = [each for each, there in ROUTES if there == path]
    return (405, f"use {known[0]}") if known else (404, f"not found: {path}")
