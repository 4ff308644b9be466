"""Statistics from audit logs: the number of runs, their results, rollbacks and approvals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.named_tuple import NamedTuple
from execplan.core.timestamps import is_utc_timestamp, parse_utc_timestamp
from execplan.execution.policy import ROLLBACK_CAUSES
from execplan.execution.states import ENDED_RUN_STATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Final

    from execplan.execution.engine.audit_log.hash_chain import AuditRecord

BUCKETS: Final = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14400.0, 86400.0)
"""Bucket limits in seconds for run durations, from a step or two over a build to a day."""
STEP_BUCKETS: Final = (0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0)
"""Bucket limits in seconds for step durations."""
GENERATION_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)
"""Bucket limits in seconds for the generation of an execution plan."""
PLAN_BUCKETS: Final = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
"""Bucket limits for the number of steps in an execution plan."""
ERRORS: Final = (
    "exit", "expectation", "syntax", "test", "timeout", "limit", "drift", "error", "interrupted", "cancellation",
)  # fmt: skip
"""Causes for the failure of a step or a run, as named in journals.

In order: a wrong exit status, unexpected output, written code that does not parse, a test after the step, the time
limit, a resource limit, a file that was changed, another error, a signal, cancellation of the run by a person.
"""
_RUN_ERRORS = ("cancellation", "drift", "timeout")
"""Causes that can end a run without a step that failed for the same cause."""
_HOUR = 3600.0
MANUAL: Final = "manual"
"""Cause of a rollback that a person requested."""


_COUNTED_KINDS = frozenset(
    "begun resumed called replanned result ended rollback rolled_back approved not_given declined revoked".split()
)


class RunStatistics(NamedTuple):
    """The statistics of one plan or of several."""

    runs: dict[str, int]
    """Number of runs by current status."""
    executions: dict[str, int]
    """Number of ended runs by current status: completed, failed or rolled_back; each run counts once."""
    seconds: tuple[float, ...]
    """Duration of each ended run in seconds, including the time before a resume."""
    steps: dict[str, int]
    """Number of step attempts: completed, failed."""
    agent_runs: int
    """Number of runs performed by an agent."""
    agent_calls: int
    """Number of allowed calls by agents."""
    rollbacks: dict[str, int]
    """Number of rollbacks by cause: one of the policy's causes, or `manual`."""
    rolled_back: int
    """Number of runs with at least one rollback."""
    replans: int
    approvals: dict[str, int]
    """Number of approvals: approved, declined, revoked; derived for revisions that an earlier approval covers."""
    plans: int
    """Number of approved execution plans and created revisions; each counts once, even if approved repeatedly."""
    plan_steps: tuple[int, ...]
    """Number of steps of each execution plan."""
    generation: tuple[float, ...]
    """Seconds to generate each execution plan, from the plan or from the remaining steps of a run."""
    plans_per_hour: float | None
    """Execution plans per hour from the first to the last, over at least one hour; None without any."""
    step_seconds: tuple[float, ...]
    """Duration of each step attempt in seconds."""
    errors: dict[str, int]
    """Number of failures by cause, one of `ERRORS`."""
    sessions: dict[str, tuple[int, int]]
    """First and last time of each agent session, in seconds since 1970."""

    @property
    def approval_rate(self) -> float | None:
        """Return the share of approval requests that were approved; None without any."""
        return _rate(self.approvals["approved"], self.approvals["approved"] + self.approvals["declined"])

    @property
    def success_rate(self) -> float | None:
        """Return the share of ended runs that are completed; None without any."""
        return _rate(self.executions["completed"], sum(self.executions.values()))

    @property
    def rollback_rate(self) -> float | None:
        """Return the share of all runs that were rolled back, fully or partly; None without any."""
        return _rate(self.rolled_back, sum(self.runs.values()))


def compute_statistics(audit_logs: Iterable[Sequence[AuditRecord]]) -> RunStatistics:
    """Compute the statistics of the audit logs of some plans."""
    counts = _Counter()
    for records in audit_logs:
        counts.begin_log()
        for record in records:
            counts.count(record)
        counts.end_log()
    return RunStatistics(
        counts.runs,
        counts.executions,
        tuple(counts.seconds),
        counts.steps,
        counts.agent_runs,
        counts.agent_calls,
        counts.rollbacks,
        counts.rolled_back_runs,
        counts.replans,
        counts.approvals,
        len(counts.plan_times),
        tuple(counts.plan_steps.values()),
        tuple(counts.generation.values()),
        _per_hour(list(counts.plan_times.values())),
        tuple(counts.step_seconds),
        counts.errors,
        counts.sessions,
    )


class _Counter:
    """A running count over audit logs, with a method for each kind of record."""

    def __init__(self) -> None:
        self.runs: dict[str, int] = {}
        self.executions = dict.fromkeys(ENDED_RUN_STATES, 0)
        self.seconds: list[float] = []
        self.steps = {"completed": 0, "failed": 0}
        self.agent_runs = self.agent_calls = 0
        self.rollbacks = dict.fromkeys((MANUAL, *ROLLBACK_CAUSES), 0)
        self.rolled_back_runs = 0
        self.replans = 0
        self.approvals = {"approved": 0, "declined": 0, "revoked": 0, "derived": 0}
        self.plan_times: dict[str, int] = {}
        self.plan_steps: dict[str, int] = {}
        self.generation: dict[str, float] = {}
        self.step_seconds: list[float] = []
        self.errors = dict.fromkeys(ERRORS, 0)
        self.sessions: dict[str, tuple[int, int]] = {}

    def begin_log(self) -> None:
        """Reset the state of one audit log before counting another."""
        self._status: dict[str, str] = {}
        self._cause: dict[str, str] = {}
        self._rolled_back_ids: set[str] = set()
        self._durations: dict[str, float] = {}
        self._failed: dict[str, str] = {}
        self._derived: set[str] = set()

    def end_log(self) -> None:
        """Add the figures that are known only at the end of an audit log."""
        for status in self._status.values():
            self.runs[status] = self.runs.get(status, 0) + 1
            if status in ENDED_RUN_STATES:
                self.executions[status] += 1
        self.seconds += [
            seconds for run, seconds in self._durations.items() if self._status.get(run) in ENDED_RUN_STATES
        ]
        self.rolled_back_runs += len(self._rolled_back_ids)

    def count(self, record: AuditRecord) -> None:
        """Count a record if its kind is counted."""
        at = parse_utc_timestamp(record.at) if is_utc_timestamp(record.at) else None
        if record.session and at is not None:
            first, last = self.sessions.get(record.session, (at, at))
            self.sessions[record.session] = min(first, at), max(last, at)
        if record.kind in _COUNTED_KINDS:
            getattr(self, f"_{record.kind}")(record)

    def _begun(self, record: AuditRecord) -> None:
        self._status[record.run or ""] = "in_progress"
        self.agent_runs += record.said.get("mode") == "agent"

    def _resumed(self, record: AuditRecord) -> None:
        self._status[record.run or ""] = "in_progress"

    def _called(self, record: AuditRecord) -> None:
        self.agent_calls += 1

    def _replanned(self, record: AuditRecord) -> None:
        self._status[record.run or ""] = "replanning"
        self.replans += 1
        self._count_plan(record)

    def _result(self, record: AuditRecord) -> None:
        self.steps["completed" if record.said.get("ok") else "failed"] += 1
        seconds = _number(record.said.get("seconds"))
        if seconds is not None:
            self.step_seconds.append(seconds)
        if not record.said.get("ok"):
            self._failed[record.run or ""] = self._count_error(record)

    def _count_error(self, record: AuditRecord) -> str:
        """Count the cause of a failure and return it; an unknown cause from a later release counts as `error`."""
        cause = str(record.said.get("cause") or "error")
        kind = cause if cause in self.errors else "error"
        self.errors[kind] += 1
        return kind

    def _ended(self, record: AuditRecord) -> None:
        status = "completed" if record.said.get("status") == "completed" else "failed"
        self._status[record.run or ""] = status
        self._durations[record.run or ""] = _number(record.said.get("seconds")) or 0.0
        cause = record.said.get("cause")
        if status == "failed" and cause in _RUN_ERRORS and self._failed.get(record.run or "") != cause:
            self._count_error(record)

    def _rollback(self, record: AuditRecord) -> None:
        self._cause[record.run or ""] = str(record.said.get("automatic") or MANUAL)

    def _rolled_back(self, record: AuditRecord) -> None:
        cause = self._cause.get(record.run or "", MANUAL)
        self.rollbacks[cause] = self.rollbacks.get(cause, 0) + 1
        self._rolled_back_ids.add(record.run or "")
        if record.said.get("whole"):
            self._status[record.run or ""] = "rolled_back"

    def _approved(self, record: AuditRecord) -> None:
        if record.said.get("how") == "revision":
            self._derived.add(str(record.said.get("file")))
        self.approvals[self._approval_kind(record)] += 1
        self._count_plan(record)

    def _not_given(self, record: AuditRecord) -> None:
        self.approvals[self._approval_kind(record)] -= 1

    def _approval_kind(self, record: AuditRecord) -> str:
        return "derived" if str(record.said.get("file")) in self._derived else "approved"

    def _count_plan(self, record: AuditRecord) -> None:
        """Count an execution plan unless it was counted before."""
        document = record.said.get("document")
        if not isinstance(document, str) or not is_utc_timestamp(record.at):
            return
        self.plan_times.setdefault(document, parse_utc_timestamp(record.at))
        steps, seconds = _number(record.said.get("plan_steps")), _number(record.said.get("generation_s"))
        if steps is not None:
            self.plan_steps.setdefault(document, int(steps))
        if seconds is not None:
            self.generation.setdefault(document, seconds)

    def _declined(self, record: AuditRecord) -> None:
        self.approvals["declined"] += 1

    def _revoked(self, record: AuditRecord) -> None:
        self.approvals["revoked"] += 1


def _rate(count: int, total: int) -> float | None:
    return count / total if total else None


def _number(value: object) -> float | None:
    """Return the number in a record's field; None if it is not a number."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _per_hour(moments: list[int]) -> float | None:
    return len(moments) / max(1.0, (max(moments) - min(moments)) / _HOUR) if moments else None
