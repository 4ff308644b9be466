"""Check that programs and tools of steps are installed, and that their conditions can be met."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.execution.evaluation.checks.check_registry import ERROR, WARNING, CheckContext, Finding, check
from execplan.execution.execution_plan import Type
from execplan.execution.program_lookup import first_path_directory, working_directory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.execution.execution_plan import Step

_CONTINUING_STRATEGIES = ("skip", "alternative")
"""Failure strategies after which a step that handles the failure can run."""


@check("dependencies")
def dependencies(context: CheckContext) -> Iterator[Finding]:
    """Every program and tool is installed, parameters match their types, and every condition can be met."""
    steps = {step.id: step for step in context.document.steps}
    if context.document.mode == "engine":
        yield from _check_tools(context)
    is_after_install = False
    for trial in context.trials:
        step = trial.step
        yield from _check_programs(context, step, is_after_install=is_after_install)
        yield from _check_conditions(step, steps)
        is_after_install = is_after_install or step.type is Type.INSTALL


def _check_programs(context: CheckContext, step: Step, *, is_after_install: bool) -> Iterator[Finding]:
    """Yield missing programs; programs named by a path from the repository are left to the `existence` check."""
    commands = {"": step.argv, "its test ": step.validation.test_after}
    programs = {label + argv[0]: argv[0] for label, argv in commands.items() if argv is not None}
    if step.shell is not None:
        programs[step.shell] = step.shell
    for label, program in programs.items():
        if ("/" not in program or program.startswith("/")) and not _is_installed(context, step, program):
            level = WARNING if is_after_install else ERROR
            yield Finding(level, f"{label}: program not found on PATH", "install it, or correct its name", step)


def _check_tools(context: CheckContext) -> Iterator[Finding]:
    """Yield missing tools, and parameters that the tools don't accept."""
    steps = [trial.step for trial in context.trials if trial.step.type is Type.TOOL]
    for step, problems in zip(
        steps, context.world.calls([(tool_step.tool, tool_step.parameters or {}) for tool_step in steps]), strict=True
    ):
        for problem in problems:
            yield Finding(ERROR, problem, "see the installed tools: execplan explain tools", step)


def _is_installed(context: CheckContext, step: Step, program: str) -> bool:
    cwd, first_directory = working_directory(step, context.world.state), first_path_directory(step, context.world.state)
    return bool(context.world.program(program, cwd, step.env.get("PATH", ""), first_directory).path)


def _check_conditions(step: Step, steps: dict[str, Step]) -> Iterator[Finding]:
    """Yield dependencies and conditions that do not name an earlier step, or that can never be met."""
    for name in step.depends_on:
        if name not in steps or steps[name].number >= step.number:
            yield Finding(ERROR, f"it needs {name}, which is not an earlier step", "specify an earlier step", step)
    when = step.when
    if when is None or when.kind in ("exists", "missing"):
        return
    condition_step = steps.get(when.of)
    if condition_step is None or condition_step.number >= step.number:
        yield Finding(
            ERROR, f"its condition refers to {when.of}, which is not an earlier step", "specify an earlier step", step
        )
    elif when.kind == "failed" and condition_step.on_failure.strategy.partition(":")[0] not in _CONTINUING_STRATEGIES:
        fix = f"set on-failure=alternative:{step.id} or skip for {when.of}"
        yield Finding(WARNING, f"it never runs: if {when.of} fails, the run ends", fix, step)
    elif when.kind == "skipped" and condition_step.when is None and condition_step.on_failure.strategy != "skip":
        yield Finding(WARNING, f"it never runs: nothing skips {when.of}", f"give {when.of} a condition", step)
