"""What is new in a plan for a person: the changes and comments since that person last reviewed it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final, NamedTuple

from execplan.core.clock import utc_timestamp
from execplan.core.errors import ErrorContext, ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_state
from execplan.core.project.project import Project
from execplan.core.text import fast_json
from execplan.core.timestamps import is_utc_timestamp
from execplan.team.history.history_event import HistoryEvent
from execplan.team.history.version_comparison import compare_versions
from execplan.team.history.version_reader import VersionReader, VersionUnits
from execplan.team.review.plan_comments import PlacedThread, load_comments

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


class PlanReview(NamedTuple):
    """The changes of a plan since a person's last review; without one, the content of the plan."""

    project: Project
    ref: PlanRef
    reviewer: str
    last: ReviewState | None
    data: bytes
    """Bytes of the plan now."""
    old: VersionUnits | None
    """The plan as it was reviewed; None before the first review."""
    new: VersionUnits
    events: tuple[HistoryEvent, ...]
    """What changed, in the order of the plan."""
    new_threads: tuple[PlacedThread, ...]
    """Comments that others have made, replied to, resolved or reopened since."""
    record_ids: tuple[str, ...]
    """IDs of all records of comments."""
    problems: tuple[str, ...]
    """Lines of the file of comments that are not used."""


def load_review(project: Project, ref: PlanRef, reviewer: str) -> PlanReview:
    """Load what is new in a plan for a person; raises ExecplanError if the plan or its comments can't be read."""
    last = read_review(project, ref, reviewer)
    with ErrorContext(project.display_path(ref.path)):
        data = plan_store.read_bytes(project, ref.path)
        version_reader = VersionReader(project.titles)
        new = version_reader.read(data)
        plan = plan_store.parse(project, data)
    old = version_reader.read(last.data) if last is not None else None
    comments = load_comments(project, ref, plan)
    known_ids = last.record_ids if last is not None else frozenset()
    records = {placed: (placed.thread.comment, *placed.thread.replies) for placed in comments.threads}
    is_new = {
        record.id: record.id not in known_ids and record.author != reviewer
        for thread_records in records.values()
        for record in thread_records
    }
    baseline = old if old is not None else version_reader.read(f"# {new.title or ref.id}\n".encode())
    events = compare_versions(baseline, new) if last is None or last.data != data else []
    path = project.display_path(ref.path)
    return PlanReview(
        project,
        ref,
        reviewer,
        last,
        data,
        old,
        new,
        tuple([event._replace(plan_id=ref.id, path=path) for event in events]),
        tuple([placed for placed in comments.threads if any([is_new[record.id] for record in records[placed]])]),
        tuple(is_new),
        comments.problems,
    )


def mark_reviewed(review: PlanReview) -> None:
    """Record that the person has reviewed what was loaded, so later changes are new again; raises ExecplanError."""
    write_review(review.project, review.ref, review.reviewer, review.data, review.record_ids)
