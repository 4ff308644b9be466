"""Before a step: its files are as they should be, and all that it is about to change is kept."""

from __future__ import annotations

from execplan.engine.steps import looks
from execplan.engine.steps.named import checked_paths, list_declared_paths, parent_folders, is_command, runs_program
from execplan.errors import CONFLICT, ExecplanError
from execplan.execution.binding import sanitize_state, describe_difference
from execplan.execution.world import ABSENT, FOLDER, OUTSIDE, State
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from execplan.engine.steps.bench import RunContext
    from execplan.execution.model import Step


class PreparedStep(NamedTuple):
    """What was there before a step."""

    before: dict[str, State]
    """By path: what it says that it writes, and the folders above that are missing."""
    snapshot: bool
    """Whether the whole tree was looked at and kept too."""


def prepare_step(context: RunContext, step: Step, expected: Mapping[str, State]) -> PreparedStep:
    """Check that all is as the run expects it, and keep it; raises ExecplanError."""
    differences = list(_find_differences(context, step, expected))
    if differences:
        raise _drift_error(step, differences)
    paths = list_declared_paths(step)
    before = {folder: State(ABSENT) for folder in parent_folders(paths) if context.workspace.state(folder).kind == ABSENT}
    if is_command(step):
        before |= {path: context.workspace.state(path) for path in paths}
    else:
        before |= {path: context.store.save_path(context.workspace, path) for path in paths}
    differences = [f"{path}: {reason}" for path in paths if (reason := _path_difference(context, step, expected, path, before[path]))]
    if differences:  # it changed while it was kept
        raise _drift_error(step, differences)
    if runs_program(step):
        looks.save_snapshot(context, step)
    return PreparedStep(before, runs_program(step))


def _find_differences(context: RunContext, step: Step, expected: Mapping[str, State]) -> Iterator[str]:
    """What is not as it should be, a line each."""
    for path in dict.fromkeys([*checked_paths(step), *list_declared_paths(step)]):
        reason = _path_difference(context, step, expected, path, context.workspace.state(path))
        if reason:
            yield f"{path}: {reason}"
    for folder in parent_folders(list_declared_paths(step)):
        kind = context.workspace.state(folder).kind
        if kind not in (ABSENT, FOLDER, OUTSIDE):  # what lies outside was told of the path itself
            yield f"{folder}: is no folder, and something is to be written in it"


def _path_difference(context: RunContext, step: Step, expected: Mapping[str, State], path: str, state: State) -> str:
    """How a path is not as it should be, or nothing; what is no target and no input must only lie in the repository."""
    original_paths = checked_paths(step)
    if path not in original_paths:
        return "leads out of the repository" if state.kind == OUTSIDE else ""
    expected_state = expected.get(path, expected.get(original_paths[path]))
    if expected_state is None:
        return ""
    if (expected_state.kind, state.kind) == (ABSENT, FOLDER) and _was_created_by_run(expected, path):
        return ""
    return describe_difference(sanitize_state(expected_state), sanitize_state(state))


def _was_created_by_run(expected: Mapping[str, State], folder: str) -> bool:
    """Whether the run itself has made a file in a folder, and so the folder."""
    return any([path.startswith(f"{folder}/") and state.kind != ABSENT for path, state in expected.items()])


def _drift_error(step: Step, differences: list[str]) -> ExecplanError:
    return ExecplanError(
        "drifted",
        f"{step.id} was not begun: {differences[0]}" + (f", and {len(differences) - 1} more" if len(differences) > 1 else ""),
        exit=CONFLICT,
        hint="bring it back as it was and resume, or roll the run back: execplan resume; execplan rollback",
        candidates=differences,
    )
