"""The next revision of what a run does, made from its journal and from what was found out; nothing is written."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from execplan.errors import INPUT, ExecplanError
from execplan.execution import states
from execplan.execution.documents import strict
from execplan.execution.documents.document import validate_document, document_error
from execplan.execution.making.replan import ReplanRequest, replan

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from execplan.engine.course import RunState
    from execplan.execution.model import ExecutionPlan, Step
    from execplan.text.redaction import Redaction


class Made(NamedTuple):
    """A revision, and how many seconds it took to make."""

    document: ExecutionPlan
    seconds: float


def revise(course: RunState, reason: str, failed: Sequence[str], information: str | None, redaction: Redaction) -> Made:
    """The next revision; raises ExecplanError."""
    began = monotonic()
    document, status_of = course.document, dict(course.status_of)
    for step in _named(course, failed):
        status_of[step.id] = states.FAILED
    asked = {
        "current_plan": document.model_dump(mode="json", by_alias=True),
        "execution_state": {"status": course.status, "steps": status_of},
        "reason": redaction.text(reason),
        "completed_steps": course.numbers(states.COMPLETED),
        "failed_steps": [step.number for step in document.steps if status_of[step.id] == states.FAILED],
        "new_information": _information(information, redaction) if information is not None else None,
    }
    request, violations = validate_document(asked, ReplanRequest)
    if request is None:
        raise document_error("replan", ReplanRequest, violations, hint="see what is taken: execplan replan --help")
    return Made(replan(request), round(monotonic() - began, 6))


def _named(course: RunState, names: Sequence[str]) -> list[Step]:
    """The steps that are said to have failed, by id or number; raises ExecplanError."""
    found = []
    for name in names:
        step = next((each for each in course.document.steps if name in (each.id, str(each.number))), None)
        if step is None:
            known = [each.id for each in course.document.steps]
            raise ExecplanError(
                "no-such-step", f"there is no step {name!r}", exit=INPUT, hint="name one of these", candidates=known
            )
        status = course.status_of[step.id]
        if status in states.SUCCESS_STATES:
            what = f"the step {step.id} is {status}: only what is not done can count as failed"
            raise ExecplanError("bad-replan", what, exit=INPUT, hint="leave it out; or roll it back, with the run")
        found.append(step)
    return found


def _information(said: str, redaction: Redaction) -> Any:
    """New information without secrets, those of steps apart: a JSON object, or plain words; raises ExecplanError.

    What begins as an object and is none is refused.
    """
    if not said.lstrip().startswith("{"):
        return redaction.text(said.strip())
    found = strict.read(said.encode("utf-8", "surrogatepass"))
    if found.violations or not isinstance(found.value, dict):
        hint = 'words that begin with a brace go into an object: {"note": …}'
        raise document_error("the new information", ReplanRequest, found.violations, found.omitted, hint=hint)
    return {name: each if name == "steps" else redaction.value(each) for name, each in found.value.items()}
