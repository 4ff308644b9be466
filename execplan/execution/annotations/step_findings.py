"""What the linter needs to know about the annotated steps of a plan."""

from __future__ import annotations

from execplan.execution.annotations.annotated_steps import find_annotated_steps
from execplan.execution.annotations.step_problems import find_step_problems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan
    from execplan.execution.parsed_steps import StepProblem


def find_step_findings(plan: ParsedPlan) -> tuple[StepProblem, ...]:
    """Return the problems that prevent the steps of a plan from compiling, and advice on them."""
    parsed = find_annotated_steps(plan)
    if not parsed.drafts:
        return find_step_problems(plan, parsed)
    from execplan.execution.annotations.step_advice import find_step_advice

    return (*find_step_problems(plan, parsed), *find_step_advice(plan, parsed))


def list_step_places(plan: ParsedPlan) -> list[tuple[str, int]]:
    """Return the ID and the first line of each annotated step."""
    return [(draft.id, draft.start) for draft in find_annotated_steps(plan).drafts]
