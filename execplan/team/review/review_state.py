"""What each person has reviewed: the plan's text and comments, kept with the plan's uncommitted state."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from execplan.core.clock import is_utc_timestamp, utc_timestamp
from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.project import project_state
from execplan.core.text import fast_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project

_MAX_BYTES: Final = 32 << 20


class ReviewState(NamedTuple):
    """A person's last review of a plan."""

    time: str
    """UTC timestamp."""
    data: bytes
    """Bytes of the plan as it was reviewed."""
    record_ids: frozenset[str]
    """IDs of the records of comments that the plan had."""


def read_review(project: Project, ref: PlanRef, reviewer: str) -> ReviewState | None:
    """Return a person's last review of a plan; None if there is none, or if it can't be read."""
    try:
        data = file_access.read_if_exists(_state_path(project, ref, reviewer), _MAX_BYTES)
        fields = fast_json.read(data.decode("utf-8")) if data else None
    except (ExecplanError, ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    time, text, records = fields.get("time"), fields.get("text"), fields.get("records")
    if not (isinstance(time, str) and is_utc_timestamp(time) and isinstance(text, str) and isinstance(records, list)):
        return None
    return ReviewState(time, text.encode("utf-8"), frozenset([name for name in records if isinstance(name, str)]))


def write_review(project: Project, ref: PlanRef, reviewer: str, data: bytes, record_ids: Iterable[str]) -> None:
    """Record that a person has reviewed these bytes of a plan, with its comments; raises ExecplanError."""
    fields = {"time": utc_timestamp(), "reviewer": reviewer, "text": data.decode("utf-8"), "records": list(record_ids)}
    path = _state_path(project, ref, reviewer)
    with project_state.lock(project, "reviews", f"review of {ref.id}"):
        project_state.make_plan_state_dir(project, ref.path)
        atomic_files.replace(path, fast_json.write(fields).encode("utf-8"), mode=0o600)


def _state_path(project: Project, ref: PlanRef, reviewer: str) -> str:
    name = f"reviewed-{project_state.path_key(reviewer)}.json"
    return os.path.join(project_state.plan_state_dir(project, ref.path), name)
