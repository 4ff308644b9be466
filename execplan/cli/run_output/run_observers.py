"""Who looks on while a run goes on where there is no terminal, or nothing to be seen: silence, lines, or records."""

from __future__ import annotations

import io
import sys
import termios
import threading
from typing import TYPE_CHECKING

from execplan.cli.error_handler import discard_output, dump_json, printable_line
from execplan.cli.run_output.journal_formatter import JournalFormatter
from execplan.engine.journal import journal_entries
from execplan.engine.run_observer import RunObserver
from execplan.engine.run_questions import ALLOWED_ANSWERS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TextIO

    from execplan.engine.journal.journal import Entry
    from execplan.engine.run_state import Question


class ResilientStdout(io.TextIOBase):
    """Standard output, flushed at once; what can't be written there any more goes nowhere."""

    def __init__(self) -> None:
        self._stream: TextIO = sys.stdout

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a plain attribute there, which nobody can set
        """That of the stream."""
        return self._stream.encoding or "ascii"

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """That of the stream."""
        return self._stream.fileno()

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, text: str) -> int:
        """Write text, escaped where the stream has no characters for it."""
        try:
            return self._stream.write(text)
        except OSError:
            self._discard_output()
            return len(text)

    def flush(self) -> None:
        """Have it written."""
        try:
            self._stream.flush()
        except OSError:
            self._discard_output()

    def _discard_output(self) -> None:
        """Let all that is still to be written go nowhere: the exit status stays that of the run."""
        discard_output()


LATER = "later"
"""What nobody has to think about: the run is paused, and can be resumed."""
_ANSWER_TEXTS = {
    journal_entries.GO: "go on",
    journal_entries.AGAIN: "run the step again",
    journal_entries.SKIP: "go on without the step",
    journal_entries.STOP: "end the run here, as failed",
    LATER: "leave the run as it is; execplan resume asks again",
}
_UNKNOWN_GO_TEXT = "the step has done its work: go on"
"""What `go` is about a step of which nobody knows whether it has."""


def can_ask() -> bool:
    """Whether somebody sits there."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def ask_question(question: Question, answers: tuple[str, ...]) -> str | None:
    """The answer, one of these; None for later, and when the terminal goes away."""
    try:
        return _prompt_for_answer(question, answers)
    except OSError:
        return None


def _prompt_for_answer(question: Question, answers: tuple[str, ...]) -> str | None:
    choices = (*answers, LATER)
    print(f"\n{printable_line(question.words)}")
    for choice in choices:
        text = (
            _UNKNOWN_GO_TEXT
            if (question.why, choice) == (journal_entries.UNKNOWN, journal_entries.GO)
            else _ANSWER_TEXTS[choice]
        )
        print(f"  {choice:5}  {text}")
    termios.tcflush(sys.stdin, termios.TCIFLUSH)  # what was typed before the question is no answer to it
    while True:
        print(f"{'/'.join(answers)}? [{LATER}] ", end="", flush=True)
        line = _read_line()
        typed_text = line.strip().lower()
        matches = [choice for choice in choices if typed_text and choice.startswith(typed_text)]
        if not typed_text or matches == [LATER]:
            return None
        if len(matches) == 1:
            return matches[0]


def _read_line() -> str:
    """What is typed; behind what ends it in another way there is a line end too."""
    line = ""
    try:
        line = sys.stdin.readline()
    finally:
        if not line.endswith("\n"):
            print(flush=True)
    return line


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
        if question.why in journal_entries.REVISION_REASONS or not can_ask():
            return None
        return ask_question(question, ALLOWED_ANSWERS[question.why])


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
