"""Messages about edits, kept until the page after the edit shows them."""

from __future__ import annotations

import secrets

_MAX_NOTICES = 100
"""Number of edits whose messages are kept; a browser that never shows the page leaves them."""


class Notices:
    """Messages by a random ID, which the address of the next page contains; each is shown once."""

    def __init__(self) -> None:
        self._messages: dict[str, tuple[str, ...]] = {}

    def add(self, messages: tuple[str, ...]) -> str:
        """Keep messages and return their ID."""
        notice_id = secrets.token_hex(8)
        self._messages[notice_id] = messages
        while len(self._messages) > _MAX_NOTICES:
            del self._messages[next(iter(self._messages))]
        return notice_id

    def take(self, notice_id: str) -> tuple[str, ...]:
        """Return and forget messages; none if the ID is unknown."""
        return self._messages.pop(notice_id, ())
