"""What a run asks, when, and what may be answered."""

from __future__ import annotations

from execplan.engine.course import Question
from execplan.engine.entries import AGAIN, APPROVE, ASK, CHECKPOINT, CONFIRM, COVERED, GO, SKIP, STOP, UNKNOWN
from execplan.errors import USAGE, ExecplanError
from execplan.execution import states

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.course import RunState
    from execplan.engine.plain import Step
    from execplan.execution.approval import Approval

ANSWERS_TO = {
    CHECKPOINT: (GO, STOP),
    CONFIRM: (GO, SKIP, STOP),
    ASK: (AGAIN, SKIP, STOP),
    UNKNOWN: (GO, AGAIN, SKIP, STOP),
    APPROVE: (GO, STOP),
    COVERED: (GO, STOP),
}
"""By why it is asked, what may be answered; a plain `resume` answers with the first, but where nobody knows what happened."""


def answer_to(question: Question, said: str | None) -> str | None:
    """The answer that a resume gives, None where it has to be said; raises ExecplanError for one that does not fit."""
    fits = ANSWERS_TO[question.why]
    if said is None:
        return None if question.why == UNKNOWN else fits[0]
    if said not in fits:
        raise ExecplanError(
            "bad-answer",
            f"{said} is no answer to: {question.words}",
            exit=USAGE,
            hint=f"one of these is: --answer {', --answer '.join(fits)}",
            candidates=fits,
        )
    return said


def checkpoint(course: RunState, interval: int) -> Question | None:
    """The question behind a step, where so many are done since the last time, or a step is marked, and nobody has answered."""
    answered = max([entry.number for entry in course.answers if entry.said["why"] == CHECKPOINT], default=0)
    done = sorted(
        [
            (attempts[-1].entry, step)
            for step in course.document.steps
            if course.status_of[step.id] == states.COMPLETED and (attempts := course.attempts.get(step.id))
        ],
        key=lambda each: each[0],
    )
    marked = [(number, step) for at, (number, step) in enumerate(done, 1) if step.checkpoint or not at % interval]
    if not marked or marked[-1][0] <= answered:
        return None
    step = marked[-1][1]
    why = f"{step.id} is a checkpoint" if step.checkpoint else f"{len(done)} steps are done"
    return Question(CHECKPOINT, step.id, f"{why}: go on?")


def confirm(course: RunState, step: Step) -> Question | None:
    """The question before a step that wants one, and that nobody has answered."""
    if not step.confirm:
        return None
    asked = [entry for entry in course.answers if (entry.said["why"], entry.said["step"]) == (CONFIRM, step.id)]
    return None if asked else Question(CONFIRM, step.id, f"{step.id} asks before it is run: {step.description}")


def failed(step: Step, reason: str) -> Question:
    """The question about a step that has failed."""
    return Question(ASK, step.id, f"{step.id} has failed: {reason}")


def unknown(step: str) -> Question:
    """The question about a step that was cut short and may run only once."""
    words = f"{step} was cut short, and nobody knows whether it has done its work; it may run only once"
    return Question(UNKNOWN, step, words)


def approve(revision: int) -> Question:
    """The question about a new revision."""
    return Question(APPROVE, "", f"revision {revision} is to be approved")


def covered(revision: int, approval: Approval) -> Question:
    """What is said of a new revision that an earlier approval covers."""
    return Question(COVERED, "", f"revision {revision} needs no new approval: {reason(approval)}")


def reason(approval: Approval) -> str:
    """Why a revision needs no new approval."""
    return (
        f"all its steps were approved by {approval.approver} as revision {approval.revision} ({approval.digest[:12]})"
    )
