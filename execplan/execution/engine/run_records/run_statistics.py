"""Statistics from audit logs: the number of runs, their results, rollbacks and approvals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from execplan.core.timestamps import is_utc_timestamp, parse_utc_timestamp
from execplan.execution.engine.audit_log.hash_chain import AuditRecord
from execplan.execution.engine.journal.journal_entries import RunProgress
from execplan.execution.policy import ROLLBACK_CAUSES
from execplan.execution.states import ENDED_RUN_STATES, PENDING

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
CHANGE_KINDS: Final = ("created", "modified", "deleted")
PATHWAYS: Final = ("engine", "agent")
"""Who performs a run."""
_HOUR = 3600.0
MANUAL: Final = "manual"
"""Cause of a rollback that a person requested."""


_COUNTED_KINDS = frozenset(
    "begun called replanned result service_ended ended rolled_back approved not_given declined revoked".split()
)


class RunStatistics:
    """The statistics of one plan or of several: a count over audit logs, with a method for each kind of record."""

    def __init__(self, audit_logs: Iterable[Sequence[AuditRecord]]) -> None:
        self.runs: dict[str, int] = {}
        """Number of runs by current status."""
        self.executions = dict.fromkeys(ENDED_RUN_STATES, 0)
        """Number of ended runs by current status: completed, failed or rolled_back; each run counts once."""
        self.seconds: list[float] = []
        """Duration of each ended run in seconds, including the time before a resume."""
        self.steps = {"completed": 0, "failed": 0}
        """Number of step attempts: completed, failed."""
        self.agent_runs = 0
        """Number of runs performed by an agent."""
        self.agent_calls = 0
        """Number of allowed calls by agents."""
        self.rollbacks = dict.fromkeys((MANUAL, *ROLLBACK_CAUSES), 0)
        """Number of rollbacks by cause: one of the policy's causes, or `manual`."""
        self.replans = 0
        self.approvals = {"approved": 0, "declined": 0, "revoked": 0, "derived": 0}
        """Number of approvals: approved, declined, revoked; derived for revisions that an earlier approval covers."""
        self.step_seconds: list[float] = []
        """Duration of each step attempt in seconds."""
        self.cpu_seconds = 0.0
        """Processor seconds of all step attempts and services, children included."""
        self.peak_memory_bytes = 0
        """Peak memory of the step attempt or service that used most."""
        self.changes = dict.fromkeys(CHANGE_KINDS, 0)
        """Number of changes of files by step attempts: created, modified, deleted; each change of a file counts."""
        self.lines = {"added": 0, "removed": 0}
        """Number of lines that these changes added and removed."""
        self.errors = dict.fromkeys(ERRORS, 0)
        """Number of failures by cause, one of `ERRORS`."""
        self.pathways = {pathway: {"runs": 0, "attempts": 0, "errors": 0} for pathway in PATHWAYS}
        """Number of runs, step attempts and failures, by who performs a run."""
        self.kinds: dict[str, dict[str, int]] = {}
        """Number of ended runs by current status, for each kind of work that the logs tell, such as `commands`."""
        self.sessions: dict[str, tuple[int, int]] = {}
        """First and last time of each agent session, in seconds since 1970."""
        self._rolled_back_runs = 0
        self._plan_times: dict[str, int] = {}
        self._plan_steps: dict[str, int] = {}
        self._generation: dict[str, float] = {}
        self._categories: dict[str, str] = {}
        """Kind of work of each execution plan."""
        for records in audit_logs:
            self._count_log(records)

    @property
    def plans(self) -> int:
        """Return the number of approved execution plans and created revisions; each counts once, even if approved repeatedly."""
        return len(self._plan_times)

    @property
    def plan_steps(self) -> list[int]:
        """Return the number of steps of each execution plan."""
        return list(self._plan_steps.values())

    @property
    def generation(self) -> list[float]:
        """Return the seconds to generate each execution plan, from the plan or from the remaining steps of a run."""
        return list(self._generation.values())

    @property
    def plans_per_hour(self) -> float | None:
        """Return the execution plans per hour from the first to the last, over at least one hour; None without any."""
        times = self._plan_times.values()
        return len(times) / max(1.0, (max(times) - min(times)) / _HOUR) if times else None

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
        return _rate(self._rolled_back_runs, sum(self.runs.values()))

    def _count_log(self, records: Sequence[AuditRecord]) -> None:
        self._progress: dict[str, RunProgress] = {}
        self._rolled_back_ids: set[str] = set()
        self._failed: dict[str, str] = {}
        self._derived: set[str] = set()
        self._run_pathways: dict[str, str] = {}
        self._run_documents: dict[str, str] = {}
        for record in records:
            self._count(record)
        for run, progress in self._progress.items():
            if progress.status != PENDING:
                self.runs[progress.status] = self.runs.get(progress.status, 0) + 1
            if progress.status in ENDED_RUN_STATES:
                self.executions[progress.status] += 1
                if category := self._categories.get(self._run_documents.get(run, "")):
                    counts = self.kinds.setdefault(category, dict.fromkeys(ENDED_RUN_STATES, 0))
                    counts[progress.status] += 1
                self.seconds += [_number(progress.end_fields.get("seconds")) or 0.0] if progress.end_fields else []
        self._rolled_back_runs += len(self._rolled_back_ids)

    def _count(self, record: AuditRecord) -> None:
        """Count a record if its kind is counted."""
        at = parse_utc_timestamp(record.at) if is_utc_timestamp(record.at) else None
        if record.session and at is not None:
            first, last = self.sessions.get(record.session, (at, at))
            self.sessions[record.session] = min(first, at), max(last, at)
        if record.kind in _COUNTED_KINDS:
            getattr(self, f"_{record.kind}")(record)
        if record.kind in RunProgress.KINDS:
            self._progress.setdefault(record.run or "", RunProgress()).advance(record.kind, record.said)

    def _begun(self, record: AuditRecord) -> None:
        pathway = "agent" if record.said.get("mode") == "agent" else "engine"
        self.agent_runs += pathway == "agent"
        self._run_pathways[record.run or ""] = pathway
        self._run_documents[record.run or ""] = str(record.said.get("document"))
        self.pathways[pathway]["runs"] += 1

    def _called(self, record: AuditRecord) -> None:
        self.agent_calls += 1

    def _replanned(self, record: AuditRecord) -> None:
        self.replans += 1
        self._count_plan(record)

    def _result(self, record: AuditRecord) -> None:
        self.steps["completed" if record.said.get("ok") else "failed"] += 1
        self._count_for_pathway(record, "attempts")
        seconds = _number(record.said.get("seconds"))
        if seconds is not None:
            self.step_seconds.append(seconds)
        self._count_resources(record)
        if not record.said.get("ok"):
            self._failed[record.run or ""] = self._count_error(record)

    def _service_ended(self, record: AuditRecord) -> None:
        self._count_resources(record)

    def _count_resources(self, record: AuditRecord) -> None:
        """Count what an attempt or a service used and changed; a record may have been altered."""
        self.cpu_seconds += _number(record.said.get("cpu_s")) or 0.0
        self.peak_memory_bytes = max(self.peak_memory_bytes, int(_number(record.said.get("peak_memory_bytes")) or 0))
        changes = record.said.get("changes")
        for change in changes if isinstance(changes, list) else ():
            if isinstance(change, dict):
                kind = "created" if change.get("before") is None else "modified"
                self.changes["deleted" if change.get("after") is None else kind] += 1
                for name in self.lines:
                    self.lines[name] += int(_number(change.get(name)) or 0)

    def _count_error(self, record: AuditRecord) -> str:
        """Count the cause of a failure and return it; an unknown cause from a later release counts as `error`."""
        cause = str(record.said.get("cause") or "error")
        kind = cause if cause in self.errors else "error"
        self.errors[kind] += 1
        self._count_for_pathway(record, "errors")
        return kind

    def _count_for_pathway(self, record: AuditRecord, name: str) -> None:
        pathway = self._run_pathways.get(record.run or "")
        if pathway is not None:
            self.pathways[pathway][name] += 1

    def _ended(self, record: AuditRecord) -> None:
        cause = record.said.get("cause")
        is_failed = record.said.get("status") != "completed"
        if is_failed and cause in _RUN_ERRORS and self._failed.get(record.run or "") != cause:
            self._count_error(record)

    def _rolled_back(self, record: AuditRecord) -> None:
        progress = self._progress.get(record.run or "")
        cause = (progress.rollback_cause if progress is not None else "") or MANUAL
        self.rollbacks[cause] = self.rollbacks.get(cause, 0) + 1
        self._rolled_back_ids.add(record.run or "")

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
        self._plan_times.setdefault(document, parse_utc_timestamp(record.at))
        steps, seconds = _number(record.said.get("plan_steps")), _number(record.said.get("generation_s"))
        if isinstance(category := record.said.get("category"), str):
            self._categories.setdefault(document, category)
        if steps is not None:
            self._plan_steps.setdefault(document, int(steps))
        if seconds is not None:
            self._generation.setdefault(document, seconds)

    def _declined(self, record: AuditRecord) -> None:
        self.approvals["declined"] += 1

    def _revoked(self, record: AuditRecord) -> None:
        self.approvals["revoked"] += 1


def _rate(count: int, total: int) -> float | None:
    return count / total if total else None


def _number(value: object) -> float | None:
    """Return the number in a record's field; None if it is not a number."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
