"""How a whole plan runs, from its fence `{execution mode=agent max-steps=20}`: mode, constraints, and defaults of steps."""

from __future__ import annotations

from execplan.execution.attributes import PLAN_ATTRIBUTES
from execplan.execution.draft import StepProblem
from execplan.execution.written.annotated import place
from execplan.execution.written.fences import fences
from execplan.execution.written.values import WrongValueError, value_of
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from execplan.execution.written.fences import Fence
    from execplan.plan.model import Plan

_BY_NAME = {each.name: each for each in PLAN_ATTRIBUTES}


class PlanSettings(NamedTuple):
    """What such a fence says, as the JSON document has it; empty where a plan has none."""

    document: dict[str, Any]
    """Fields of the document itself: `mode`."""
    constraints: dict[str, Any]
    steps: dict[str, Any]
    """Fields that every step gets: `timeout_s` where it has none of its own, `allow` and `deny` added to its own."""
    lines: tuple[int, ...]
    """The lines of the fence, from 0."""
    problems: tuple[StepProblem, ...]


def plan_settings(plan: Plan) -> PlanSettings:
    """The settings of the first such fence; a value that can't be read is left out and is among the problems."""
    found = fences(plan).settings
    values: dict[str, dict[str, Any]] = {"": {}, "constraints": {}, "steps": {}}
    problems = [problem for fence in found for problem in _problems(fence)]
    for fence in found[1:]:
        message = f"a plan has one fence {{execution}}, and there is one in line {found[0].line + 1}"
        problems.append(place(fence, "EP604", message))
    for given in found[0].info.given if found else ():
        attribute = _BY_NAME.get(given.name)
        if attribute is not None:
            table, _, field = attribute.field.rpartition(".")
            try:
                values[table][field] = value_of(attribute, given.value)
            except WrongValueError:
                continue
    lines = tuple(range(found[0].line, found[0].end)) if found else ()
    return PlanSettings(values[""], values["constraints"], values["steps"], lines, tuple(problems))


def apply_to_step(settings: PlanSettings, step: dict[str, Any], *, has_timeout: bool) -> None:
    """Give a step the defaults of the plan, and the calls that hold for every step."""
    for name, value in settings.steps.items():
        if name != "timeout_s":
            step[name] = list(dict.fromkeys([*step.get(name, []), *value]))
        elif not has_timeout:
            step[name] = value


def _problems(fence: Fence) -> Iterator[StepProblem]:
    """What is wrong with one fence."""
    from difflib import get_close_matches

    for flaw in fence.info.flaws:
        yield place(fence, "EP601", flaw.message, flaw.start, flaw.end)
    if not fence.closed:
        yield place(fence, "EP601", "this fence is never closed")
    if fence.info.id is not None:
        given = fence.info.id
        yield place(fence, "EP603", "a fence {execution} is no step and has no id", given.start, given.end)
    for given in fence.info.given:
        if given.name not in _BY_NAME:
            near = get_close_matches(given.name, _BY_NAME, n=1, cutoff=0.6)
            hint = f"did you mean {near[0]}?" if near else f"it takes {', '.join(_BY_NAME)}"
            message = f"a fence {{execution}} has no attribute {given.name}; {hint}"
            yield place(fence, "EP602", message, given.start, given.end)
            continue
        try:
            value_of(_BY_NAME[given.name], given.value)
        except WrongValueError as error:
            yield place(fence, "EP603", str(error), given.start, given.end)
