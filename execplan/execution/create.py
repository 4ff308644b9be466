"""An execution plan for an agent, from a request and the tools that were chosen for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.execution.document import canonical, check, refusal
from execplan.execution.filling import rate
from execplan.execution.model import ExecutionPlan
from execplan.text.lines import digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def create_execution_plan(
    request: str, selected_tools: Sequence[str], context: Mapping[str, Any] | None = None, *, plan_id: str | None = None
) -> ExecutionPlan:
    """A plan in the mode `agent` that calls each tool in order, each call needing the one before.

    The tools are in the form `domain.tool`. Without an id one is derived from what is handed in: the same request, tools and
    context give the same bytes. Raises ExecplanError with everything that is wrong at once.
    """
    given = {"request": request, "selected_tools": list(selected_tools), "context": dict(context or {})}
    steps = [_step(number, str(tool)) for number, tool in enumerate(selected_tools, 1)]
    made = {
        "plan_id": plan_id if plan_id is not None else f"plan-{digest(canonical(given))[:12]}",
        "description": request,
        "mode": "agent",
        "intent": {"summary": request, "category": "tools", "risk_level": "HIGH"},
        "steps": steps,
        "metadata": {"context": given["context"]},
    }
    document, violations = check(made, ExecutionPlan)
    if document is None:
        raise refusal("the request", ExecutionPlan, violations)
    document.refuse_unsafe("the request")
    return document


def _step(number: int, tool: str) -> dict[str, Any]:
    step: dict[str, Any] = {
        "number": number,
        "id": f"step-{number}",
        "type": "use_tool",
        "tool": tool,
        "description": f"Call {tool}",
        "depends_on": [f"step-{number - 1}"] if number > 1 else [],
    }
    rate(step)
    return step
