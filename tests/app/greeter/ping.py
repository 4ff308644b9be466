"""Whether the service is there."""

from __future__ import annotations


def ping(query: str) -> tuple[int, str]:
    """Say so."""
    return 200, "pong"
