"""A greeting for somebody."""

from __future__ import annotations


def greeting(query: str) -> tuple[int, str]:
    """Greet who is named, as in `name=Ann`."""
    _, _, name = query.partition("name=")
    return (200, f"hello, {name}") if name else (400, "say a name: /greeting?name=Ann")
