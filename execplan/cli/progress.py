"""A progress bar on a terminal, for work that takes more than a blink; nothing elsewhere."""

from __future__ import annotations

import sys
from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress, TaskID

_MIN_PLANS = 200
"""Plans that take about a quarter of a second."""
_REFRESH_SECONDS = 0.1
"""Seconds between two pictures."""


class ProgressBar:
    """A bar that shows how many plans have been judged; it is there from the first tick on, if there are many."""

    def __init__(self, *, is_enabled: bool = True) -> None:
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
        """So many are done."""
        if not self._is_enabled or total < _MIN_PLANS or monotonic() < self._next_refresh:
            return
        if self._progress is None:
            if not sys.stderr.isatty():
                self._is_enabled = False
                return
            from rich.console import Console
            from rich.progress import Progress

            self._progress = Progress(console=Console(stderr=True), transient=True, auto_refresh=False)
            self._progress.start()
            self._task = self._progress.add_task("lint", total=total)
        if self._task is not None:
            self._progress.update(self._task, completed=completed, refresh=True)
        self._next_refresh = monotonic() + _REFRESH_SECONDS
