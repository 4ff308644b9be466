"""Warnings about annotated steps that do not stop a compile; each kind is the code of its lint rule."""

from __future__ import annotations

from os.path import normpath

from execplan.core.errors import ExecplanError
from execplan.core.plan.plan_lookup import find_task
from execplan.execution.annotations.annotated_fences import find_annotated_fences
from execplan.execution.annotations.annotated_steps import fence_problem
from execplan.execution.annotations.step_fields import build_all_step_fields
from execplan.execution.annotations.step_problems import attribute_problem
from execplan.execution.attributes import ATTRIBUTES_BY_NAME, COMMAND_TYPES, EXECUTE
from execplan.execution.documents.written_paths import diff_paths
from execplan.execution.parsed_steps import ANNOTATED
from execplan.execution.risk.command_risk import CRITICAL
from execplan.execution.risk.step_risk import rate_step
from execplan.execution.shell.command_line import parse_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from execplan.core.plan.model import ParsedPlan
    from execplan.execution.annotations.annotated_fences import AnnotatedFence
    from execplan.execution.parsed_steps import ParsedSteps, StepDraft, StepProblem
    from execplan.execution.shell.command_line import CommandLine


_STATE_DIRECTORY = (".agent", ".state")


def outside_path_reason(path: str) -> str:
    """Return why a path from the repository root is not allowed in a step, or an empty string."""
    if path.startswith("/"):
        return "is absolute: paths are relative to the root of the repository"
    if path.startswith("~"):
        return "is in a home directory: paths are relative to the root of the repository"
    parts = normpath(path).split("/")
    if parts[0] == "..":
        return "leads outside the repository"
    lower_parts = [part.lower() for part in parts]
    if ".git" in lower_parts:
        return "is git's own"
    return "is execplan's state" if tuple(lower_parts[:2]) == _STATE_DIRECTORY else ""


_PATH_FIELDS = ("target", "from", "cwd", "inputs", "outputs")
_EXPECTATION_ATTRIBUTES = ("exit", "test-after")
_MAX_STEPS = 100
"""Limit on the steps that are checked; an execution plan has no more by default."""
_MAX_RATED_COMMANDS = 200
"""Limit on the commands and variables that are rated, with each part of a pipeline counted; each takes a millisecond
or two."""
_MAX_COMMAND_LENGTH = 1000
"""Maximum length of a command that is checked, in characters; no hand-written command is longer."""
_MAX_TASK_COMPARISONS = 5000
"""Limit on tasks compared, in total, with references that match none."""


def find_step_advice(plan: ParsedPlan, parsed: ParsedSteps) -> tuple[StepProblem, ...]:
    """Return warnings by line.

    They concern dangerous steps, outside paths, missing expectations, unknown tasks, and lines that need a shell.
    """
    drafts = [draft for draft in parsed.drafts if draft.origin == ANNOTATED][:_MAX_STEPS]
    if not drafts:
        return ()
    fences_by_line = {fence.line: fence for fence in find_annotated_fences(plan).steps}
    problems: list[StepProblem] = []
    rating_budget, unknown_tasks = _MAX_RATED_COMMANDS, 0
    for number, (draft, step) in enumerate(zip(drafts, build_all_step_fields(drafts), strict=True)):
        fence = fences_by_line[draft.start]
        is_last = drafts[number + 1 : number + 2] == [] or drafts[number + 1].start != draft.start
        problems += _find_outside_paths(fence, step)
        if step["type"] in COMMAND_TYPES and len(step["command"]) <= _MAX_COMMAND_LENGTH:
            command_line = parse_command(step["command"])
            is_first = number == 0 or drafts[number - 1].start != draft.start
            problems += _find_shell_use(fence, step, command_line, is_alone=is_first and is_last)
            rating_budget -= len(command_line.simple_commands) + len(step.get("env", ()))
            problems += _find_dangerous_command(fence, step) if rating_budget >= 0 else ()
        if is_last:
            problems += _find_missing_expectation(fence, draft)
            if unknown_tasks * len(plan.tasks) <= _MAX_TASK_COMPARISONS:
                task_problems = list(_find_unknown_task(plan, fence, draft))
                unknown_tasks += len(task_problems)
                problems += task_problems
    return tuple(sorted(dict.fromkeys(problems), key=lambda problem: (problem.line, problem.column, problem.kind)))


def _find_dangerous_command(fence: AnnotatedFence, step: dict[str, Any]) -> Iterator[StepProblem]:
    """Yield a problem if the command itself is CRITICAL; a declared shell is ignored, as the author knows of it."""
    risk = rate_step({name: value for name, value in step.items() if name != "shell"})
    if risk.level == CRITICAL:
        yield fence_problem(fence, "EP607", f"{step['id']} can cause serious damage: {'; '.join(risk.reasons)}")


def _find_outside_paths(fence: AnnotatedFence, step: dict[str, Any]) -> Iterator[StepProblem]:
    """Yield a problem for each path outside the repository or in a protected directory, including those of a patch."""
    for field in _PATH_FIELDS:
        value = step.get(field, ())
        for path in [value] if isinstance(value, str) else value:
            why = outside_path_reason(path)
            if why:
                yield attribute_problem(fence, "EP608", f"{path} {why}", ATTRIBUTES_BY_NAME[field].name)
    for path in step.get("replacement", {}).get("paths", ()):
        if why := outside_path_reason(path):
            yield attribute_problem(fence, "EP608", f"{path} {why}", "paths")
    for path in diff_paths(step.get("patch", "")):
        why = outside_path_reason(path)
        if why:
            yield fence_problem(fence, "EP608", f"{path} {why}")


def _find_missing_expectation(fence: AnnotatedFence, draft: StepDraft) -> Iterator[StepProblem]:
    runs_command = draft.attributes.get("type", EXECUTE) == EXECUTE and "service" not in draft.attributes
    if (
        runs_command
        and draft.expect is None
        and not any([name in draft.attributes for name in _EXPECTATION_ATTRIBUTES])
    ):
        message = f"{draft.id} has no expected result: give it expect, exit or test-after, or a code block {{expect}}"
        yield fence_problem(fence, "EP609", message)


def _find_unknown_task(plan: ParsedPlan, fence: AnnotatedFence, draft: StepDraft) -> Iterator[StepProblem]:
    if "task" in draft.attributes:
        try:
            find_task(plan, draft.attributes["task"])
        except ExecplanError as error:
            yield attribute_problem(fence, "EP610", error.message, "task")


def _find_shell_use(
    fence: AnnotatedFence, step: dict[str, Any], command_line: CommandLine, *, is_alone: bool
) -> Iterator[StepProblem]:
    """Yield a problem if a command can't run without a shell."""
    if "shell" not in step and step["command"] and command_line.argv is None:
        from execplan.execution.shell_declaration import shell_fix

        command_text = " ".join(step["command"].split())
        if command_line.problem:
            why = f"can't be parsed: {command_line.problem}; it can't run"
        else:
            why = f"needs a shell to run ({command_line.shell_reason}): {shell_fix(step['command'], is_alone=is_alone)}"
        yield fence_problem(fence, "EP611", f"`{command_text}` {why}")
