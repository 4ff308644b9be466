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


def drifted(step: Mapping[str, Any], course: RunState, world: World) -> str:
    """What is not as it should be, or nothing; of a step that is under way only what it reads, for it has begun to write.

    Raises ExecplanError where a disk fails.
    """
    writes = {
        normalize_path(path) for path in ([step["target"]] if step.get("target") else []) + diff_paths(step.get("patch") or "")
    }
    reads = {normalize_path(path) for path in step.get("inputs") or ()}
    begun = course.status_of.get(step["id"]) == states.RUNNING
    for path in sorted([each for each in (reads - writes if begun else reads | writes) if each is not None]):
        wanted = course.expected_states.get(path)
        found = world.state(path)
        if wanted is None or ((wanted.kind, found.kind) == (ABSENT, FOLDER) and _was_filled(course, path)):
            continue
        if why := describe_difference(sanitize_state(wanted), sanitize_state(found)):
            return f"{path} {why}"
    return ""


def _was_filled(course: RunState, folder: str) -> bool:
    """Whether the run itself has made a file in a folder, and so the folder."""
    return any([path.startswith(f"{folder}/") and state.kind != ABSENT for path, state in course.expected_states.items()])
