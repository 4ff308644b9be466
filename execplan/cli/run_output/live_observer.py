"""Live display of a run: finished steps above, running steps and a progress bar below."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from io import TextIOBase
from shutil import get_terminal_size
from time import monotonic
from types import TracebackType
from typing import IO, Any

from execplan.cli.error_handler import printable_line
from execplan.cli.output.terminal_layout import paint
from execplan.cli.output.terminal_text import printable_text
from execplan.cli.output.text_width import cut_segments
from execplan.cli.run_output.journal_formatter import BAD, GOOD, INTERRUPTED, MUTED, PLAIN, JournalFormatter
from execplan.cli.run_output.run_observers import PromptingObserver, ResilientStdout
from execplan.core.text.message_parts import format_duration
from execplan.execution.engine.journal import journal_entries
from execplan.execution.engine.journal.journal import RunEntry
from execplan.execution.engine.run_state import Question

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


_STYLES = {GOOD: "green", BAD: "bold red", MUTED: "dim", PLAIN: ""}
_FINAL_KINDS = (journal_entries.RESULT, journal_entries.SKIPPED, journal_entries.BLOCKED, journal_entries.RECOVERED)
"""Journal entries that finish a step, unless it begins again."""
_MAX_BAR_WIDTH = 24
"""Maximum width of the bar in columns."""
_MIN_BAR_WIDTH = 6
"""Minimum width in columns; below it, there is no bar."""
_SIGNS = ("▸", "━", "·")
_ASCII = (">", "#", ".")
"""Signs for a terminal with another encoding: a running step, and the two parts of the bar."""


class LiveObserver(PromptingObserver):
    """An observer that shows running steps with their time and last output line, redrawn several times per second."""

    def __init__(self) -> None:
        self._formatter = JournalFormatter()
        output = ResilientStdout()
        signs = _SIGNS if output.encoding.lower().startswith("utf") else _ASCII
        self._running_sign, self._full_sign, self._empty_sign = signs
        self._lock = threading.RLock()
        self._started_at = monotonic()
        self._running: dict[str, tuple[float, int, str]] = {}
        """Start time, attempt number and last output line by step."""
        self._finished_steps: set[str] = set()
        self._total_steps = 0
        self._region = LiveRegion(output, self._render)

    def __enter__(self) -> LiveObserver:
        self._region.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._region.stop()

    def warn(self, warning: str) -> bool:
        """Print a warning above the live display."""
        self._region.print_line(printable_line(f"execplan: warning: {warning}"))
        return True

    def begin(self, run: str, steps: Sequence[Any]) -> None:
        """Set the steps that the progress bar counts."""
        with self._lock:
            self._formatter.add_steps(steps)
            self._total_steps = len(steps)

    def entry(self, entry: RunEntry) -> None:
        """Print an entry above the display, and update the running steps."""
        with self._lock:
            step = str(entry.fields.get("step") or "")
            if entry.kind == journal_entries.INTENT:
                self._finished_steps.discard(step)
                self._running[step] = (monotonic(), entry.fields["attempt"], "")
            elif entry.kind in _FINAL_KINDS:
                self._running.pop(step, None)
                if entry.fields.get("cause") != INTERRUPTED:
                    self._finished_steps.add(step)
            elif entry.kind == journal_entries.RETAKEN:
                self._running.pop(step, None)
            lines = self._formatter.format_entry(entry)
        for line in lines:
            self._region.print_line(_painted([(line.text, _STYLES[line.tone])]))

    def line(self, step: str, text: str, *, error: bool) -> None:
        """Update the last output line of a step."""
        with self._lock:
            self._formatter.add_output_line(step, text)
            if step in self._running and text.strip():
                self._running[step] = (*self._running[step][:2], printable_line(text.strip()))

    def ask(self, question: Question) -> str | None:
        """Ask a question while the live display is stopped."""
        self._region.stop()
        try:
            return super().ask(question)
        finally:
            self._region.start()

    def _render(self) -> list[str]:
        """Return the lines of the display: up to two for each running step, and the progress."""
        columns, height = get_terminal_size()
        with self._lock:
            rows = [row for step in list(self._running) for row in self._rows(step)]
            done_count = len(self._finished_steps)
        rows = rows[-max(height - 2, 1) :]
        if self._total_steps:
            rows.append(self._progress(done_count, columns))
        return [_painted(cut_segments(row, columns)) for row in rows]

    def _progress(self, done_count: int, columns: int) -> list[tuple[str, str]]:
        """Return the progress, with a bar if there is room."""
        count = f"{done_count}/{self._total_steps} steps, {format_duration(monotonic() - self._started_at)}"
        width = min(_MAX_BAR_WIDTH, columns - len(count) - 2)
        if width < _MIN_BAR_WIDTH:
            return [(count, "")]
        full = width * done_count // self._total_steps
        return [(self._full_sign * full, "green"), (self._empty_sign * (width - full), "dim"), (f" {count}", "")]

    def _rows(self, step: str) -> Iterator[list[tuple[str, str]]]:
        started_at, attempt, last_line = self._running[step]
        attempt_text = f", attempt {attempt}" if attempt > 1 else ""
        details = f"{format_duration(monotonic() - started_at)}{attempt_text}{self._formatter.worker_text(step)}"
        yield [(f"{self._running_sign} {self._formatter.step_name(step)} ({details})", "")]
        if last_line:
            yield [(f"    {last_line}", "dim")]


def _painted(segments: Sequence[tuple[str, str]]) -> str:
    """Return a line with its colors, ready for the terminal."""
    return printable_text("".join([paint(text, style) for text, style in segments]))
