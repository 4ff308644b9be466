"""The footer of the board: help and quit come first, because a narrow terminal cuts off the last keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Footer

if TYPE_CHECKING:
    from textual.app import ComposeResult

_FIRST_ACTIONS = ("help", "close")


class KeyFooter(Footer):
    """Shows the keys of the screen after those for help and to quit."""

    def compose(self) -> ComposeResult:
        """Build the list of keys."""
        yield from sorted(super().compose(), key=lambda key: getattr(key, "action", "") not in _FIRST_ACTIONS)
