"""The record of a run, made from its document and its journal: for whoever does not read journals."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from execplan.clock import now
from execplan.engine.entries import Change, kind_of
from execplan.errors import ExecplanError
from execplan.execution import states
from execplan.execution.documents.document import to_bytes
from execplan.execution.record import Checks, Record, Replanned, Resources, StepRecord
from execplan.text import disk, files

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from execplan.engine.course import Attempt, RunState
    from execplan.engine.place import RunPaths
    from execplan.execution.model import ExecutionPlan, Step

_WORDS = 2000
_NAME = 200
_LIMIT = 64 << 20


def record_of(place: RunPaths, document: ExecutionPlan, course: RunState) -> Record:
    """What has become of a run; its journal holds the entry that it was begun with.

    No time lies later than now, as a clock that was set back would have it; the journal has what was written then.
    """
    begun, given = course.begun, course.approval
    status: Any = course.status
    over = course.status in states.ENDED_RUN_STATES
    steps = tuple([_step(step, course) for step in document.steps])
    return Record(
        run_id=place.id,
        plan_id=document.plan_id,
        revision=document.revision,
        document=course.digest,
        approval=given["approval"],
        mode="agent" if course.is_agents else document.mode,
        status=status,
        approver=None if given["how"] == "policy" else _name(given["approver"]),
        user=_name(begun["user"]) or "unknown",
        session=_name(begun["session"]),
        started=_moment(begun["at"]),
        ended=_moment(course.ended.at) if over and course.ended is not None else None,
        duration_s=course.seconds if over else None,
        steps=steps,
        completed_steps=tuple(course.numbers(states.COMPLETED)),
        failed_steps=tuple(course.numbers(states.FAILED)),
        resources=_resources([each for attempts in course.attempts.values() for each in attempts]),
        validation=_checks([each.validation for each in steps]),
        history=tuple([_replanned(each.said, each.at) for each in course.replans]),
        context={},
    )


def save(place: RunPaths, record: Record) -> None:
    """Write a record into the run's folder, in place of an older one; the caller holds the lock of runs.

    Raises ExecplanError.
    """
    new = to_bytes(record)
    if files.create(place.record, new):
        return
    old = disk.read(place.record, _LIMIT)[0]
    if old != new:
        files.replace(place.record, old, new)


def is_filed(place: RunPaths, document: ExecutionPlan, course: RunState) -> bool:
    """Whether the record that was saved tells how the run has ended; one that can't be read tells nothing."""
    try:
        saved = read(place)
    except ExecplanError:
        return False
    made = record_of(place, document, course)
    return saved is not None and (saved.status, saved.ended, saved.duration_s) == (
        made.status,
        made.ended,
        made.duration_s,
    )


def read(place: RunPaths) -> Record | None:
    """The record that was saved, None where there is none; raises ExecplanError."""
    from execplan.execution.documents.document import load

    if not os.path.lexists(place.record):
        return None
    return load(disk.read(place.record, _LIMIT)[0], Record, place.record)


def _step(step: Step, course: RunState) -> StepRecord:
    """The state of a step as its files are now, and its attempts since a person last had it run."""
    status: Any = course.status_now(step.id)
    every = course.attempts.get(step.id, [])
    last = [each for each in every if each.go == every[-1].go]
    performed = last[-1].performed if last else None
    return StepRecord(
        number=step.number,
        id=step.id,
        status=status,
        attempts=len(last),
        max_attempts=max(1 + step.on_failure.max_retries, len(last)),
        started=_moment(last[0].began) if last else None,
        ended=_moment(last[-1].ended) if performed is not None else None,
        duration_s=performed.seconds if performed is not None else None,
        exit=performed.exit if performed is not None and 0 <= (performed.exit or 0) <= 255 else None,
        signal=performed.signal or None if performed is not None else None,
        reason=_words(course.why.get(step.id, "")) if status in states.STATES_WITH_REASON else None,
        resources=_resources(every),
        validation=_checked(performed.checks) if performed is not None else Checks(),
    )


def _resources(attempts: Sequence[Attempt]) -> Resources:
    """What attempts have used, and what those of them have changed that were not taken back at once."""
    ended = [each.performed for each in attempts if each.performed is not None]
    kept = sorted([each for each in attempts if each.performed is not None and not each.retaken], key=_entry)
    changes = _net([change for each in kept if each.performed is not None for change in each.performed.changes])
    kinds = [kind_of(change) for change in changes]
    return Resources(
        files_created=kinds.count("created"),
        files_modified=kinds.count("modified"),
        files_deleted=kinds.count("deleted"),
        lines_added=sum([change.added for change in changes]),
        lines_removed=sum([change.removed for change in changes]),
        cpu_s=float(sum([each.cpu_s for each in ended])),
        peak_memory_bytes=max([each.peak_memory_bytes for each in ended], default=0),
    )


def _entry(attempt: Attempt) -> int:
    return attempt.entry


def _net(changes: Iterable[Change]) -> list[Change]:
    """One change a path: from what was there first to what was there last; none where these are the same."""
    found: dict[str, Change] = {}
    for change in changes:
        first = found.get(change.path)
        if first is None:
            found[change.path] = change
        else:
            added, removed = first.added + change.added, first.removed + change.removed
            found[change.path] = first._replace(after=change.after, added=added, removed=removed)
    return [change for change in found.values() if change.before != change.after]


def _checked(checks: Any) -> Checks:
    """What was checked of an attempt, as a record has it."""
    return Checks(
        pre_checks=checks.pre, post_checks=checks.post, tests_run=checks.tests_run, tests_passed=checks.tests_passed
    )


def _checks(every: Sequence[Checks]) -> Checks:
    """What was checked of all steps: failed where one has failed, passed where some have passed and none has failed."""
    return Checks(
        pre_checks=_worst([each.pre_checks for each in every]),
        post_checks=_worst([each.post_checks for each in every]),
        tests_run=sum([each.tests_run for each in every]),
        tests_passed=sum([each.tests_passed for each in every]),
    )


def _worst(outcomes: Sequence[str]) -> Any:
    return next((each for each in ("failed", "passed") if each in outcomes), "not_run")


def _replanned(said: dict[str, Any], at: str) -> Replanned:
    return Replanned(
        revision=said["revision"],
        at=_moment(at),
        reason=_words(said["reason"]) or "no reason given",
        completed_steps=tuple(said["completed"]),
        failed_steps=tuple(said["failed"]),
    )


def _moment(at: str) -> str:
    return min(at, f"{now():%Y-%m-%dT%H:%M:%SZ}")


def _words(said: str) -> str | None:
    return said[:_WORDS].encode("utf-8", "backslashreplace").decode("utf-8") or None


def _name(said: str | None) -> str | None:
    """A name as a document holds it."""
    shown = "".join([char if char.isprintable() else " " for char in " ".join((said or "").split())])
    return shown[:_NAME].strip() or None
