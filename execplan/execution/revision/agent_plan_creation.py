"""Creation of an execution plan for an agent, from a request and the selected tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from secrets import token_hex
from typing import Any, Final

from execplan.core.documents.document_model import document_error, validate_document
from execplan.core.text.violation import Violation
from execplan.execution.documents.derived_fields import fill_risk
from execplan.execution.execution_plan import ExecutionPlan

_RANDOM_BYTES: Final = 16
"""Random bytes of a plan ID, as many as in a UUID."""
_LABEL: Final = "the request"


def create_execution_plan(
    request: str, selected_tools: Sequence[str], context: Mapping[str, Any] | None = None, *, plan_id: str | None = None
) -> ExecutionPlan:
    """Return a plan in the mode `agent` that calls each tool in order, each call depending on the previous one.

    The tools have the form `domain.tool`. Without a plan ID, the plan gets one that no other plan has; with one, the same
    request, tools and context give the same bytes. Raises ExecplanError with everything that is wrong at once.
    """
    violations = []
    if isinstance(selected_tools, str) or not isinstance(selected_tools, Iterable):
        violations.append(Violation("/selected_tools", "should be a list of tools, such as file.read"))
    if context is not None and not isinstance(context, Mapping):
        violations.append(Violation("/context", "should be a mapping"))
    if violations:
        raise document_error(_LABEL, ExecutionPlan, violations, hint="execplan explain bad-document")
    steps = [_tool_step(number, str(tool)) for number, tool in enumerate(selected_tools, 1)]
    plan_fields = {
        "plan_id": plan_id if plan_id is not None else f"plan-{token_hex(_RANDOM_BYTES)}",
        "description": request,
        "mode": "agent",
        "intent": {"summary": request, "category": "tools", "risk_level": "HIGH"},
        "steps": steps,
        "metadata": {"context": dict(context or {})},
    }
    document = _validate(plan_fields)
    document.ensure_safe(_LABEL)
    return document


def _validate(plan_fields: dict[str, Any]) -> ExecutionPlan:
    document, violations = validate_document(plan_fields, ExecutionPlan)
    if document is None:
        raise document_error(_LABEL, ExecutionPlan, violations)
    return document


def _tool_step(number: int, tool: str) -> dict[str, Any]:
    step: dict[str, Any] = {
        "number": number,
        "id": f"step-{number}",
        "type": "use_tool",
        "tool": tool,
        "description": f"Call {tool}",
        "depends_on": [f"step-{number - 1}"] if number > 1 else [],
    }
    fill_risk(step)
    return step
