"""The state of a task by what trackers call it."""

from __future__ import annotations

from execplan.core.plan.status_words import read_status
from execplan.exchange.exchange_plan import BEGUN, DONE, DROPPED, OPEN

_BY_MARK = {" ": OPEN, "~": BEGUN, "x": DONE, "-": DROPPED}
_WORDS = {
    "backlog": OPEN,
    "triage": OPEN,
    "new": OPEN,
    "selected for development": OPEN,
    "review": BEGUN,
    "hooked": BEGUN,
    "pinned": BEGUN,
    "resolved": DONE,
    "fixed": DONE,
    "duplicate": DROPPED,
    "won't fix": DROPPED,
    "declined": DROPPED,
    "not planned": DROPPED,
    "tombstone": DROPPED,
    "wont do": DROPPED,
}
"""Names that trackers give, and plans don't."""


def state_of(status: str) -> str | None:
    """Return the state of a task that a status in any language means, or None if it isn't known."""
    name = " ".join(status.casefold().replace("_", " ").split())
    if name in _WORDS:
        return _WORDS[name]
    meaning = read_status(status)
    return _BY_MARK.get(meaning.mark) if meaning is not None else None


class StatusReader:
    """Reads the statuses of a file, and collects those that aren't known."""

    def __init__(self) -> None:
        self._unknown: dict[str, int] = {}

    def read(self, status: str, *, is_done: bool = False) -> str:
        """Return the state of a task by its status; one that isn't known means begun, or done if `is_done`."""
        if not status.strip():
            return DONE if is_done else OPEN
        state = state_of(status)
        if state is None:
            state = DONE if is_done else BEGUN
            if not is_done:
                self._unknown[status] = self._unknown.get(status, 0) + 1
        return state

    def notes(self) -> tuple[str, ...]:
        """Return a sentence about each status that isn't known."""
        return tuple([f"the status {status!r} isn't known, and counts as in progress" for status in self._unknown])
