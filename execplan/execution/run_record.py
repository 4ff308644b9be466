"""Models of a run record: the result of each step, the resources used, and who approved and ran it."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Literal

from msgspec import Meta, field

from execplan.core.documents.document_model import Model
from execplan.core.documents.text_patterns import matching
from execplan.core.text.violation import Violation
from execplan.execution.documents.document_rules import record_violations
from execplan.execution.execution_plan import Digest, Id, Name, Number, PlanId, ShortText, Timestamp, Version

SCHEMA: Final = "execplan-run-record"
VERSION: Final = 1

RunStatus = Literal["pending", "in_progress", "completed", "failed", "replanning", "rolled_back"]
StepStatus = Literal[
    "pending", "running", "completed", "failed", "skipped", "blocked", "awaiting_approval", "recovered"
]
RunId = Annotated[
    str,
    matching(r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", "an ID of a run: a letter or digit, then letters, digits and `_.-`"),
    Meta(max_length=128),
]
Count = Annotated[int, Meta(ge=0)]
Amount = Annotated[float, Meta(ge=0)]
CheckOutcome = Literal["passed", "failed", "not_run"]


class Resources(Model):
    """Resources that were used, and counts of changed files and lines."""

    files_created: Count = 0
    files_modified: Count = 0
    files_deleted: Count = 0
    lines_added: Count = 0
    lines_removed: Count = 0
    cpu_s: Amount = 0.0
    """Seconds of processor time, children included."""
    peak_memory_bytes: Count = 0


class Checks(Model):
    """Results of the checks before and after a step, and of its tests."""

    pre_checks: CheckOutcome = "not_run"
    post_checks: CheckOutcome = "not_run"
    tests_run: Count = 0
    """Number of commands of `test_after` that were run."""
    tests_passed: Count = 0


class StepRecord(Model):
    """The result of a step."""

    number: Number
    id: Id
    status: StepStatus = "pending"
    attempts: Annotated[int, Meta(ge=0, le=11)] = 0
    max_attempts: Annotated[int, Meta(ge=1, le=11)] = 1
    """The most attempts that the step may have: 1 + its max_retries."""
    started: Timestamp | None = None
    ended: Timestamp | None = None
    duration_s: Amount | None = None
    """Seconds by a clock that is never adjusted, so it can differ from `ended` minus `started`."""
    exit: Annotated[int, Meta(ge=0, le=255)] | None = None
    signal: Annotated[int, Meta(ge=1, le=64)] | None = None
    """The signal that ended the command, if one did."""
    reason: ShortText | None = None
    """Why the step failed, was skipped or is blocked."""
    worker: Name | None = None
    """The worker of a cluster that ran the last attempt of its command; none if it ran here."""
    resources: Resources = Resources()
    validation: Checks = Checks()


class Replanned(Model):
    """A revision that was made during the run."""

    revision: Annotated[int, Meta(ge=2)]
    """The number of the new revision."""
    at: Timestamp
    reason: ShortText
    completed_steps: tuple[Number, ...] = ()
    failed_steps: tuple[Number, ...] = ()


class Record(Model):
    """The record of a run."""

    document_name: ClassVar[str] = "run-record"

    schema_: Literal["execplan-run-record"] = SCHEMA
    version: Version = VERSION
    run_id: RunId
    plan_id: PlanId
    revision: Number
    document: Digest
    """SHA-256 of the bytes of the execution plan that was run."""
    approval: Digest | None = None
    """The digest that was approved; null for what an agent did without an approval."""
    mode: Literal["engine", "agent"] = "engine"
    status: RunStatus = "pending"
    approver: Name | None = None
    """Null if the policy alone approved every step."""
    user: Name
    """The login name of the user."""
    session: Name | None = None
    """The session of the agent program, if it is known."""
    started: Timestamp | None = None
    ended: Timestamp | None = None
    duration_s: Amount | None = None
    steps: Annotated[tuple[StepRecord, ...], Meta(min_length=1, max_length=1000)]
    completed_steps: tuple[Number, ...] = ()
    """Numbers of completed steps, without recovered and skipped ones."""
    failed_steps: tuple[Number, ...] = ()
    resources: Resources = Resources()
    validation: Checks = Checks()
    history: tuple[Replanned, ...] = ()
    """The revisions that were made during the run, oldest first."""
    context: dict[str, Any] = field(default_factory=dict)
    """Any data that the author of the record wants to keep."""

    @classmethod
    def find_violations(cls, value: dict[str, Any]) -> list[Violation]:
        """Return the violations of the rules in `record_rules` at the current time."""
        from execplan.core.clock import now

        return record_violations(value, now().timestamp())
