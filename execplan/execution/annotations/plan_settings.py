"""Settings of a whole plan from its code block `{execution mode=agent max-steps=20}`.

They are the mode, the constraints, and the defaults of steps.
"""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.execution.annotations.annotated_fences import find_annotated_fences
from execplan.execution.annotations.annotated_steps import fence_problem
from execplan.execution.annotations.attribute_values import AttributeValueError, parse_attribute
from execplan.execution.attributes import PLAN_ATTRIBUTES
from execplan.execution.parsed_steps import StepProblem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from execplan.core.plan.model import ParsedPlan
    from execplan.execution.annotations.annotated_fences import AnnotatedFence

_BY_NAME = {attribute.name: attribute for attribute in PLAN_ATTRIBUTES}


class PlanSettings(NamedTuple):
    """Settings from the `{execution}` code block, as the JSON document has them; empty if the plan has none."""

    document: dict[str, Any]
    """Fields of the document itself, such as `mode`."""
    constraints: dict[str, Any]
    steps: dict[str, Any]
    """Fields for every step: `timeout_s` if it has none of its own, `allow` and `deny` added to the step's own."""
    lines: tuple[int, ...]
    """Line indexes of the code block, counted from 0."""
    problems: tuple[StepProblem, ...]


def read_plan_settings(plan: ParsedPlan) -> PlanSettings:
    """Return the settings of the first `{execution}` code block, without invalid values, which become problems."""
    execution_fences = find_annotated_fences(plan).settings
    values: dict[str, dict[str, Any]] = {"": {}, "constraints": {}, "steps": {}}
    problems = [problem for fence in execution_fences for problem in _settings_problems(fence)]
    for fence in execution_fences[1:]:
        message = (
            f"a plan can have only one code block {{execution}}; the first is on line {execution_fences[0].line + 1}"
        )
        problems.append(fence_problem(fence, "EP604", message))
    for fence_attribute in execution_fences[0].info.attributes if execution_fences else ():
        attribute = _BY_NAME.get(fence_attribute.name)
        if attribute is not None:
            table, _, field = attribute.field.rpartition(".")
            try:
                values[table][field] = parse_attribute(attribute, fence_attribute.value)
            except AttributeValueError:
                continue
    lines = tuple(range(execution_fences[0].line, execution_fences[0].end)) if execution_fences else ()
    return PlanSettings(values[""], values["constraints"], values["steps"], lines, tuple(problems))


def apply_plan_settings(settings: PlanSettings, step: dict[str, Any], *, has_timeout: bool) -> None:
    """Apply the plan's defaults to a step, and add the calls that are allowed or denied for every step."""
    for name, value in settings.steps.items():
        if name != "timeout_s":
            step[name] = list(dict.fromkeys([*step.get(name, []), *value]))
        elif not has_timeout:
            step[name] = value


def _settings_problems(fence: AnnotatedFence) -> Iterator[StepProblem]:
    """Yield the problems of one `{execution}` code block."""
    for flaw in fence.info.flaws:
        yield fence_problem(fence, "EP601", flaw.message, flaw.start, flaw.end)
    if not fence.closed:
        yield fence_problem(fence, "EP601", "this code block is never closed")
    if fence.info.id is not None:
        fence_attribute = fence.info.id
        yield fence_problem(
            fence,
            "EP603",
            "a code block {execution} is not a step and can't have an ID",
            fence_attribute.start,
            fence_attribute.end,
        )
    for fence_attribute in fence.info.attributes:
        if fence_attribute.name not in _BY_NAME:
            from execplan.core.text.suggestions import did_you_mean

            hint = did_you_mean(fence_attribute.name, _BY_NAME) or f"it accepts {', '.join(_BY_NAME)}"
            message = f"a code block {{execution}} has no attribute {fence_attribute.name}; {hint}"
            yield fence_problem(fence, "EP602", message, fence_attribute.start, fence_attribute.end)
            continue
        try:
            parse_attribute(_BY_NAME[fence_attribute.name], fence_attribute.value)
        except AttributeValueError as error:
            yield fence_problem(fence, "EP603", str(error), fence_attribute.start, fence_attribute.end)
