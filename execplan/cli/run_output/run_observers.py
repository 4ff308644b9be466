"""Observers of a run without a live display: silent, with text lines, or with JSON lines."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from execplan.cli.answer import Call
from execplan.cli.error_handler import discard_output, dump_json, printable_line
from execplan.cli.run_output.journal_formatter import JournalFormatter
from execplan.core.plan_store.author import can_ask
from execplan.execution.engine.journal import journal_entries
from execplan.execution.engine.journal.journal import RunEntry
from execplan.execution.engine.run_observer import RunObserver
from execplan.execution.engine.run_questions import explain_answers, is_answered_by_resume
from execplan.execution.engine.run_state import Question


class ResilientStdout(io.TextIOBase):
    """A wrapper of standard output that discards all output after a write error."""

    def __init__(self) -> None:
        self._stream: TextIO = sys.stdout

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a plain attribute there, which nobody can set
        """Encoding of the wrapped stream."""
        return self._stream.encoding or "ascii"

    def isatty(self) -> bool:
        """Return whether the stream is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """Return the descriptor of the wrapped stream."""
        return self._stream.fileno()

    def writable(self) -> bool:
        """Return True, because output is always accepted."""
        return True

    def write(self, text: str) -> int:
        """Write text, escaped by the stream where its encoding lacks a character."""
        try:
            return self._stream.write(text)
        except OSError:
            self._discard_output()
            return len(text)

    def flush(self) -> None:
        """Flush the stream, or discard its output on an error."""
        try:
            self._stream.flush()
        except OSError:
            self._discard_output()

    def _discard_output(self) -> None:
        """Redirect the remaining output to /dev/null, so that the exit status is still that of the run."""
        discard_output()


LATER = "later"
"""Answer that leaves the run paused, to be resumed later."""
_LATER_TEXT = "leave the run paused; execplan resume "


def ask_question(question: Question, explanations: Mapping[str, str]) -> str | None:
    """Ask a question and return one of the answers that are explained; None for later, or if the terminal is gone."""
    try:
        return _prompt_for_answer(question, explanations)
    except OSError:
        return None


def _prompt_for_answer(question: Question, explanations: Mapping[str, str]) -> str | None:
    print(f"\n{printable_line(question.words)}")
    later_text = f"{_LATER_TEXT}{'continues it' if is_answered_by_resume(question.why) else 'asks again'}"
    choices = {**explanations, LATER: later_text}
    for choice, text in choices.items():
        print(f"  {choice:5}  {text}")
    if sys.platform != "win32":
        import termios

        termios.tcflush(sys.stdin, termios.TCIFLUSH)  # input typed before the question is not an answer
    while True:
        print(f"{'/'.join(explanations)}? [{LATER}] ", end="", flush=True)
        line = _read_line()
        typed_text = line.strip().lower()
        matches = [choice for choice in choices if typed_text and choice.startswith(typed_text)]
        if not typed_text or matches == [LATER]:
            return None
        if len(matches) == 1:
            return matches[0]


def _read_line() -> str:
    """Read a line from the terminal; if the input ends without a line end, print one."""
    line = ""
    try:
        line = sys.stdin.readline()
    finally:
        if not line.endswith("\n"):
            print(flush=True)
    return line


class PromptingObserver(RunObserver):
    """An observer that shows only warnings and asks questions on a terminal.

    It does not ask about a new revision, because that needs an approval.
    """

    def warn(self, warning: str) -> bool:
        """Print a warning to standard error."""
        print(f"execplan: warning: {printable_line(warning)}", file=sys.stderr, flush=True)
        return True

    def ask(self, question: Question) -> str | None:
        """Return the user's answer; None for later, or if no one can be asked."""
        if question.why in journal_entries.REVISION_REASONS or not can_ask():
            return None
        return ask_question(question, explain_answers(question, stop_rolls_back=self.stop_rolls_back))


class LineObserver(PromptingObserver):
    """An observer that prints text lines as they come, for a pipe, a file or a log."""

    def __init__(self) -> None:
        self._formatter = JournalFormatter()
        self._output = ResilientStdout()
        self._lock = threading.Lock()

    def begin(self, run: str, steps: Sequence[Any]) -> None:
        """Register the steps with their numbers."""
        self._formatter.add_steps(steps)

    def entry(self, entry: RunEntry) -> None:
        """Print the lines for a journal entry."""
        with self._lock:
            for line in self._formatter.format_entry(entry):
                self._output.write(f"{line.text}\n")
            self._output.flush()

    def line(self, step: str, text: str, *, error: bool) -> None:
        """Remember an output line, to show it if the step fails."""
        with self._lock:
            self._formatter.add_output_line(step, text)


class JsonLinesObserver(RunObserver):
    """An observer that prints a line of JSON for each journal entry."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._run = ""
        self._output = ResilientStdout()
        self._lock = threading.Lock()

    def begin(self, run: str, steps: Sequence[Any]) -> None:
        """Remember the ID of the run."""
        self._run = run

    def entry(self, entry: RunEntry) -> None:
        """Print a journal entry as a line of JSON."""
        entry_json = {"number": entry.number, "kind": entry.kind, "at": entry.at, **entry.fields}
        line = {"schema": "execplan/1", "kind": self._kind, "run": self._run, "entry": entry_json}
        with self._lock:
            self._output.write(dump_json(line) + "\n")
            self._output.flush()


def plain_observer(call: Call, kind: str, *, stream: bool = False) -> RunObserver:
    """Return the observer of a run without a live display; `stream`: print lines of JSON."""
    if stream:
        return JsonLinesObserver(kind)
    if call.as_json:
        return RunObserver()
    return PromptingObserver() if call.quiet else LineObserver()
