"""Asking whoever looks on, and writing down what was answered."""

from __future__ import annotations

from execplan.engine.entries import ANSWERED
from execplan.engine.questions import ALLOWED_ANSWERS
from execplan.repo import author

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.book import JournalWriter
    from execplan.engine.commands.stop import StopSignal
    from execplan.engine.course import Question
    from execplan.engine.signals import SignalHandlers


class Prompter:
    """The questions of one leg of a run."""

    def __init__(self, journal_writer: JournalWriter, signals: SignalHandlers, stop: StopSignal) -> None:
        self._journal_writer, self._signals, self._stop = journal_writer, signals, stop

    def ask(self, question: Question) -> str | None:
        """The answer, None where nobody gives one; a signal ends the waiting, and stops the run."""
        try:
            with self._signals.interruptible_prompt():
                answer = None if self._stop.is_set() else self._journal_writer.observer.ask(question)
        except KeyboardInterrupt:
            if not self._stop.is_set():
                self._stop.set("SIGINT")
            return None
        return answer if answer in ALLOWED_ANSWERS[question.why] else None

    def write_answer(self, question: Question, answer: str, source: str) -> None:
        """Write an answer down; raises ExecplanError."""
        self.record_answer(self._journal_writer, question, answer, source)

    @staticmethod
    def record_answer(journal_writer: JournalWriter, question: Question, answer: str, source: str) -> None:
        """Write an answer into a book; `source` it was given: `terminal` or `resume`. Raises ExecplanError."""
        journal_writer.write(
            ANSWERED,
            why=question.why,
            step=question.step or None,
            answer=answer,
            user=author.system_login(),
            session=author.session_id(),
            how=source,
        )
