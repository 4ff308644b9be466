"""Check of the paths that steps use and write."""

from __future__ import annotations

import os
from collections.abc import Iterator

from execplan.core.named_tuple import NamedTuple
from execplan.core.secrets.secret_files import is_secret_file
from execplan.core.text.plain_toml import parse_toml
from execplan.execution.evaluation.checks.check_registry import ERROR, CheckContext, EvaluationFinding, check
from execplan.execution.evaluation.trial import step_commands, target_paths
from execplan.execution.execution_plan import Step, Type
from execplan.execution.risk.row_matching import candidate_paths
from execplan.execution.shell.command_line import parse_command
from execplan.execution.shell.reading_commands import find_command_reads
from execplan.execution.world import FOLDER, LINK, OTHER, OUTSIDE, World, normalize_path

_TARGET = "target"
_PYPROJECT = "pyproject.toml"
_MAX_LINKS = 20
"""Maximum number of links that are followed for a path."""


@check("paths")
def paths(context: CheckContext) -> Iterator[EvaluationFinding]:
    """Every path is in the repository and not a link, and no written path belongs to Git or ExecPlan."""
    source = context.document.source
    plan_path = source.path if source is not None else ""
    for trial in context.trials:
        for step_path in _step_paths(trial.step):
            for message, fix in _path_problems(context.world, trial.step, step_path, plan_path):
                yield EvaluationFinding(ERROR, f"{step_path.role} {step_path.path} {message}", fix, trial.step)
        for path, target, why in _followed_links(context.world, trial.step):
            problem = f"{path} is a symbolic link to {target}, which {why}"
            yield EvaluationFinding(ERROR, problem, "name the file itself, so that its risk is rated", trial.step)
        for change in trial.changes:
            if (
                _execplan_settings(change.before) != _execplan_settings(change.after)
                and change.path.rpartition("/")[2] == _PYPROJECT
            ):
                problem = f"{change.path}: tool.execplan would change"
                yield EvaluationFinding(ERROR, problem, "change the settings by hand", trial.step)


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
        if step_path.path.startswith("/"):
            why = "is absolute"
        elif leads_out:
            why = "leads outside the repository with `..`"
        else:
            why = "contains `..`"
        yield why, "use a path relative to the root of the repository"
        return
    state = world.state(path)
    if state.kind == OUTSIDE:
        link_text = f"the symbolic link {state.link}" if state.link else "a directory that can't be entered"
        yield f"leads through {link_text}", "use the path that it leads to"
    elif state.kind == LINK and step.from_ is None and not (step.type is Type.DELETE and step_path.is_written):
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
    if step.from_ is not None:
        yield _StepPath("from", step.from_, is_written=step.type is Type.MOVE)
    for pattern in step.replacement.paths if step.replacement is not None else ():
        yield _StepPath("pattern", pattern, is_written=True)
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


def _followed_links(world: World, step: Step) -> Iterator[tuple[str, str, str]]:
    """Yield the paths in a step's commands that are rated as something else, because a link leads elsewhere.

    With each is where it leads, and what that is: a file for secrets, or for what a command reads, outside.
    """
    read_paths: dict[str, bool] = {}
    for line in step_commands(step):
        for simple in parse_command(line.text).simple_commands:
            reads = find_command_reads(simple.argv) if simple.argv else ()
            for argument in (*simple.argv[1:], *simple.writes):
                for path in candidate_paths(argument):
                    read_paths[path] = read_paths.get(path, False) or argument in (reads or ())
    for path, is_read in read_paths.items():
        normalized = normalize_path(os.path.normpath(os.path.join(step.cwd, path)))
        target = _follow_links(world, normalized or "")
        if is_secret_file(target) and not is_secret_file(path):
            yield path, target, "contains credentials"
        elif is_read and normalized is not None and normalize_path(target) is None:
            yield path, target, "is outside the repository"


def _follow_links(world: World, path: str) -> str:
    """Return where the links in a path lead: a path from the root, or the first one outside the repository."""
    for _ in range(_MAX_LINKS):
        if not path or world.state(path).kind not in (LINK, OUTSIDE):
            return path
        parts = path.split("/")
        prefixes = ["/".join(parts[: count + 1]) for count in range(len(parts))]
        link = next((prefix for prefix in prefixes if world.state(prefix).kind == LINK), "")
        if not link:
            return path
        target = os.path.join(os.path.dirname(link), world.state(link).link)
        following = os.path.normpath(os.path.join(target, path[len(link) :].lstrip("/")))
        if normalize_path(following) is None:
            return following
        path = following
    return path


def _execplan_settings(data: bytes | None) -> object:
    """Return the `tool.execplan` table of a pyproject.toml, or None if it is absent or can't be parsed."""
    try:
        tools = parse_toml(data or b"").get("tool", {})
    except (ValueError, RecursionError):
        return None
    return tools.get("execplan") if isinstance(tools, dict) else None
