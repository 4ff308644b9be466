"""Trace messages for `-v` about files, locks and programs, and warnings for all users."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_listeners: list[Callable[[str], None]] = []
warnings: list[str] = []
"""Warnings for a command to print about events before it started or outside it."""


def add_listener(listener: Callable[[str], None]) -> None:
    """Add a function that receives every trace message from now on."""
    _listeners.append(listener)


def log(line: str) -> None:
    """Send a message about the current action to all listeners."""
    for listener in _listeners:
        listener(line)
