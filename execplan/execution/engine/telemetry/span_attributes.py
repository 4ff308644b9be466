"""Spans as plain data, and their attributes by OpenTelemetry's semantic conventions for CI/CD, processes and git.

The names and values are those of version 1.44 of the conventions. Names that begin with `execplan.` are our own.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

from execplan.execution import states
from execplan.execution.engine.journal.journal_entries import (
    BLOCKED,
    ENDED,
    INTERRUPTED,
    PAUSED,
    RECOVERED,
    RESULT,
    SKIPPED,
)
from execplan.execution.execution_plan import PROGRAM_TYPES, Type

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

    from execplan.execution.engine.journal.journal import RunEntry
    from execplan.execution.engine.telemetry.run_sessions import RunSessionEntries
    from execplan.execution.engine.telemetry.trace_context import TraceContext
    from execplan.execution.execution_plan import Step

    Attributes = Mapping[str, str | int | float | bool]

SERVER: Final = "SERVER"
CLIENT: Final = "CLIENT"
INTERNAL: Final = "INTERNAL"
OK: Final = "OK"
ERROR: Final = "ERROR"
UNSET: Final = "UNSET"
SCHEMA_URL: Final = "https://opentelemetry.io/schemas/1.44.0"
PIPELINE_NAME: Final = "cicd.pipeline.name"
PIPELINE_RUN_ID: Final = "cicd.pipeline.run.id"
PIPELINE_ACTION: Final = "cicd.pipeline.action.name"
PIPELINE_RESULT: Final = "cicd.pipeline.result"
TASK_NAME: Final = "cicd.pipeline.task.name"
TASK_TYPE: Final = "cicd.pipeline.task.type"
TASK_RUN_ID: Final = "cicd.pipeline.task.run.id"
TASK_RESULT: Final = "cicd.pipeline.task.run.result"
ERROR_TYPE: Final = "error.type"
WORKER_NAME: Final = "cicd.worker.name"
EXECUTABLE: Final = "process.executable.name"
EXIT_CODE: Final = "process.exit.code"
ROLLBACK_CAUSE: Final = "execplan.rollback.cause"
"""Cause of an automatic rollback; one that a person requested has none."""
_SUCCESS, _FAILURE, _ERROR, _TIMEOUT, _CANCELLATION, _SKIP = "success failure error timeout cancellation skip".split()
_RESULT_OF_CAUSE: Final = {
    "timeout": _TIMEOUT,
    "cancellation": _CANCELLATION,
    "interrupted": _CANCELLATION,
    "error": _ERROR,
    "drift": _ERROR,
}
"""Results for causes of failure; any other cause is a failure."""
KILLED: Final = "killed"
"""`error.type` of a session or an attempt whose process was killed, so that no entry has its end."""
_DEFAULT_ERROR_TYPE: Final = "_OTHER"


class SpanStatus(NamedTuple):
    """The status of a span."""

    code: str = UNSET
    """One of OK, ERROR and UNSET."""
    description: str = ""
    """Why it is an error; empty otherwise."""


class SpanEvent(NamedTuple):
    """Something that happened during a span."""

    name: str
    time: int
    """In nanoseconds since 1970."""
    attributes: Attributes


class Span(NamedTuple):
    """A span of a run."""

    name: str
    kind: str
    """One of SERVER, CLIENT and INTERNAL."""
    context: TraceContext
    parent: TraceContext | None
    start: int
    """In nanoseconds since 1970, as `end`."""
    end: int
    attributes: Attributes
    status: SpanStatus = SpanStatus()
    events: tuple[SpanEvent, ...] = ()
    links: tuple[TraceContext, ...] = ()
    last_entry: int = 0
    """Number of the journal entry with which the span is complete."""


class SpanOutcome:
    """The result of a session, a step or an attempt: its attributes and its span status."""

    def __init__(self, result: str = "", error_type: str = "", description: str = "", status: str = "") -> None:
        self.result = result
        """One of the conventions' results; empty if there is none yet."""
        self.error_type = error_type
        if error_type:
            self.status = SpanStatus(ERROR, description)
        else:
            self.status = SpanStatus(OK if result == _SUCCESS else UNSET)
        self.own_status = status
        """The status in execplan's terms."""

    def attributes(self, result_name: str, status_name: str = "") -> dict[str, str]:
        """Return the attributes with the given names, without empty ones."""
        attributes = {result_name: self.result, ERROR_TYPE: self.error_type, status_name: self.own_status}
        return {name: value for name, value in attributes.items() if name and value}


def session_outcome(end_entry: RunEntry | None, *, is_replanned: bool) -> SpanOutcome:
    """Return the outcome of a session from the entry that ends it.

    A session that waits for an answer has no result. Without an end, the session was replaced by that of a revision, or
    its process was killed.
    """
    if end_entry is None:
        if is_replanned:
            return SpanOutcome(status=states.REPLANNING)
        return SpanOutcome(_ERROR, KILLED, "the process was killed", KILLED)
    if end_entry.kind == PAUSED:
        return SpanOutcome(status="paused")
    if end_entry.kind == INTERRUPTED:
        return SpanOutcome(_CANCELLATION, status="interrupted")
    assert end_entry.kind == ENDED
    if end_entry.fields["status"] == states.COMPLETED:
        return SpanOutcome(_SUCCESS, status=states.COMPLETED)
    return _failed_outcome(end_entry.fields)


def attempt_outcome(result_entry: RunEntry | None) -> SpanOutcome:
    """Return the outcome of an attempt from the entry with its result; None if its process was killed."""
    if result_entry is None:
        return SpanOutcome(_ERROR, KILLED, "the process was killed")
    return SpanOutcome(_SUCCESS) if result_entry.fields["ok"] else _failed_outcome(result_entry.fields)


def step_outcome(last_entry: RunEntry | None) -> SpanOutcome:
    """Return the outcome of a step from the last entry that changed its status; None if its process was killed.

    A step that another one replaced has failed.
    """
    if last_entry is None or last_entry.kind == RESULT:
        outcome = attempt_outcome(last_entry)
        outcome.own_status = states.COMPLETED if outcome.result == _SUCCESS else states.FAILED
        return outcome
    status = {SKIPPED: states.SKIPPED, BLOCKED: states.BLOCKED, RECOVERED: states.RECOVERED}[last_entry.kind]
    if last_entry.kind == RECOVERED:
        return SpanOutcome(_FAILURE, "recovered", f"replaced by {last_entry.fields['by']}", status)
    return SpanOutcome(_SKIP, status=status)


def _failed_outcome(fields: Mapping[str, Any]) -> SpanOutcome:
    """Return the outcome of a failed run or attempt from its entry."""
    cause = fields.get("cause", "")
    result = _RESULT_OF_CAUSE.get(cause, _FAILURE)
    return SpanOutcome(result, cause or _DEFAULT_ERROR_TYPE, fields.get("reason", ""), states.FAILED)


def run_attributes(begin_fields: Mapping[str, Any]) -> dict[str, str]:
    """Return the attributes that identify a run: of its sessions' spans, and of the resource."""
    return {PIPELINE_NAME: begin_fields["plan_id"], PIPELINE_RUN_ID: begin_fields["run"]}


def session_attributes(begin_fields: Mapping[str, Any], session: RunSessionEntries) -> dict[str, Any]:
    """Return the attributes of a session's span, without those of its outcome."""
    attributes: dict[str, Any] = {
        **run_attributes(begin_fields),
        PIPELINE_ACTION: "RUN",
        "execplan.session.number": session.number,
        "execplan.run.mode": begin_fields.get("mode", "engine"),
    }
    revisions = [entry.fields["revision"] for entry in session.entries if entry.fields.get("revision")]
    return {**attributes, "execplan.plan.revision": revisions[-1]} if revisions else attributes


def rollback_attributes(begin_fields: Mapping[str, Any], end_fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a rollback's span, from the fields of its first and last entries."""
    attributes: dict[str, Any] = {
        "execplan.rollback.is_whole_run": end_fields["whole"],
        "execplan.rollback.steps": len(end_fields["steps"]),
        "execplan.rollback.restored_files": len(end_fields.get("restored", ())),
        "execplan.rollback.removed_files": len(end_fields.get("removed", ())),
    }
    cause = begin_fields["automatic"]
    return {**attributes, ROLLBACK_CAUSE: cause} if cause else attributes


def step_attributes(step_id: str, step: Step | None, run: str) -> dict[str, str]:
    """Return the attributes of a step's span; without the step, only its ID is known.

    Its description is left out: it may contain the command line.
    """
    attributes = {TASK_NAME: step_id, TASK_RUN_ID: f"{run}/{step_id}"}
    if step is not None:
        attributes[TASK_TYPE] = step.type.value
    return attributes


def executable_name(step: Step | None) -> str:
    """Return the name of the program that a step runs, without its directory and arguments; empty for none."""
    if step is None or step.type not in PROGRAM_TYPES:
        return ""
    if step.type is Type.TOOL:
        return step.tool
    return posixpath.basename(step.argv[0]) if step.argv else step.shell or ""


def attempt_attributes(
    fields: Mapping[str, Any], run: str, program: str, result_entry: RunEntry | None
) -> dict[str, Any]:
    """Return the attributes of an attempt's span; `fields` are those of the entry that began it.

    Command arguments and environment variables are left out: they may contain secrets.
    """
    step, number = fields["step"], fields["attempt"]
    attributes: dict[str, Any] = {
        TASK_NAME: step,
        TASK_RUN_ID: f"{run}/{step}/{number}",
        "execplan.attempt.number": number,
        "execplan.attempt.approved_by": fields["by"],
    }
    if fields.get("worker"):
        attributes[WORKER_NAME] = fields["worker"]
    if program:
        attributes[EXECUTABLE] = program
    result_fields = result_entry.fields if result_entry is not None else {}
    if result_fields.get("exit") is not None:
        attributes[EXIT_CODE] = result_fields["exit"]
    if result_fields.get("signal"):
        attributes["execplan.attempt.signal"] = result_fields["signal"]
    if result_fields:
        attributes["execplan.attempt.changed_files"] = len(result_fields.get("changes", ()))
    return attributes
