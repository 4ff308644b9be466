"""A progress bar on a terminal, for work that takes more than a blink; nothing elsewhere."""

from __future__ import annotations

import sys
from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress, TaskID

_MANY = 200
"""Plans that take about a quarter of a second."""
_PAUSE = 0.1
"""Seconds between two pictures."""


class Bar:
    """A bar that shows how many plans have been judged; it is there from the first tick on, if there are many."""

    def __init__(self, *, wanted: bool = True) -> None:
        self._wanted = wanted
        self._shown: Progress | None = None
        self._task: TaskID | None = None
        self._next = 0.0

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown is not None:
            self._shown.stop()

    def tick(self, done: int, total: int) -> None:
        """So many are done."""
        if not self._wanted or total < _MANY or monotonic() < self._next:
            return
        if self._shown is None:
            if not sys.stderr.isatty():
                self._wanted = False
                return
            from rich.console import Console
            from rich.progress import Progress

            self._shown = Progress(console=Console(stderr=True), transient=True, auto_refresh=False)
            self._shown.start()
            self._task = self._shown.add_task("lint", total=total)
        if self._task is not None:
            self._shown.update(self._task, completed=done, refresh=True)
        self._next = monotonic() + _PAUSE
