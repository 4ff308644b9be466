"""What is worth knowing of the annotated steps of a plan and stops no compile; each kind is the code of its rule of lint."""

from __future__ import annotations

from execplan.errors import ExecplanError
from execplan.execution.attributes import ATTRIBUTES_BY_NAME, EXECUTE, COMMAND_TYPES
from execplan.execution.command.parse import parse
from execplan.execution.documents.touched import diff_paths
from execplan.execution.draft import ANNOTATED
from execplan.execution.risk.rate import CRITICAL
from execplan.execution.risk.rating import rate_step
from execplan.execution.written.annotated import place
from execplan.execution.written.fences import fences
from execplan.execution.written.fields import all_fields
from execplan.execution.written.outside import why_outside
from execplan.execution.written.problems import at
from execplan.plan.seek import find_task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from execplan.execution.command.parse import Command
    from execplan.execution.draft import StepDraft, ParsedSteps, StepProblem
    from execplan.execution.written.fences import Fence
    from execplan.plan.model import Plan

_PATHS = ("target", "cwd", "inputs", "outputs")
_EXPECTS = ("exit", "test-after")
_MOST = 100
"""Steps that are looked at: an execution plan has no more, unless it was told otherwise."""
_RATED = 200
"""Commands in these steps that are rated, pipes counted apart, each at the price of a millisecond or two."""
_LONG = 1000
"""Characters of a command that nobody wrote by hand."""
_SOUGHT = 5000
"""How many tasks are compared, in all, with references that fit none."""


def advice(plan: Plan, found: ParsedSteps) -> tuple[StepProblem, ...]:
    """Dangerous steps, paths outside, no expectation, tasks that are not there, lines that need a shell; by line."""
    drafts = [draft for draft in found.drafts if draft.origin == ANNOTATED][:_MOST]
    if not drafts:
        return ()
    all_of = {fence.line: fence for fence in fences(plan).steps}
    told: list[StepProblem] = []
    left, missed = _RATED, 0
    for number, (draft, step) in enumerate(zip(drafts, all_fields(drafts), strict=True)):
        fence = all_of[draft.start]
        last = drafts[number + 1 : number + 2] == [] or drafts[number + 1].start != draft.start
        told += _outside(fence, step)
        if step["type"] in COMMAND_TYPES and len(step["command"]) <= _LONG:
            read = parse(step["command"])
            told += _shell(fence, step, read)
            left -= len(read.simple)
            told += _dangerous(fence, step) if left >= 0 else ()
        if last:
            told += _unexpected(fence, draft)
            if missed * len(plan.tasks) <= _SOUGHT:
                wrong = list(_task(plan, fence, draft))
                missed += len(wrong)
                told += wrong
    return tuple(sorted(dict.fromkeys(told), key=lambda each: (each.line, each.column, each.kind)))


def _dangerous(fence: Fence, step: dict[str, Any]) -> Iterator[StepProblem]:
    """A command that is CRITICAL by what it says; that a shell was asked for is no news to its author."""
    risk = rate_step({name: value for name, value in step.items() if name != "shell"})
    if risk.level == CRITICAL:
        yield place(fence, "EP607", f"{step['id']} can do great harm: {'; '.join(risk.reasons)}")


def _outside(fence: Fence, step: dict[str, Any]) -> Iterator[StepProblem]:
    """Every path that it names, those of a patch too."""
    for field in _PATHS:
        value = step.get(field, ())
        for path in [value] if isinstance(value, str) else value:
            why = why_outside(path)
            if why:
                yield at(fence, "EP608", f"{path} {why}", ATTRIBUTES_BY_NAME[field].name)
    for path in diff_paths(step.get("patch", "")):
        why = why_outside(path)
        if why:
            yield place(fence, "EP608", f"{path} {why}")


def _unexpected(fence: Fence, draft: StepDraft) -> Iterator[StepProblem]:
    runs = draft.attributes.get("type", EXECUTE) == EXECUTE
    if runs and draft.expect is None and not any([name in draft.attributes for name in _EXPECTS]):
        message = f"nothing says how {draft.id} is to end: give it expect, exit or test-after, or a fence {{expect}}"
        yield place(fence, "EP609", message)


def _task(plan: Plan, fence: Fence, draft: StepDraft) -> Iterator[StepProblem]:
    if "task" in draft.attributes:
        try:
            find_task(plan, draft.attributes["task"])
        except ExecplanError as error:
            yield at(fence, "EP610", error.message, "task")


def _shell(fence: Fence, step: dict[str, Any], read: Command) -> Iterator[StepProblem]:
    """A command that can't run as it is."""
    if "shell" not in step and step["command"] and read.argv is None:
        why = f"can't be read: {read.problem}" if read.problem else f"needs a shell: {read.needs}"
        shown = " ".join(step["command"].split())
        yield place(fence, "EP611", f"`{shown}` {why}; without the attribute shell it never runs")
