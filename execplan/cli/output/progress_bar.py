"""A progress bar on standard error for work on many plans or versions of plans; there is none without a terminal."""

from __future__ import annotations

import sys
from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress, TaskID

_MIN_TOTAL = 200
"""Minimum number of plans or versions for a progress bar; checking them takes about a quarter of a second."""
_REFRESH_SECONDS = 0.1
"""Seconds between two refreshes of the progress bar."""


class ProgressBar:
    """A progress bar with a label, which appears with the first tick on a terminal."""

    def __init__(self, label: str, *, is_enabled: bool = True) -> None:
        self._label = label
        self._is_enabled = is_enabled
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._next_refresh = 0.0

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def tick(self, completed: int, total: int) -> None:
        """Show the number of completed items."""
        if not self._is_enabled or total < _MIN_TOTAL or monotonic() < self._next_refresh:
            return
        if self._progress is None:
            if not sys.stderr.isatty():
                self._is_enabled = False
                return
            from rich.console import Console
            from rich.progress import Progress

            self._progress = Progress(console=Console(stderr=True), transient=True, auto_refresh=False)
            self._progress.start()
            self._task = self._progress.add_task(self._label, total=total)
        if self._task is not None:
            self._progress.update(self._task, completed=completed, refresh=True)
        self._next_refresh = monotonic() + _REFRESH_SECONDS
