"""An execution plan for an agent, from a request and the tools that were chosen for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from execplan.execution.documents.document import check, refusal, to_bytes
from execplan.execution.documents.filling import rate
from execplan.execution.documents.violation import Violation
from execplan.execution.model import ExecutionPlan
from execplan.text.lines import digest

if TYPE_CHECKING:
    from collections.abc import Sequence

_UNNAMED: Final = "plan"
_WHERE: Final = "the request"


def create_execution_plan(
    request: str, selected_tools: Sequence[str], context: Mapping[str, Any] | None = None, *, plan_id: str | None = None
) -> ExecutionPlan:
    """A plan in the mode `agent` that calls each tool in order, each call needing the one before.

    The tools are in the form `domain.tool`. Without an id one is derived from what is handed in: the same request, tools and
    context give the same bytes. Raises ExecplanError with everything that is wrong at once.
    """
    wrong = []
    if isinstance(selected_tools, str) or not isinstance(selected_tools, Iterable):
        wrong.append(Violation("/selected_tools", "should be a list of tools, such as file.read"))
    if context is not None and not isinstance(context, Mapping):
        wrong.append(Violation("/context", "should be a mapping"))
    if wrong:
        raise refusal(_WHERE, ExecutionPlan, wrong, hint="see docs/api.md")
    steps = [_step(number, str(tool)) for number, tool in enumerate(selected_tools, 1)]
    made = {
        "plan_id": plan_id if plan_id is not None else _UNNAMED,
        "description": request,
        "mode": "agent",
        "intent": {"summary": request, "category": "tools", "risk_level": "HIGH"},
        "steps": steps,
        "metadata": {"context": dict(context or {})},
    }
    document = _checked(made)
    if plan_id is None:
        document = _checked({**made, "plan_id": f"{_UNNAMED}-{digest(to_bytes(document))[:12]}"})
    document.refuse_unsafe(_WHERE)
    return document


def _checked(made: dict[str, Any]) -> ExecutionPlan:
    document, violations = check(made, ExecutionPlan)
    if document is None:
        raise refusal(_WHERE, ExecutionPlan, violations)
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
