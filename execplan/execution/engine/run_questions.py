"""Questions of a run: when they are asked, and the allowed answers."""

from __future__ import annotations

from time import monotonic

from execplan.core.errors import ExecplanError
from execplan.core.plan_store.author import can_ask
from execplan.execution import states
from execplan.execution.attributes import MANUAL
from execplan.execution.engine.journal.journal_entries import (
    AGAIN,
    ANSWERED,
    APPROVE,
    ASK,
    BY_HAND,
    CHECKPOINT,
    CONFIRM,
    COVERED,
    GO,
    SKIP,
    STOP,
    UNKNOWN,
)
from execplan.execution.engine.run_state import Question

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.execution import execution_plan
    from execplan.execution.approval_document import Approval
    from execplan.execution.engine.commands.stop_signal import SignalHandlers
    from execplan.execution.engine.journal.journal_writer import JournalWriter
    from execplan.execution.engine.ordering_fields import Step
    from execplan.execution.engine.run_state import RunState


class Prompter:
    """Asks the questions of one run session and records the answers."""

    def __init__(self, journal_writer: JournalWriter, signals: SignalHandlers) -> None:
        self._journal_writer, self._signals, self._stop = journal_writer, signals, signals.stop
        self._asked_seconds = 0.0
        """Seconds that the last question took."""

    def ask(self, question: Question) -> str | None:
        """Return the answer to a question, or None if no one answers. A signal ends the wait and stops the run."""
        asked_at = monotonic()
        try:
            with self._signals.interruptible_prompt():
                answer = None if self._stop.is_set() else self._journal_writer.observer.ask(question)
        except KeyboardInterrupt:
            if not self._stop.is_set():
                self._stop.set("SIGINT")
            return None
        self._asked_seconds = round(monotonic() - asked_at, 3)
        return answer if answer in ALLOWED_ANSWERS[question.why] else None

    def write_answer(self, question: Question, answer: str, source: str) -> None:
        """Record an answer in the journal. Raises ExecplanError."""
        timing = {"seconds": self._asked_seconds} if source == "terminal" else {}
        self.record_answer(self._journal_writer, question, answer, source, **timing)

    @staticmethod
    def record_answer(
        journal_writer: JournalWriter, question: Question, answer: str, source: str, **timing: float
    ) -> None:
        """Record an answer with `journal_writer`; `source` is `terminal` or `resume`. Raises ExecplanError."""
        from execplan.core.plan_store import author

        journal_writer.write(
            ANSWERED,
            why=question.why,
            step=question.step or None,
            answer=answer,
            user=author.system_login(),
            session=author.session_id(),
            how=source,
            **timing,
        )


ALLOWED_ANSWERS = {
    CHECKPOINT: (GO, STOP),
    CONFIRM: (GO, SKIP, STOP),
    BY_HAND: (GO, SKIP, STOP),
    ASK: (AGAIN, SKIP, STOP),
    UNKNOWN: (GO, AGAIN, SKIP, STOP),
    APPROVE: (GO, STOP),
    COVERED: (GO, STOP),
}
"""Allowed answers to each kind of question."""
_ANSWERED_BY_RESUME = (CHECKPOINT, APPROVE, COVERED)
"""Questions whether the run may continue: a plain `resume` answers them with the first answer, and asks all others again."""

_EXPLANATIONS = {
    (CONFIRM, GO): "run the step",
    (BY_HAND, GO): "the work is done: complete the step",
    (UNKNOWN, GO): "the step has completed its work: continue the run",
}
"""What an answer does, where that differs by the kind of question."""


def format_answer_hint(question: Question, run_arguments: str) -> str:
    """Return the hint that a person must answer, with a command that can be pasted; it gives the first answer."""
    answers = ALLOWED_ANSWERS[question.why]
    return f"a person must answer {' or '.join(answers)}: execplan resume {run_arguments} --answer {answers[0]}"


def explain_answers(question: Question, *, stop_rolls_back: bool) -> dict[str, str]:
    """Return what each allowed answer to a question does."""
    outcome = "roll it back" if stop_rolls_back else "keep its changes"
    common = {
        GO: "continue the run",
        AGAIN: "run the step again",
        SKIP: "continue without the step",
        STOP: f"end the run as failed and {outcome}",
    }
    return {
        answer: _EXPLANATIONS.get((question.why, answer), common[answer]) for answer in ALLOWED_ANSWERS[question.why]
    }


def is_answered_by_resume(why: str) -> bool:
    """Return whether a resume without `--answer` answers the questions of a kind."""
    return why in _ANSWERED_BY_RESUME


def answer_arguments(why: str) -> tuple[str, ...]:
    """Return the arguments with which a resume answers a question; none if it answers it itself, or can ask."""
    if why not in ALLOWED_ANSWERS or is_answered_by_resume(why) or can_ask():
        return ()
    return "--answer", ALLOWED_ANSWERS[why][0]


def resolve_answer(question: Question, answer: str | None, *, stop_rolls_back: bool) -> str | None:
    """Return the answer that a resume gives, or None if one must be given explicitly.

    Raises ExecplanError if the answer is not allowed.
    """
    if answer is None:
        return ALLOWED_ANSWERS[question.why][0] if is_answered_by_resume(question.why) else None
    if answer not in (allowed_answers := ALLOWED_ANSWERS[question.why]):
        error = ExecplanError(
            "bad-answer",
            f"{answer!r} is not an answer to: {question.words}",
            hint="see who approves the new revision: execplan evaluate"
            if question.why == APPROVE
            else f"use one of these: --answer {', --answer '.join(allowed_answers)}",
            candidates=allowed_answers,
        )
        error.explanations = explain_answers(question, stop_rolls_back=stop_rolls_back)
        raise error
    return answer


def checkpoint_question(run_state: RunState, interval: int) -> Question | None:
    """Return the unanswered question after a checkpoint step or after every `interval` completed steps, if any."""
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
    reason = f"step {step.id} is a checkpoint" if step.checkpoint else f"{len(completed_steps)} steps are done"
    return Question(CHECKPOINT, step.id, f"{reason}: continue?")


def confirm_question(run_state: RunState, step: Step) -> Question | None:
    """Return the unanswered question before a step that requires confirmation, if any."""
    if not step.confirm or _is_answered(run_state, step, CONFIRM):
        return None
    return Question(CONFIRM, step.id, f"step {step.id} requires confirmation: {step.description}")


def manual_question(run_state: RunState, step: execution_plan.Step) -> Question | None:
    """Return the unanswered question whether a person has done a manual step, if any; an agent reports it instead."""
    if step.type != MANUAL or _is_answered(run_state, step, BY_HAND):
        return None
    return Question(BY_HAND, step.id, f"step {step.id} is manual work: {step.description.partition(': ')[2]}")


def _is_answered(run_state: RunState, step: Step, why: str) -> bool:
    return any([(entry.fields["why"], entry.fields["step"]) == (why, step.id) for entry in run_state.answers])


def failure_question(step: Step, reason: str) -> Question:
    """Return the question about a step that has failed."""
    return Question(ASK, step.id, f"step {step.id} failed: {reason}")


def unknown_outcome_question(step: str) -> Question:
    """Return the question about an interrupted step that may run only once."""
    text = f"step {step} was interrupted; its result is unknown, and it is not safe to run again"
    return Question(UNKNOWN, step, text)


def approval_question(revision: int) -> Question:
    """Return the question about a new revision that needs approval."""
    return Question(APPROVE, "", f"revision {revision} needs approval")


def coverage_question(revision: int, approval: Approval) -> Question:
    """Return the question about a new revision that an earlier approval covers."""
    return Question(COVERED, "", f"revision {revision} needs no new approval: {coverage_reason(approval)}")


def coverage_reason(approval: Approval) -> str:
    """Explain why a revision needs no new approval."""
    return (
        f"all its steps were approved by {approval.approver} as revision {approval.revision} ({approval.digest[:12]})"
    )
