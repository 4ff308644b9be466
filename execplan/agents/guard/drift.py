"""Whether the files that a step is about are as they should be before an agent begins it, as a run asks it of its own steps."""

from __future__ import annotations

from execplan.execution import states
from execplan.execution.binding import sanitize_state, describe_difference
from execplan.execution.documents.touched import diff_paths
from execplan.execution.world import ABSENT, FOLDER, normalize_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from execplan.engine.course import RunState
    from execplan.execution.world import World


def find_drift(step: Mapping[str, Any], run_state: RunState, world: World) -> str:
    """What is not as it should be, or nothing; of a step that is under way only what it reads, for it has begun to write.

    Raises ExecplanError where a disk fails.
    """
    writes = {
        normalize_path(path) for path in ([step["target"]] if step.get("target") else []) + diff_paths(step.get("patch") or "")
    }
    reads = {normalize_path(path) for path in step.get("inputs") or ()}
    is_running = run_state.status_of.get(step["id"]) == states.RUNNING
    for path in sorted([candidate for candidate in (reads - writes if is_running else reads | writes) if candidate is not None]):
        expected = run_state.expected_states.get(path)
        actual = world.state(path)
        if expected is None or ((expected.kind, actual.kind) == (ABSENT, FOLDER) and _was_filled_by_run(run_state, path)):
            continue
        if reason := describe_difference(sanitize_state(expected), sanitize_state(actual)):
            return f"{path} {reason}"
    return ""


def _was_filled_by_run(run_state: RunState, folder: str) -> bool:
    """Whether the run itself has made a file in a folder, and so the folder."""
    return any([path.startswith(f"{folder}/") and state.kind != ABSENT for path, state in run_state.expected_states.items()])
