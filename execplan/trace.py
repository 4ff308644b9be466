"""What is read, locked, written and run, for whoever asked with `-v`; and what everybody is warned of."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_listeners: list[Callable[[str], None]] = []
warnings: list[str] = []
"""What a verb should warn of that happened before it began, or beside it."""


def add_listener(listener: Callable[[str], None]) -> None:
    """Have every line told to a function from now on."""
    _listeners.append(listener)


def log(line: str) -> None:
    """Tell what is being done."""
    for listener in _listeners:
        listener(line)
