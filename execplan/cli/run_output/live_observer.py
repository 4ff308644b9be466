"""Live display of a run: finished steps above, running steps and a progress bar below."""

from __future__ import annotations

import os
import threading
from time import monotonic
from typing import TYPE_CHECKING, cast

from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from execplan.cli.error_handler import printable_line
from execplan.cli.run_output.journal_formatter import BAD, GOOD, INTERRUPTED, MUTED, PLAIN, JournalFormatter
from execplan.cli.run_output.run_observers import PromptingObserver, ResilientStdout
from execplan.core.text.message_parts import format_duration
from execplan.execution.engine.journal import journal_entries

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType
    from typing import IO, Any

    from execplan.cli.run_output.journal_formatter import StyledLine
    from execplan.execution.engine.journal.journal import RunEntry
    from execplan.execution.engine.run_state import Question

_STYLES = {GOOD: "green", BAD: "bold red", MUTED: "dim", PLAIN: ""}
_FINAL_KINDS = (journal_entries.RESULT, journal_entries.SKIPPED, journal_entries.BLOCKED, journal_entries.RECOVERED)
"""Journal entries that finish a step, unless it begins again."""
_REFRESHES_PER_SECOND = 8
_MAX_BAR_WIDTH = 24
"""Maximum width of the bar in columns."""
_MIN_BAR_WIDTH = 6
"""Minimum width in columns; below it, there is no bar."""
_SIGNS = ("▸", "…", "━", "·")
_ASCII = (">", "...", "#", ".")
"""Signs for a terminal with another encoding: a running step, cut text, and the two parts of the bar."""


class LiveObserver(PromptingObserver):
    """An observer that shows running steps with their time and last output line, redrawn several times per second."""

    def __init__(self) -> None:
        self._formatter = JournalFormatter()
        self._console = Console(
            file=cast("IO[str]", ResilientStdout()),
            force_terminal=True,
            no_color="NO_COLOR" in os.environ,
            highlight=False,
            emoji=False,
        )
        signs = _SIGNS if self._console.encoding.lower().startswith("utf") else _ASCII
        self._running_sign, self._ellipsis, self._full_sign, self._empty_sign = signs
        self._lock = threading.RLock()
        self._started_at = monotonic()
        self._running: dict[str, tuple[float, int, str]] = {}
        """Start time, attempt number and last output line by step."""
        self._finished_steps: set[str] = set()
        self._total_steps = 0
        self._display = self._create_display()

    def __enter__(self) -> LiveObserver:
        self._display.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._display.stop()

    def warn(self, warning: str) -> bool:
        """Print a warning above the live display."""
        self._console.print(Text(printable_line(f"execplan: warning: {warning}")), soft_wrap=True)
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
            self._console.print(_rich_text(line), soft_wrap=True)

    def line(self, step: str, text: str, *, error: bool) -> None:
        """Update the last output line of a step."""
        with self._lock:
            self._formatter.add_output_line(step, text)
            if step in self._running and text.strip():
                self._running[step] = (*self._running[step][:2], printable_line(text.strip()))

    def ask(self, question: Question) -> str | None:
        """Ask a question while the live display is stopped."""
        self._display.stop()
        try:
            return super().ask(question)
        finally:
            self._display = self._create_display()
            self._display.start()

    def _create_display(self) -> Live:
        return Live(
            console=self._console, get_renderable=self._render, refresh_per_second=_REFRESHES_PER_SECOND, transient=True
        )

    def _render(self) -> Group:
        """Render the display: up to two lines for each running step, and the progress."""
        with self._lock:
            rows = [row for step in list(self._running) for row in self._rows(step)]
            done_count = len(self._finished_steps)
        rows = rows[-max(self._console.height - 2, 1) :]
        return Group(*rows, self._progress_line(done_count)) if self._total_steps else Group(*rows)

    def _progress_line(self, done_count: int) -> Text:
        """Render the progress, with a bar if there is room."""
        count = f"{done_count}/{self._total_steps} steps, {format_duration(monotonic() - self._started_at)}"
        width = min(_MAX_BAR_WIDTH, self._console.width - len(count) - 2)
        if width < _MIN_BAR_WIDTH:
            return Text(self._cut_to_width(count))
        full = width * done_count // self._total_steps
        return Text.assemble((self._full_sign * full, "green"), (self._empty_sign * (width - full), "dim"), f" {count}")

    def _rows(self, step: str) -> Iterator[Text]:
        started_at, attempt, last_line = self._running[step]
        attempt_text = f", attempt {attempt}" if attempt > 1 else ""
        yield Text(
            self._cut_to_width(
                f"{self._running_sign} {self._formatter.step_name(step)} ({format_duration(monotonic() - started_at)}{attempt_text}{self._formatter.worker_text(step)})"
            )
        )
        if last_line:
            yield Text(self._cut_to_width(f"    {last_line}"), style="dim")

    def _cut_to_width(self, text: str) -> str:
        """Cut a line to the width of the terminal."""
        width = self._console.width
        if cell_len(text) <= width:
            return text
        return set_cell_size(text, max(width - len(self._ellipsis), 0)) + self._ellipsis


def _rich_text(line: StyledLine) -> Text:
    return Text(line.text, style=_STYLES[line.tone])
