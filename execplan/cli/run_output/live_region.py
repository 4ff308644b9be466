"""Lines at the bottom of a terminal that are redrawn several times per second, below those that stay."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import TextIOBase
    from typing import IO

_SECONDS = 1 / 8
"""Seconds between two redraws."""
_HIDE_CURSOR, _SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
_ERASE_LINE, _UP_AND_ERASE = "\r\x1b[K", "\x1b[1A\x1b[K"


class LiveRegion:
    """A region of lines, each at most as wide as the terminal; it is drawn between `start` and `stop`."""

    def __init__(self, output: IO[str] | TextIOBase, render: Callable[[], list[str]]) -> None:
        self._output, self._render = output, render
        self._lock = threading.Lock()
        self._drawn_lines = 0
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Draw the region, and redraw it in a thread."""
        self._stopped = threading.Event()
        self._write(_HIDE_CURSOR)
        self._redraw()
        self._thread = threading.Thread(target=self._keep_drawing, args=(self._stopped,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Remove the region from the terminal."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
        with self._lock:
            self._write(self._erasure() + _SHOW_CURSOR)

    def print_line(self, line: str) -> None:
        """Print a line above the region."""
        self._redraw(f"{line}\n")

    def _keep_drawing(self, stopped: threading.Event) -> None:
        while not stopped.wait(_SECONDS):
            self._redraw()

    def _redraw(self, above: str = "") -> None:
        with self._lock:
            lines = [] if self._stopped.is_set() else self._render()
            text = self._erasure() + above + "\n".join(lines)
            self._drawn_lines = len(lines)
            self._write(text)

    def _erasure(self) -> str:
        """Return what erases the region, and forget it."""
        count, self._drawn_lines = self._drawn_lines, 0
        return _ERASE_LINE + _UP_AND_ERASE * (count - 1) if count else ""

    def _write(self, text: str) -> None:
        self._output.write(text)
        self._output.flush()
