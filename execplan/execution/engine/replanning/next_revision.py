"""Computation of a run's next revision from its journal and new information, without writing anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any, NamedTuple

from execplan.core.documents.document_model import document_error, validate_document
from execplan.core.errors import ExecplanError
from execplan.core.secrets.redaction import Redactor
from execplan.core.text import strict_json
from execplan.execution import states
from execplan.execution.engine.run_state import RunState
from execplan.execution.execution_plan import ExecutionPlan, Step
from execplan.execution.revision.document_replanning import ReplanRequest, replan_document


class NextRevision(NamedTuple):
    """A revision of an execution plan, with the seconds that it took to generate."""

    document: ExecutionPlan
    seconds: float
    edited_steps: tuple[str, ...] = ()
    """IDs of steps that are done, and that the plan now describes in another way."""


def build_next_revision(
    run_state: RunState,
    reason: str,
    failed: Sequence[str],
    information: str | None,
    redaction: Redactor,
    compiled_plan: ExecutionPlan | None = None,
) -> NextRevision:
    """Build the next revision of a run's execution plan. Raises ExecplanError.

    If the plan's lines with steps have changed since the run's document, `compiled_plan`, what they now compile to,
    replaces all steps that are not done, unless the information has steps.
    """
    began = monotonic()
    document, status_of = run_state.document, dict(run_state.status_of)
    for step in _find_failed_steps(run_state, failed):
        status_of[step.id] = states.FAILED
    request_fields: dict[str, Any] = {
        "current_plan": document.model_dump(),
        "execution_state": {"status": run_state.status, "steps": status_of},
        "reason": redaction.redact_text(reason),
        "completed_steps": run_state.step_numbers(states.COMPLETED),
        "failed_steps": [step.number for step in document.steps if status_of[step.id] == states.FAILED],
        "new_information": _redact_information(information, redaction) if information is not None else None,
    }
    source, edited_steps = document.source, tuple[str, ...]()
    if compiled_plan is not None and _is_edited(compiled_plan, document):
        source, edited_steps = compiled_plan.source, _find_edited_steps(compiled_plan, document, status_of)
        given_information = request_fields["new_information"] or {}
        if isinstance(given_information, str):
            given_information = {"note": given_information}
        if "steps" not in given_information:
            request_fields["new_information"] = {
                **given_information,
                "steps": _list_unfinished_steps(compiled_plan, status_of),
            }
    request, violations = validate_document(request_fields, ReplanRequest)
    if request is None:
        raise document_error("replan", ReplanRequest, violations, hint="see what it accepts: execplan replan --help")
    revised_plan = replan_document(request).model_copy(update={"source": source})
    return NextRevision(revised_plan, round(monotonic() - began, 6), edited_steps)


def _is_edited(compiled_plan: ExecutionPlan, document: ExecutionPlan) -> bool:
    """Return whether the lines with steps are others than those that the document was compiled from."""
    return document.source is not None and document.source != compiled_plan.source


def _find_edited_steps(
    compiled_plan: ExecutionPlan, document: ExecutionPlan, status_of: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the IDs of the steps that are done in a run and that compile to something else now."""
    steps_by_id = {step.id: step for step in document.steps}
    done_steps = [step for step in compiled_plan.steps if status_of.get(step.id) in states.SUCCESS_STATES]
    return tuple([step.id for step in done_steps if step.without_place != steps_by_id[step.id].without_place])


def _list_unfinished_steps(compiled_plan: ExecutionPlan, status_of: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the steps of a compiled plan that are not done in a run."""
    steps: list[dict[str, Any]] = compiled_plan.model_dump()["steps"]
    return [step for step in steps if status_of.get(step["id"]) not in states.SUCCESS_STATES]


def _find_failed_steps(run_state: RunState, names: Sequence[str]) -> list[Step]:
    """Return the steps to count as failed, given by ID or number. Raises ExecplanError."""
    steps = []
    for name in names:
        step = next(
            (candidate for candidate in run_state.document.steps if name in (candidate.id, str(candidate.number))), None
        )
        if step is None:
            known_ids = [candidate.id for candidate in run_state.document.steps]
            raise ExecplanError("no-such-step", f"unknown step {name!r}", hint="use one of these", candidates=known_ids)
        status = run_state.status_of[step.id]
        if status in states.SUCCESS_STATES:
            message = f"step {step.id} is {status}: only unfinished steps can count as failed"
            raise ExecplanError("bad-replan", message, hint="omit it, or roll back the run: execplan rollback")
        steps.append(step)
    return steps


def _redact_information(text: str, redaction: Redactor) -> Any:
    """Redact secrets in new information, which is plain text or a JSON object. Raises ExecplanError.

    The `steps` of an object are not redacted. Text that begins with a brace must be a valid object.
    """
    if not text.lstrip().startswith("{"):
        return redaction.redact_text(text.strip())
    parsed = strict_json.read(text.encode("utf-8", "surrogatepass"))
    if parsed.violations or not isinstance(parsed.value, dict):
        hint = 'text that starts with a brace must be a JSON object: {"note": …}'
        raise document_error("the new information", ReplanRequest, parsed.violations, parsed.omitted, hint=hint)
    return {name: value if name == "steps" else redaction.redact_value(value) for name, value in parsed.value.items()}
