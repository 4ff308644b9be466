"""Asking whoever looks on, and writing down what was answered."""

from __future__ import annotations

from execplan.engine.entries import ANSWERED
from execplan.engine.questions import ANSWERS_TO
from execplan.repo import author

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.book import JournalWriter
    from execplan.engine.commands.stop import StopSignal
    from execplan.engine.course import Question
    from execplan.engine.signals import Signals


class Asking:
    """The questions of one leg of a run."""

    def __init__(self, book: JournalWriter, signals: Signals, stop: StopSignal) -> None:
        self._book, self._signals, self._stop = book, signals, stop

    def ask(self, question: Question) -> str | None:
        """The answer, None where nobody gives one; a signal ends the waiting, and stops the run."""
        try:
            with self._signals.asking():
                answer = None if self._stop.is_set() else self._book.watch.ask(question)
        except KeyboardInterrupt:
            if not self._stop.is_set():
                self._stop.set("SIGINT")
            return None
        return answer if answer in ANSWERS_TO[question.why] else None

    def write(self, question: Question, answer: str, how: str) -> None:
        """Write an answer down; raises ExecplanError."""
        self.record(self._book, question, answer, how)

    @staticmethod
    def record(book: JournalWriter, question: Question, answer: str, how: str) -> None:
        """Write an answer into a book; `how` it was given: `terminal` or `resume`. Raises ExecplanError."""
        book.write(
            ANSWERED,
            why=question.why,
            step=question.step or None,
            answer=answer,
            user=author.login(),
            session=author.session(),
            how=how,
        )
