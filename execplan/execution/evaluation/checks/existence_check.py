"""Check that everything a step needs exists when it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.execution.evaluation.checks.check_registry import ERROR, WARNING, CheckContext, Finding, check
from execplan.execution.evaluation.projected_files import normalize_paths
from execplan.execution.evaluation.trial import IMPOSSIBLE, target_paths
from execplan.execution.world import ABSENT, FILE, FOLDER, normalize_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.execution.evaluation.projected_files import ProjectedState
    from execplan.execution.evaluation.trial import Trial

_MAKE_HINT = "create it in an earlier step, and add it to that step's outputs"


@check("existence")
def existence(context: CheckContext) -> Iterator[Finding]:
    """Everything a step needs exists or is created earlier, everything it creates is new, and every diff applies."""
    for trial in context.trials:
        leads_outside = (
            any([normalize_path(path) is None for path in target_paths(trial.step)])
            and "paths" not in context.policy.off
        )
        if trial.dry_run.kind == IMPOSSIBLE and not leads_outside:
            yield Finding(ERROR, trial.dry_run.why, _fix_hint(trial), trial.step)
        cwd = normalize_path(trial.step.cwd)
        for path, projected in trial.needs.items():
            if path == cwd:
                yield from _check_cwd(trial, path, projected)
            elif path in normalize_paths(trial.step.inputs):
                yield from _check_input(trial, path, projected)
            else:
                yield from _check_program(trial, path, projected)


def _check_cwd(trial: Trial, path: str, projected: ProjectedState) -> Iterator[Finding]:
    """Check that the working directory of a command exists and is a directory."""
    if projected.state is None or projected.state.kind == FOLDER:
        return
    if projected.state.kind == ABSENT:
        # An earlier command may create it without declaring it, as with a program.
        level = WARNING if trial.follows_command else ERROR
        yield Finding(
            level,
            f"the working directory {path} doesn't exist",
            "create it in an earlier step, or add it to that step's outputs",
            trial.step,
        )
    else:
        yield Finding(ERROR, f"the working directory {path} is not a directory", "set cwd to a directory", trial.step)


def _check_input(trial: Trial, path: str, projected: ProjectedState) -> Iterator[Finding]:
    """Check that an input exists and can be read."""
    if projected.state is None or projected.state.kind == FOLDER:
        return
    if projected.state.kind == ABSENT:
        yield Finding(ERROR, f"its input {path} is missing", _MAKE_HINT, trial.step)
    elif projected.state.kind == FILE and not projected.state.sha256:
        yield Finding(
            ERROR,
            f"{path} can't be read, or is too large for an approval to cover",
            "remove it from inputs",
            trial.step,
        )


def _check_program(trial: Trial, path: str, projected: ProjectedState) -> Iterator[Finding]:
    """Check that a program in the repository exists and is executable."""
    if projected.state is None:
        return
    level = WARNING if trial.follows_command else ERROR
    if projected.state.kind == ABSENT:
        yield Finding(level, f"program not found: {path}", _MAKE_HINT, trial.step)
    elif projected.state.kind == FOLDER:
        yield Finding(ERROR, f"{path} is a directory, not a program", "specify the program", trial.step)
    elif projected.state.kind == FILE and not projected.state.mode & 0o111:
        yield Finding(
            level, f"{path} is not executable: its mode is {projected.state.mode:o}", f"chmod +x {path}", trial.step
        )


def _fix_hint(trial: Trial) -> str:
    """Return a suggested fix for a step that can't run."""
    if "already exists" in trial.dry_run.why:
        return "change it with modify_file"
    if "file not found" in trial.dry_run.why:
        return _MAKE_HINT
    return "fix the step"
