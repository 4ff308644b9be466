"""Who looks on while a run goes on where there is no terminal, or nothing to be seen: silence, lines, or records."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

from execplan.cli.door import dump_json, printable_line
from execplan.cli.running.steady import ResilientStdout
from execplan.cli.running.telling import JournalFormatter
from execplan.engine import entries
from execplan.engine.questions import ALLOWED_ANSWERS
from execplan.engine.watch import RunObserver

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from execplan.engine.course import Question
    from execplan.engine.journal import Entry


class PromptingObserver(RunObserver):
    """One who shows nothing while the run goes on, and asks where somebody sits at a terminal.

    A new revision is not asked for: it takes an approval.
    """

    def warn(self, warning: str) -> bool:
        """Print it on standard error."""
        print(f"execplan: warning: {printable_line(warning)}", file=sys.stderr, flush=True)
        return True

    def ask(self, question: Question) -> str | None:
        """The answer that is typed; None for later, and where nobody can be asked."""
        from execplan.cli.running import asking

        if question.why in entries.REVISION_REASONS or not asking.can_ask():
            return None
        return asking.ask_question(question, ALLOWED_ANSWERS[question.why])


class LineObserver(PromptingObserver):
    """Lines as they come, for a pipe, a file or a log."""

    def __init__(self) -> None:
        self._formatter = JournalFormatter()
        self._output = ResilientStdout()
        self._lock = threading.Lock()

    def begin(self, run: str, steps: Sequence[Any]) -> None:
        """Know the steps by their numbers."""
        self._formatter.add_steps(steps)

    def entry(self, entry: Entry) -> None:
        """Print what has happened."""
        with self._lock:
            for line in self._formatter.format_entry(entry):
                self._output.write(f"{line.text}\n")
            self._output.flush()

    def line(self, step: str, text: str, *, error: bool) -> None:
        """Keep it: it is shown if the step fails."""
        with self._lock:
            self._formatter.add_output_line(step, text)


class JsonLinesObserver(RunObserver):
    """A line of JSON for each entry."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._run = ""
        self._output = ResilientStdout()
        self._lock = threading.Lock()

    def begin(self, run: str, steps: Sequence[Any]) -> None:
        """Know which run it is."""
        self._run = run

    def entry(self, entry: Entry) -> None:
        """Print it."""
        entry_json = {"number": entry.number, "kind": entry.kind, "at": entry.at, **entry.fields}
        line = {"schema": "execplan/1", "kind": self._kind, "run": self._run, "entry": entry_json}
        with self._lock:
            self._output.write(dump_json(line) + "\n")
            self._output.flush()
