"""Check of the paths that steps use and write."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.execution.evaluation.checks.check_registry import ERROR, CheckContext, Finding, check
from execplan.execution.evaluation.trial import target_paths
from execplan.execution.execution_plan import Type
from execplan.execution.world import FOLDER, LINK, OTHER, OUTSIDE, normalize_path
from execplan.named_tuple import NamedTuple
from execplan.text.plain_toml import parse_toml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.execution.execution_plan import Step
    from execplan.execution.world import World

_TARGET = "target"
_PYPROJECT = "pyproject.toml"


@check("paths")
def paths(context: CheckContext) -> Iterator[Finding]:
    """Every path is in the repository and not a link, and no written path belongs to Git or ExecPlan."""
    source = context.document.source
    plan_path = source.path if source is not None else ""
    for trial in context.trials:
        for step_path in _step_paths(trial.step):
            for message, fix in _path_problems(context.world, trial.step, step_path, plan_path):
                yield Finding(ERROR, f"{step_path.role} {step_path.path} {message}", fix, trial.step)
        for change in trial.changes:
            if (
                _execplan_settings(change.before) != _execplan_settings(change.after)
                and change.path.rpartition("/")[2] == _PYPROJECT
            ):
                problem = f"{change.path}: tool.execplan would change"
                yield Finding(ERROR, problem, "change the settings by hand", trial.step)


class _StepPath(NamedTuple):
    """A path of a step, with its role."""

    role: str
    path: str
    is_written: bool = False
    """Whether the step creates, changes or deletes the path."""


def _path_problems(world: World, step: Step, step_path: _StepPath, plan_path: str) -> Iterator[tuple[str, str]]:
    """Yield the problems with a path, each with a suggested fix."""
    path = normalize_path(step_path.path)
    if path is None:
        leads_out = os.path.normpath(step_path.path).startswith("..")
        why = (
            "is absolute"
            if step_path.path.startswith("/")
            else "leads outside the repository with `..`"
            if leads_out
            else "contains `..`"
        )
        yield why, "use a path relative to the root of the repository"
        return
    state = world.state(path)
    if state.kind == OUTSIDE:
        link_text = f"the symbolic link {state.link}" if state.link else "a directory that can't be entered"
        yield f"leads through {link_text}", "use the path that it leads to"
    elif state.kind == LINK and not (step.type is Type.DELETE and step_path.is_written):
        yield f"is a symbolic link to {state.link}", "use the file itself"
    elif state.kind == OTHER:
        yield "is a device, a pipe or a socket", "use a regular file"
    elif state.kind == FOLDER and step_path.role == _TARGET:
        yield "is a directory", "use a file; to change several, use a command"
    if step_path.is_written:
        protected_as = (
            "the plan itself, in which a run checks off tasks" if path == plan_path else world.protected(path)
        )
        if protected_as:
            yield f"is {protected_as}", "omit it"


def _step_paths(step: Step) -> Iterator[_StepPath]:
    """Yield all paths of a step with their roles."""
    for path in target_paths(step):
        yield _StepPath(_TARGET, path, is_written=True)
    if step.type is Type.INSTALL and step.target is not None:
        yield _StepPath("environment", step.target, is_written=True)
    for path in step.outputs:
        yield _StepPath("output", path, is_written=True)
    for path in step.inputs:
        yield _StepPath("input", path)
    if normalize_path(step.cwd) != ".":
        yield _StepPath("cwd", step.cwd)
    if step.when is not None and step.when.kind in ("exists", "missing"):
        yield _StepPath("condition", step.when.of)


def _execplan_settings(data: bytes | None) -> object:
    """Return the `tool.execplan` table of a pyproject.toml, or None if it is absent or can't be parsed."""
    try:
        tools = parse_toml(data or b"").get("tool", {})
    except (ValueError, RecursionError):
        return None
    return tools.get("execplan") if isinstance(tools, dict) else None
