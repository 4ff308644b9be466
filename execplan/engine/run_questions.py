"""What a run asks, when, and what may be answered."""

from __future__ import annotations

from execplan.engine.journal.journal_entries import (
    AGAIN,
    ANSWERED,
    APPROVE,
    ASK,
    CHECKPOINT,
    CONFIRM,
    COVERED,
    GO,
    SKIP,
    STOP,
    UNKNOWN,
)
from execplan.engine.run_state import Question
from execplan.errors import USAGE, ExecplanError
from execplan.execution import states
from execplan.plan_store import author

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.commands.stop_signal import StopSignal
    from execplan.engine.journal.journal_writer import JournalWriter
    from execplan.engine.plain_document import Step
    from execplan.engine.run_state import RunState
    from execplan.engine.signal_handlers import SignalHandlers
    from execplan.execution.approval_document import Approval


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


ALLOWED_ANSWERS = {
    CHECKPOINT: (GO, STOP),
    CONFIRM: (GO, SKIP, STOP),
    ASK: (AGAIN, SKIP, STOP),
    UNKNOWN: (GO, AGAIN, SKIP, STOP),
    APPROVE: (GO, STOP),
    COVERED: (GO, STOP),
}
"""By why it is asked, what may be answered; a plain `resume` answers with the first, but where nobody knows what happened."""


def resolve_answer(question: Question, answer: str | None) -> str | None:
    """The answer that a resume gives, None where it has to be said; raises ExecplanError for one that does not fit."""
    allowed_answers = ALLOWED_ANSWERS[question.why]
    if answer is None:
        return None if question.why == UNKNOWN else allowed_answers[0]
    if answer not in allowed_answers:
        raise ExecplanError(
            "bad-answer",
            f"{answer} is no answer to: {question.words}",
            exit=USAGE,
            hint=f"one of these is: --answer {', --answer '.join(allowed_answers)}",
            candidates=allowed_answers,
        )
    return answer


def checkpoint_question(run_state: RunState, interval: int) -> Question | None:
    """The question behind a step, where so many are done since the last time, or a step is marked, and nobody has answered."""
    last_answered = max([entry.number for entry in run_state.answers if entry.fields["why"] == CHECKPOINT], default=0)
    completed_steps = sorted(
        [
            (attempts[-1].entry, step)
            for step in run_state.document.steps
            if run_state.status_of[step.id] == states.COMPLETED and (attempts := run_state.attempts.get(step.id))
        ],
        key=lambda pair: pair[0],
    )
    checkpoints = [
        (number, step)
        for position, (number, step) in enumerate(completed_steps, 1)
        if step.checkpoint or not position % interval
    ]
    if not checkpoints or checkpoints[-1][0] <= last_answered:
        return None
    step = checkpoints[-1][1]
    reason = f"{step.id} is a checkpoint" if step.checkpoint else f"{len(completed_steps)} steps are done"
    return Question(CHECKPOINT, step.id, f"{reason}: go on?")


def confirm_question(run_state: RunState, step: Step) -> Question | None:
    """The question before a step that wants one, and that nobody has answered."""
    if not step.confirm:
        return None
    answers = [
        entry for entry in run_state.answers if (entry.fields["why"], entry.fields["step"]) == (CONFIRM, step.id)
    ]
    return None if answers else Question(CONFIRM, step.id, f"{step.id} asks before it is run: {step.description}")


def failure_question(step: Step, reason: str) -> Question:
    """The question about a step that has failed."""
    return Question(ASK, step.id, f"{step.id} has failed: {reason}")


def unknown_outcome_question(step: str) -> Question:
    """The question about a step that was cut short and may run only once."""
    text = f"{step} was cut short, and nobody knows whether it has done its work; it may run only once"
    return Question(UNKNOWN, step, text)


def approval_question(revision: int) -> Question:
    """The question about a new revision."""
    return Question(APPROVE, "", f"revision {revision} is to be approved")


def coverage_question(revision: int, approval: Approval) -> Question:
    """What is said of a new revision that an earlier approval covers."""
    return Question(COVERED, "", f"revision {revision} needs no new approval: {coverage_reason(approval)}")


def coverage_reason(approval: Approval) -> str:
    """Why a revision needs no new approval."""
    return (
        f"all its steps were approved by {approval.approver} as revision {approval.revision} ({approval.digest[:12]})"
    )
