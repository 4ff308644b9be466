"""Verification of an audit log: its chain, its anchor, and the files that it refers to."""

from __future__ import annotations

import os

from execplan.core.clock import now
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import CHECK_FAILED, OK
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_store import author, plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.project.project_discovery import with_nested_projects
from execplan.core.text.text_lines import digest
from execplan.execution.engine.audit_log import evidence_check, hash_chain, log_reader, record_details
from execplan.execution.engine.audit_log.hash_chain import AuditRecord, ParsedChain
from execplan.execution.engine.audit_log.log_reader import LogAnchor, MovedMeanwhileError


class Acceptance(NamedTuple):
    """The result of accepting a broken audit log."""

    record: AuditRecord | None
    """Record of the acceptance; None if nothing was wrong."""
    commit: str | None = None
    warnings: tuple[str, ...] = ()


def accept_broken_log(project: Project, ref: PlanRef, reason: str, options: WriteOptions) -> Acceptance:
    """Accept an audit log as it is, whatever was lost; record that and commit it if requested. Raises ExecplanError."""
    path, previous_bytes = log_reader.path_of(project, ref), log_reader.read(project, ref)
    accepted_record = _append_acceptance(project, ref, reason, path)
    if accepted_record is None or not options.should_commit(project):
        return Acceptance(accepted_record)
    from execplan.core.edits.plan_commit import commit_paths

    commit_result = commit_paths(
        project, ref.id, [path], "audit", "accept the audit log", {path: previous_bytes} if previous_bytes else {}, None
    )
    return Acceptance(accepted_record, commit_result.digest, commit_result.warnings)


def _append_acceptance(project: Project, ref: PlanRef, reason: str, path: str) -> AuditRecord | None:
    with log_reader.open_log(project, ref) as file:
        verification, log_state = verify_log(project, ref), read_log(project, ref)
        if not verification.reasons:
            return None
        lost_anchor = log_state.anchor if verification.lost else None
        readable, session = log_state.parsed_chain.records, author.session_id()
        accepted_record = hash_chain.with_hash(
            hash_chain.AuditRecord(
                seq=max(
                    log_state.data.count(b"\n"),
                    *[record.seq for record in readable],
                    lost_anchor.seq if lost_anchor else 0,
                    0,
                )
                + 1,
                at=f"{now():%Y-%m-%dT%H:%M:%SZ}",
                kind=hash_chain.ACCEPTED,
                ledger=log_state.name,
                plan_id=ref.id,
                user=author.clean_name(author.system_login()),
                session=author.clean_name(session) if session else None,
                run=None,
                entry=None,
                line=None,
                said={
                    **record_details.redact_details({"reason": reason}),
                    "why": [
                        *([str(verification.flaw)] if verification.flaw else []),
                        *([verification.lost] if verification.lost else []),
                    ],
                    "doubts": list(verification.doubts),
                    "lost": {"seq": lost_anchor.seq, "hash": lost_anchor.hash} if lost_anchor is not None else None,
                },
                prev=digest(log_state.data),
            )
        )
        file.append(hash_chain.encode_record(accepted_record))
        file.renew_copy()
        try:
            log_reader.move(project, log_state.name, log_state.anchor, accepted_record.seq, accepted_record.hash)
        except MovedMeanwhileError:
            raise log_reader.broken_error(
                verification.path, ref.shell_name, "its anchor was moved while it was being accepted"
            ) from None
        return accepted_record


class LogVerification(NamedTuple):
    """The findings of verifying an audit log."""

    plan: str
    name: str
    """Name of the audit log."""
    path: str
    """Path from the repository root."""
    records: int
    """Number of intact records in the audit log."""
    unreadable: int
    """Number of other lines."""
    anchored: int | None
    """Number of the anchored record; None if there is no anchor."""
    flaw: hash_chain.Flaw | None
    """First bad record of the chain."""
    lost: str
    """Why the anchored record is missing."""
    doubts: tuple[str, ...]
    """Files that differ from the audit log."""
    accepted: tuple[str, ...]
    """Accepted problems with their reasons."""
    warnings: tuple[str, ...]

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return all problems that are not accepted."""
        problems = [str(self.flaw)] if self.flaw is not None else []
        return (*problems, *([self.lost] if self.lost else []), *self.doubts)

    @property
    def exit(self) -> int:
        """Return the exit status of a command that verifies the audit log."""
        return CHECK_FAILED if self.reasons else OK


class LogState(NamedTuple):
    """An audit log as read, with its parsed chain, name and anchor."""

    data: bytes
    """Complete lines of the audit log."""
    parsed_chain: ParsedChain
    name: str
    anchor: LogAnchor | None
    is_torn: bool


def read_log(project: Project, ref: PlanRef) -> LogState:
    """Read the current state of an audit log. Raises ExecplanError if it cannot be read."""
    name = hash_chain.find_log_name(log_reader.read(project, ref)) or log_reader.available_name(project, ref)
    known_anchor = log_reader.get(project, name)
    data = log_reader.read(project, ref)  # read after the anchor: another process may write meanwhile
    complete_lines = data[: data.rfind(b"\n") + 1]
    return LogState(
        complete_lines,
        log_reader.parse_log(complete_lines, known_anchor),
        name,
        known_anchor,
        len(complete_lines) < len(data),
    )


def verify_log(project: Project, ref: PlanRef) -> LogVerification:
    """Verify an audit log completely. Raises ExecplanError if it cannot be read."""
    log_state = read_log(project, ref)
    known_anchor, parsed_chain = log_state.anchor, log_state.parsed_chain
    evidence = evidence_check.check_evidence(project, ref, parsed_chain.records)
    warnings = list(evidence.warnings)
    if log_state.is_torn:
        warnings.append("its last line is incomplete: a process was killed while it wrote; the next write removes it")
    if known_anchor is None and parsed_chain.records:
        warnings.append("it has no anchor here, as in a fresh clone, so a removed end can't be detected")
    return LogVerification(
        plan=ref.id,
        name=log_state.name,
        path=project.display_path(log_reader.path_of(project, ref)),
        records=len(parsed_chain.records),
        unreadable=len(parsed_chain.unreadable),
        anchored=known_anchor.seq if known_anchor is not None else None,
        flaw=parsed_chain.flaw,
        lost=log_reader.find_loss(log_state.data, known_anchor) if known_anchor is not None else "",
        doubts=tuple([doubt for doubt in evidence.doubts if doubt not in dict(parsed_chain.accepted)]),
        accepted=tuple([f"{problem}; reason: {reason}" for problem, reason in parsed_chain.accepted]),
        warnings=tuple(warnings),
    )


def verify_all(project: Project) -> tuple[list[LogVerification], tuple[str, ...]]:
    """Verify the audit logs of all plans that have or had one, archived plans included. Raises ExecplanError.

    Also returns a message for each anchor without a plan.
    """
    anchor_keys = log_reader.list_keys(project)
    verifications = [
        verify_log(nested_project, ref)
        for nested_project in with_nested_projects(project)
        for ref in plan_store.all_refs(nested_project)
        if os.path.lexists(log_reader.path_of(nested_project, ref))
        or log_reader.encode_name(log_reader.default_name(nested_project, ref)) in anchor_keys
    ]
    missing_keys = anchor_keys - {log_reader.encode_name(verification.name) for verification in verifications}
    return verifications, tuple(
        [f"an anchored audit log belongs to no plan here: {key}" for key in sorted(missing_keys)]
    )
