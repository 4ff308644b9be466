"""A step that is about to be done, as its document, the course of its run and the order of the steps tell it."""

from __future__ import annotations

from execplan.engine import order as orders
from execplan.engine import questions
from execplan.execution import states
from execplan.execution.permission import StepRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.engine.course import Course, Question
    from execplan.engine.order import Order
    from execplan.engine.plain import Step


def question_of(step: Step, course: Course, interval: int) -> Question | None:
    """What somebody is asked before each call of a step, until it is answered: nobody here learns what an agent's user says."""
    return questions.checkpoint(course, interval) or questions.confirm(course, step)


def asked(
    step: Step, level: str, course: Course, order: Order, *, interval: int, there: Callable[[str], bool]
) -> StepRequest:
    """What `permitted` is asked of a step of this level of risk; the engine, `report` and the guard of an agent all ask so.

    `interval`: completed steps behind which the run asks whether it is to go on; `there` says whether something is at a path.
    """
    status = orders.status(step, course)
    question = question_of(step, course, interval)
    return StepRequest(
        step.id,
        level,
        step.inferred,
        status,
        tuple(order.needs(step, course)),
        calls=sum([not each.said.get("further") for each in course.attempts[step.id][-1].calls])
        if status == states.RUNNING
        else 0,
        max_calls=step.max_invocations,
        condition_failure=order.refused(step, course, there) if status != states.RUNNING else "",
        question=question.words if question is not None else "",
    )
