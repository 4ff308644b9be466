"""Records next to a plan: its runs with their transcripts, its approvals and its audit log."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from execplan.core.errors import ExecplanError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.execution.engine.audit_log.hash_chain import AuditRecord
    from execplan.execution.engine.run_records.run_summary import RunSummary
    from execplan.views.site.artifact_copies import Artifact

MAX_AUDIT_RECORDS: Final = 500
"""Maximum number of audit records to show, the latest ones; a run may have thousands."""
_DETAIL_FIELDS: Final = ("approver", "step", "task", "tool", "path", "status", "reason", "question", "answer")
"""Fields of an audit record that the page shows, in order."""
_METHODS: Final = {
    "terminal": "on a terminal",
    "digest": "with its digest",
    "policy": "by the policy",
    "revision": "as a covered revision",
}


class RunItem(NamedTuple):
    """A run of a plan."""

    number: int
    state: str
    started: str
    seconds: float | None
    done: int
    total: int
    details: str
    """Question for which it waits, or that it was interrupted; empty otherwise."""
    transcripts: tuple[Artifact, ...]


class ApprovalItem(NamedTuple):
    """An approval of a plan's execution plan."""

    digest: str
    """First digits of the approved digest."""
    approver: str
    method: str
    approved_at: str
    expires_at: str
    steps: str
    """The steps that it covers; empty for all of them."""


class AuditItem(NamedTuple):
    """A record of the audit log."""

    number: int
    at: str
    user: str
    kind: str
    run: str
    details: str


class PlanRecords(NamedTuple):
    """The records next to a plan."""

    runs: tuple[RunItem, ...] = ()
    approvals: tuple[ApprovalItem, ...] = ()
    audit: tuple[AuditItem, ...] = ()
    """Latest records, in order."""
    audit_count: int = 0
    """Number of all records."""
    problems: tuple[str, ...] = ()
    """Why some records can't be read."""


def load_records(project: Project, ref: PlanRef, artifacts: Sequence[Artifact]) -> PlanRecords:
    """Load the records of a plan; a damaged record becomes a problem in the result."""
    names = {artifact.name.partition("/")[0] for artifact in artifacts}
    problems: list[str] = []
    runs: tuple[RunItem, ...] = ()
    if "runs" in names:
        from execplan.execution.engine.run_records.run_summary import list_readable_runs

        summaries, unreadable = list_readable_runs(project, [ref])
        problems += unreadable
        runs = tuple([_run_item(summary, artifacts) for summary in summaries])
    approvals = _load_approvals(project, ref, problems) if "approvals" in names else ()
    records = _load_audit(project, ref, problems)
    audit = tuple([_audit_item(record) for record in records[-MAX_AUDIT_RECORDS:]])
    return PlanRecords(runs, approvals, audit, len(records), tuple(problems))


def _run_item(summary: RunSummary, artifacts: Sequence[Artifact]) -> RunItem:
    directory = os.path.join("runs", summary.id, "transcripts", "")
    details = summary.question.words if summary.question is not None else ""
    if summary.cut_short:
        details = "interrupted"
    elif summary.rolling:
        details = "its rollback was interrupted"
    return RunItem(
        summary.number,
        summary.status.replace("_", " "),
        summary.started,
        summary.seconds,
        summary.done,
        summary.total,
        details,
        tuple([artifact for artifact in artifacts if artifact.name.startswith(directory)]),
    )


def _load_approvals(project: Project, ref: PlanRef, problems: list[str]) -> tuple[ApprovalItem, ...]:
    from execplan.execution.approvals import approval_files

    try:
        stored_approvals = approval_files.select_readable(approval_files.read_all(project, ref))
    except ExecplanError as error:
        problems.append(f"the approvals can't be read: {error.message}")
        return ()
    return tuple(
        [
            ApprovalItem(
                stored.digest[:12],
                stored.approval.approver,
                _METHODS.get(stored.approval.how, stored.approval.how),
                stored.approval.approved_at,
                stored.approval.expires_at,
                ", ".join(stored.approval.steps or ()),
            )
            for stored in stored_approvals
        ]
    )


def _load_audit(project: Project, ref: PlanRef, problems: list[str]) -> Sequence[AuditRecord]:
    from execplan.execution.engine.audit_log import log_reader

    if not os.path.lexists(log_reader.path_of(project, ref)):
        return ()
    try:
        return log_reader.read_records(project, ref)
    except ExecplanError as error:
        problems.append(f"the audit log can't be read: {error.message}")
        return ()


def _audit_item(record: AuditRecord) -> AuditItem:
    details = [str(record.said[name]) for name in _DETAIL_FIELDS if isinstance(record.said.get(name), str | int)]
    return AuditItem(
        record.seq,
        record.at,
        record.user,
        record.kind.replace("_", " "),
        record.run or "",
        ", ".join(filter(None, details)),
    )
