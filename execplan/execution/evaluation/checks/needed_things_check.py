"""Check that everything a step needs exists when it starts: files, programs, tools and what its conditions name."""

from __future__ import annotations

from collections.abc import Iterator

from execplan.execution.evaluation.checks.check_registry import ERROR, WARNING, CheckContext, EvaluationFinding, check
from execplan.execution.evaluation.projected_files import ProjectedState, normalize_paths
from execplan.execution.evaluation.trial import IMPOSSIBLE, Trial, target_paths
from execplan.execution.execution_plan import Step, Type
from execplan.execution.program_lookup import first_path_directory, working_directory
from execplan.execution.world import ABSENT, FILE, FOLDER, normalize_path

_CONTINUING_STRATEGIES = ("skip", "alternative")
"""Failure strategies after which a step that handles the failure can run."""
_MAKE_HINT = "create it in an earlier step, and add it to that step's outputs"


@check("dependencies")
def dependencies(context: CheckContext) -> Iterator[EvaluationFinding]:
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


def _check_programs(context: CheckContext, step: Step, *, is_after_install: bool) -> Iterator[EvaluationFinding]:
    """Yield missing programs; programs named by a path from the repository are left to the `existence` check."""
    commands = {"": step.argv, "its test ": step.validation.test_after}
    programs = {label + argv[0]: argv[0] for label, argv in commands.items() if argv is not None}
    if step.shell is not None:
        programs[step.shell] = step.shell
    for label, program in programs.items():
        if ("/" not in program or program.startswith("/")) and not _is_installed(context, step, program):
            level = WARNING if is_after_install else ERROR
            yield EvaluationFinding(
                level, f"{label}: program not found on PATH", "install it, or correct its name", step
            )


def _check_tools(context: CheckContext) -> Iterator[EvaluationFinding]:
    """Yield missing tools, and parameters that the tools don't accept."""
    steps = [trial.step for trial in context.trials if trial.step.type is Type.TOOL]
    for step, problems in zip(
        steps, context.world.calls([(tool_step.tool, tool_step.parameters or {}) for tool_step in steps]), strict=True
    ):
        for problem in problems:
            yield EvaluationFinding(ERROR, problem, "see the installed tools: execplan explain tools", step)


def _is_installed(context: CheckContext, step: Step, program: str) -> bool:
    cwd, first_directory = working_directory(step, context.world.state), first_path_directory(step, context.world.state)
    return bool(context.world.program(program, cwd, step.env.get("PATH", ""), first_directory).path)


def _check_conditions(step: Step, steps: dict[str, Step]) -> Iterator[EvaluationFinding]:
    """Yield dependencies and conditions that do not name an earlier step, or that can never be met."""
    for name in step.depends_on:
        if name not in steps or steps[name].number >= step.number:
            yield EvaluationFinding(
                ERROR, f"it needs {name}, which is not an earlier step", "specify an earlier step", step
            )
    when = step.when
    if when is None or when.kind in ("exists", "missing"):
        return
    condition_step = steps.get(when.of)
    if condition_step is None or condition_step.number >= step.number:
        yield EvaluationFinding(
            ERROR, f"its condition refers to {when.of}, which is not an earlier step", "specify an earlier step", step
        )
    elif when.kind == "failed" and condition_step.on_failure.strategy.partition(":")[0] not in _CONTINUING_STRATEGIES:
        fix = f"set on-failure=alternative:{step.id} or skip for {when.of}"
        yield EvaluationFinding(WARNING, f"it never runs: if {when.of} fails, the run ends", fix, step)
    elif when.kind == "skipped" and condition_step.when is None and condition_step.on_failure.strategy != "skip":
        yield EvaluationFinding(WARNING, f"it never runs: nothing skips {when.of}", f"give {when.of} a condition", step)


@check("existence")
def existence(context: CheckContext) -> Iterator[EvaluationFinding]:
    """Everything a step needs exists or is created earlier, everything it creates is new, and every diff applies."""
    for trial in context.trials:
        leads_outside = (
            any([normalize_path(path) is None for path in target_paths(trial.step)])
            and "paths" not in context.policy.off
        )
        if trial.dry_run.kind == IMPOSSIBLE and not leads_outside:
            yield EvaluationFinding(ERROR, trial.dry_run.why, _fix_hint(trial), trial.step)
        cwd = normalize_path(trial.step.cwd)
        for path, projected in trial.needs.items():
            if path == cwd:
                yield from _check_cwd(trial, path, projected)
            elif path in normalize_paths(trial.step.inputs):
                yield from _check_input(trial, path, projected)
            else:
                yield from _check_program(trial, path, projected)


def _check_cwd(trial: Trial, path: str, projected: ProjectedState) -> Iterator[EvaluationFinding]:
    """Check that the working directory of a command exists and is a directory."""
    if projected.state is None or projected.state.kind == FOLDER:
        return
    if projected.state.kind == ABSENT:
        # An earlier command may create it without declaring it, as with a program.
        level = WARNING if trial.follows_command else ERROR
        yield EvaluationFinding(
            level,
            f"the working directory {path} doesn't exist",
            "create it in an earlier step, or add it to that step's outputs",
            trial.step,
        )
    else:
        yield EvaluationFinding(
            ERROR, f"the working directory {path} is not a directory", "set cwd to a directory", trial.step
        )


def _check_input(trial: Trial, path: str, projected: ProjectedState) -> Iterator[EvaluationFinding]:
    """Check that an input exists and can be read."""
    if projected.state is None or projected.state.kind == FOLDER:
        return
    if projected.state.kind == ABSENT:
        yield EvaluationFinding(ERROR, f"its input {path} is missing", _MAKE_HINT, trial.step)
    elif projected.state.kind == FILE and not projected.state.sha256:
        yield EvaluationFinding(
            ERROR,
            f"{path} can't be read, or is too large for an approval to cover",
            "remove it from inputs",
            trial.step,
        )


def _check_program(trial: Trial, path: str, projected: ProjectedState) -> Iterator[EvaluationFinding]:
    """Check that a program in the repository exists and is executable."""
    if projected.state is None:
        return
    level = WARNING if trial.follows_command else ERROR
    if projected.state.kind == ABSENT:
        yield EvaluationFinding(level, f"program not found: {path}", _MAKE_HINT, trial.step)
    elif projected.state.kind == FOLDER:
        yield EvaluationFinding(ERROR, f"{path} is a directory, not a program", "specify the program", trial.step)
    elif projected.state.kind == FILE and not projected.state.mode & 0o111:
        yield EvaluationFinding(
            level, f"{path} is not executable: its mode is {projected.state.mode:o}", f"chmod +x {path}", trial.step
        )


def _fix_hint(trial: Trial) -> str:
    """Return a suggested fix for a step that can't run."""
    if "already exists" in trial.dry_run.why:
        return "change it with modify_file"
    if "file not found" in trial.dry_run.why:
        return _MAKE_HINT
    return "fix the step"
