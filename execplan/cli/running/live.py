"""The live view of a run: what has ended stands above, what runs is below it with a bar."""

from __future__ import annotations

import os
import threading
from time import monotonic
from typing import TYPE_CHECKING, cast

from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group
from rich.live import Live as Picture
from rich.text import Text

from execplan.cli.door import shown
from execplan.cli.running.phrases import lasted
from execplan.cli.running.steady import Steady
from execplan.cli.running.telling import ASIDE, BAD, GOOD, INTERRUPTED, PLAIN, Teller
from execplan.cli.running.watches import Asker
from execplan.engine import entries

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType
    from typing import IO, Any

    from execplan.cli.running.telling import Line
    from execplan.engine.course import Question
    from execplan.engine.journal import Entry

_STYLES = {GOOD: "green", BAD: "bold red", ASIDE: "dim", PLAIN: ""}
_OVER = (entries.RESULT, entries.SKIPPED, entries.BLOCKED, entries.RECOVERED)
"""After these a step is not tried again, unless it is begun again."""
_PER_SECOND = 8
_BAR = 24
"""Columns of the bar at most."""
_LEAST = 6
"""Columns below which there is none."""
_SIGNS = ("▸", "…", "━", "·")
_ASCII = (">", "...", "#", ".")
"""For a terminal of another encoding: before what runs, behind what is cut, and the two parts of the bar."""


class Live(Asker):
    """What runs, with its time and the last line that it has printed; drawn anew several times a second."""

    def __init__(self) -> None:
        self._teller = Teller()
        self._console = Console(
            file=cast("IO[str]", Steady()),
            force_terminal=True,
            no_color="NO_COLOR" in os.environ,
            highlight=False,
            emoji=False,
        )
        signs = _SIGNS if self._console.encoding.lower().startswith("utf") else _ASCII
        self._mark, self._cut, self._full, self._empty = signs
        self._lock = threading.RLock()
        self._begun = monotonic()
        self._running: dict[str, tuple[float, int, str]] = {}
        """By step, since when, which attempt it is, and its last line."""
        self._over: set[str] = set()
        self._total = 0
        self._picture = self._drawn()

    def __enter__(self) -> Live:
        self._picture.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._picture.stop()

    def warn(self, warning: str) -> bool:
        """Show it above the picture."""
        self._console.print(Text(shown(f"execplan: warning: {warning}")), soft_wrap=True)
        return True

    def begin(self, run: str, steps: Sequence[Any]) -> None:
        """The steps that are counted."""
        with self._lock:
            self._teller.begin(steps)
            self._total = len(steps)

    def entry(self, entry: Entry) -> None:
        """Show what has happened above, and what runs now."""
        with self._lock:
            step = str(entry.fields.get("step") or "")
            if entry.kind == entries.INTENT:
                self._over.discard(step)
                self._running[step] = (monotonic(), entry.fields["attempt"], "")
            elif entry.kind in _OVER:
                self._running.pop(step, None)
                if entry.fields.get("cause") != INTERRUPTED:
                    self._over.add(step)
            elif entry.kind == entries.RETAKEN:
                self._running.pop(step, None)
            lines = self._teller.tell(entry)
        for line in lines:
            self._console.print(_text(line), soft_wrap=True)

    def line(self, step: str, text: str, *, error: bool) -> None:
        """The last line of what a step prints."""
        with self._lock:
            self._teller.line(step, text)
            if step in self._running and text.strip():
                self._running[step] = (*self._running[step][:2], shown(text.strip()))

    def ask(self, question: Question) -> str | None:
        """Ask with the picture taken away."""
        self._picture.stop()
        try:
            return super().ask(question)
        finally:
            self._picture = self._drawn()
            self._picture.start()

    def _drawn(self) -> Picture:
        return Picture(console=self._console, get_renderable=self._now, refresh_per_second=_PER_SECOND, transient=True)

    def _now(self) -> Group:
        """The picture as it is now: two lines for each step that runs, and how far it all is."""
        with self._lock:
            rows = [row for step in list(self._running) for row in self._rows(step)]
            done = len(self._over)
        rows = rows[-max(self._console.height - 2, 1) :]
        return Group(*rows, self._far(done)) if self._total else Group(*rows)

    def _far(self, done: int) -> Text:
        """How far it all is, with a bar where there is room."""
        count = f"{done}/{self._total} steps, {lasted(monotonic() - self._begun)}"
        width = min(_BAR, self._console.width - len(count) - 2)
        if width < _LEAST:
            return Text(self._fitting(count))
        full = width * done // self._total
        return Text.assemble((self._full * full, "green"), (self._empty * (width - full), "dim"), f" {count}")

    def _rows(self, step: str) -> Iterator[Text]:
        since, attempt, last = self._running[step]
        again = f", attempt {attempt}" if attempt > 1 else ""
        yield Text(self._fitting(f"{self._mark} {self._teller.name(step)} ({lasted(monotonic() - since)}{again})"))
        if last:
            yield Text(self._fitting(f"    {last}"), style="dim")

    def _fitting(self, text: str) -> str:
        """A line that is cut to the width of the terminal."""
        width = self._console.width
        if cell_len(text) <= width:
            return text
        return set_cell_size(text, max(width - len(self._cut), 0)) + self._cut


def _text(line: Line) -> Text:
    return Text(line.text, style=_STYLES[line.tone])
