"""Figures from ledgers: how many runs there were, how they ended, what was rolled back, who approved."""

from __future__ import annotations

from execplan.clock import is_utc_timestamp, parse_utc_timestamp
from execplan.execution.policy import ROLLBACK_CAUSES
from execplan.execution.states import ENDED_RUN_STATES
from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Final

    from execplan.engine.audit_log.hash_chain import AuditRecord

BUCKETS: Final = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14400.0, 86400.0)
"""Seconds: a step or two, a build, a day."""
STEP_BUCKETS: Final = (0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0)
"""Seconds of a step."""
GENERATION_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)
"""Seconds that an execution plan takes to be made."""
PLAN_BUCKETS: Final = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
"""Steps of an execution plan."""
ERRORS: Final = (
    "exit", "expectation", "syntax", "test", "timeout", "limit", "drift", "error", "interrupted", "cancellation",
)  # fmt: skip
"""Why a step or a run fails, as journals say it: a wrong exit status, other output than expected, what was written does not
parse, the test afterwards, a time limit, a limit of resources, a file that somebody has changed, trouble, a signal, somebody
who stops the run."""
_RUN_ERRORS = ("cancellation", "drift", "timeout")
"""Those of them with which a run ends though no step has failed so."""
_HOUR = 3600.0
MANUAL: Final = "manual"
"""The cause of a rollback that somebody asked for."""


_COUNTED_KINDS = frozenset(
    "begun resumed called replanned result ended rollback rolled_back approved not_given declined revoked".split()
)


class RunStatistics(NamedTuple):
    """What was counted, of one plan or of many."""

    runs: dict[str, int]
    """By the status that they have now."""
    executions: dict[str, int]
    """Runs that ended, each once, by the status that they have now: completed, failed or rolled_back."""
    seconds: tuple[float, ...]
    """How long each run took that ended, with the time before it was resumed."""
    steps: dict[str, int]
    """Attempts of steps: completed, failed."""
    agent_runs: int
    """Of the runs, those that an agent carried out."""
    agent_calls: int
    """Calls that an agent was allowed."""
    rollbacks: dict[str, int]
    """By what caused them: one of the policy's causes, or `manual`."""
    rolled_back: int
    """Runs of which something was rolled back, at least once."""
    replans: int
    approvals: dict[str, int]
    """approved, declined, revoked; derived: those of revisions that an earlier approval covers."""
    plans: int
    """Execution plans that were approved, and revisions that were made; each once, however often it was approved."""
    plan_steps: tuple[int, ...]
    """How many steps each of them has."""
    generation: tuple[float, ...]
    """Seconds that each took to be made, from the plan or from what a run had left."""
    plans_per_hour: float | None
    """From the first of them to the last, and at least in one hour; None of none."""
    step_seconds: tuple[float, ...]
    """How long each attempt of a step took."""
    errors: dict[str, int]
    """By kind, one of ERRORS."""
    sessions: dict[str, tuple[int, int]]
    """By session of an agent program, the first and the last time that it is named, in seconds since 1970."""

    @property
    def approval_rate(self) -> float | None:
        """Of what somebody was asked or said to approve, how much was approved."""
        return _rate(self.approvals["approved"], self.approvals["approved"] + self.approvals["declined"])

    @property
    def success_rate(self) -> float | None:
        """Of the runs that ended, how many are completed."""
        return _rate(self.executions["completed"], sum(self.executions.values()))

    @property
    def rollback_rate(self) -> float | None:
        """Of all runs, how many were rolled back, in whole or in part."""
        return _rate(self.rolled_back, sum(self.runs.values()))


def compute_statistics(audit_logs: Iterable[Sequence[AuditRecord]]) -> RunStatistics:
    """Count what the ledgers of some plans tell."""
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
    """A count that goes on; each kind of record has its function."""

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
        """Begin with another ledger."""
        self._status: dict[str, str] = {}
        self._cause: dict[str, str] = {}
        self._rolled_back_ids: set[str] = set()
        self._durations: dict[str, float] = {}
        self._failed: dict[str, str] = {}
        self._derived: set[str] = set()

    def end_log(self) -> None:
        """Add what only its end tells."""
        for status in self._status.values():
            self.runs[status] = self.runs.get(status, 0) + 1
            if status in ENDED_RUN_STATES:
                self.executions[status] += 1
        self.seconds += [
            seconds for run, seconds in self._durations.items() if self._status.get(run) in ENDED_RUN_STATES
        ]
        self.rolled_back_runs += len(self._rolled_back_ids)

    def count(self, record: AuditRecord) -> None:
        """Count a record, if it is of a kind that is counted."""
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
        """Count why something failed; what a later release says, and this one does not know, is trouble."""
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
        """Count an execution plan, if it was not counted before."""
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
    """A number as a record says it, or None for what is none."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _per_hour(moments: list[int]) -> float | None:
    return len(moments) / max(1.0, (max(moments) - min(moments)) / _HOUR) if moments else None
