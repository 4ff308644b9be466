"""A progress bar on standard error for work on many plans or versions of plans; there is none without a terminal."""

from __future__ import annotations

import sys
from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

_MIN_TOTAL = 200
"""Minimum number of plans or versions for a progress bar; checking them takes about a quarter of a second."""
_REFRESH_SECONDS = 0.1
"""Seconds between two refreshes of the progress bar."""
_WIDTH = 30
"""Width of the bar in columns."""
_ERASE = "\r\x1b[K"
"""Erases the line of the bar."""


class ProgressBar:
    """A progress bar with a label, which appears with the first tick on a terminal."""

    def __init__(self, label: str, *, is_enabled: bool = True) -> None:
        self._label = label
        self._is_enabled = is_enabled
        self._is_shown = False
        self._next_refresh = 0.0

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_shown:
            sys.stderr.write(_ERASE)
            sys.stderr.flush()

    def tick(self, completed: int, total: int) -> None:
        """Show the number of completed items."""
        if not self._is_enabled or total < _MIN_TOTAL or monotonic() < self._next_refresh:
            return
        if not self._is_shown and not sys.stderr.isatty():
            self._is_enabled = False
            return
        full = _WIDTH * completed // total
        bar = f"[{'#' * full}{'.' * (_WIDTH - full)}]"
        sys.stderr.write(f"{_ERASE}{self._label} {bar} {100 * completed // total}%")
        sys.stderr.flush()
        self._is_shown = True
        self._next_refresh = monotonic() + _REFRESH_SECONDS
