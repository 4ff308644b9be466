"""The acceptance check of a task as a command to run: from the task's own item, or from the steps that name the task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import join

from execplan.core.errors import ErrorContext, ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.model import ParsedPlan, Task
from execplan.core.plan.plan_change import require_text
from execplan.core.plan.plan_lookup import find_task, task_ids
from execplan.core.plan.task_checks import TaskCheck, find_check
from execplan.execution.annotations.attribute_values import AttributeValueError, parse_step_attribute
from execplan.execution.annotations.info_string import parse_info_string
from execplan.execution.attributes import DEFAULT_TIMEOUT_S
from execplan.execution.execution_plan import Step
from execplan.execution.shell.command_line import parse_command

SHELL = "sh"
"""Shell of a check that needs one."""
ATTRIBUTES = ("cwd", "timeout")
"""Attributes that a check may have, written as those of a step."""


class AcceptanceCheck(NamedTuple):
    """A command that shows that a task is done."""

    task_id: str
    task_text: str
    command: str
    """The command as a person reads it."""
    argv: tuple[str, ...]
    is_script: bool = False
    """Whether a shell runs the command."""
    cwd: str = "."
    """Working directory, from the root of the repository."""
    env: tuple[tuple[str, str], ...] = ()
    timeout_s: int = DEFAULT_TIMEOUT_S
    step: str = ""
    """ID of the step that the check comes from; empty if it is the task's own."""


def find_acceptance_checks(
    plan: ParsedPlan, plan_id: str, path: str, tasks: Sequence[Task]
) -> list[AcceptanceCheck | None]:
    """Return the check of each task, or None for a task without one; `path` is the plan's, from the repository root.

    A task's own check comes first; otherwise it is the check of the last step that names the task. Raises ExecplanError
    if a check, or a step of the plan, can't be read.
    """
    ids = task_ids(plan.tasks)
    checks: list[AcceptanceCheck | None] = []
    steps: list[tuple[str, AcceptanceCheck]] | None = None
    for task in tasks:
        task_id = ids[task.number - 1]
        own_check = find_check(plan, task)
        if own_check is not None:
            with ErrorContext(path):
                checks.append(read_own_check(task_id, task, own_check))
            continue
        steps = list(_step_checks(plan, plan_id, path)) if steps is None else steps
        checks.append(next((check for step_task, check in reversed(steps) if step_task == task_id), None))
    return checks


def read_own_check(task_id: str, task: Task, task_check: TaskCheck) -> AcceptanceCheck:
    """Return the check that a task's own item states. Raises ExecplanError if it can't be read."""
    if problem := check_problem(task_check):
        raise ExecplanError(
            "bad-check",
            f"the check of task {task.number} can't be read: {problem}",
            hint="write it as in: - Check: `pytest -q tests/reader` {timeout=5m}",
            line=task_check.start + 1,
        )
    attributes = _parse_attributes(task_check.attributes)
    command_line = parse_command(task_check.command)
    argv, is_script = command_line.argv, command_line.argv is None
    return AcceptanceCheck(
        task_id,
        task.text,
        task_check.command,
        argv if argv is not None else (SHELL, "-c", task_check.command),
        is_script,
        attributes.get("cwd") or ".",
        () if is_script else command_line.assignments,
        int(attributes.get("timeout") or DEFAULT_TIMEOUT_S),
    )


def require_check_command(source: str) -> str:
    """Return the command of a new check on one line; raises ExecplanError if no check could have it."""
    command = require_text(source, "the check")
    if problem := parse_command(command).problem:
        raise ExecplanError(
            "bad-check",
            f"the check can't be read: {problem}: {command}",
            hint="quote the command for the shell in which you type it: --check 'pytest -q tests/reader'",
        )
    return command


def check_problem(task_check: TaskCheck) -> str:
    """Return why a task's own check can't be run, or an empty string."""
    if task_check.problem:
        return task_check.problem
    try:
        _parse_attributes(task_check.attributes)
    except AttributeValueError as error:
        return str(error)
    return parse_command(task_check.command).problem


def _parse_attributes(text: str) -> dict[str, str]:
    """Return the values of a check's attributes. Raises AttributeValueError if one is unknown or invalid."""
    if not text:
        return {}
    info = parse_info_string(f"sh {text}")
    if info is None or info.flaws or info.id is not None or info.mark:
        reason = info.flaws[0].message if info is not None and info.flaws else "its attributes can't be read"
        raise AttributeValueError(reason)
    for attribute in info.attributes:
        if attribute.name not in ATTRIBUTES:
            raise AttributeValueError(f"a check has no attribute {attribute.name}; it accepts {', '.join(ATTRIBUTES)}")
    return {attribute.name: str(parse_step_attribute(attribute.name, attribute.value)) for attribute in info.attributes}


def _step_checks(plan: ParsedPlan, plan_id: str, path: str) -> Iterator[tuple[str, AcceptanceCheck]]:
    """Yield the ID of the named task and the check of each annotated step that has one. Raises ExecplanError."""
    from execplan.execution.compile import compile_plan

    if not any(["task=" in line for line in plan.text.lines]):
        return
    document = compile_plan(plan, plan_id, path).document
    for step in document.steps if document is not None else ():
        if step.task is None or step.inferred:
            continue
        try:
            task_id, task = find_task(plan, step.task)
        except ExecplanError:
            continue
        check = _step_check(step, task_id, task)
        if check is not None:
            yield task_id, check


def _step_check(step: Step, task_id: str, task: Task) -> AcceptanceCheck | None:
    """Return the test of a step, or the command of a step in Validation and Acceptance; None if there is neither."""
    env, is_validation = tuple(sorted(step.env.items())), step.phase == "validate" and step.service is None
    test = step.validation.test_after
    if test:
        argv, command, is_script = tuple(test), join(test), False
    elif is_validation and step.command and step.shell is not None:
        argv, command, is_script = (step.shell, "-c", step.command), step.command, True
    elif is_validation and step.argv:
        argv, command, is_script = tuple(step.argv), join(step.argv), False
    else:
        return None
    return AcceptanceCheck(task_id, task.text, command, argv, is_script, step.cwd or ".", env, step.timeout_s, step.id)
