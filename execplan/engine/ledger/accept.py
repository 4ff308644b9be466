"""Going on with a ledger that is broken: on record, with who did so and why."""

from __future__ import annotations

from execplan.clock import now
from execplan.engine.ledger import anchor, chain, names, said
from execplan.engine.ledger.anchor import MovedMeanwhileError
from execplan.engine.ledger.verify import read_log, verify_log
from execplan.record import NamedTuple
from execplan.repo import author
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.ledger.chain import AuditRecord
    from execplan.repo.amend import WriteOptions
    from execplan.repo.home import Project
    from execplan.repo.shelf import PlanRef


class Acceptance(NamedTuple):
    """What was done."""

    record: AuditRecord | None
    """None where nothing is wrong."""
    commit: str | None = None
    warnings: tuple[str, ...] = ()


def accept_broken_log(project: Project, ref: PlanRef, reason: str, options: WriteOptions) -> Acceptance:
    """Record that what is there is to hold from now on, whatever was lost, and commit it when asked; raises ExecplanError."""
    path, previous_bytes = names.path_of(project, ref), names.read(project, ref)
    accepted_record = _append_acceptance(project, ref, reason, path)
    if accepted_record is None or not options.should_commit(project):
        return Acceptance(accepted_record)
    from execplan.repo.commit import commit_paths

    commit_result = commit_paths(project, ref.id, [path], "audit", "accept the ledger", {path: previous_bytes} if previous_bytes else {}, None)
    return Acceptance(accepted_record, commit_result.digest, commit_result.warnings)


def _append_acceptance(project: Project, ref: PlanRef, reason: str, path: str) -> AuditRecord | None:
    with names.open_log(project, ref) as file:
        verification, log_state = verify_log(project, ref), read_log(project, ref)
        if not verification.reasons:
            return None
        lost_anchor = log_state.anchor if verification.lost else None
        readable, session = log_state.parsed_chain.records, author.session_id()
        accepted_record = chain.with_hash(
            chain.AuditRecord(
                seq=max(log_state.data.count(b"\n"), *[record.seq for record in readable], lost_anchor.seq if lost_anchor else 0, 0) + 1,
                at=f"{now():%Y-%m-%dT%H:%M:%SZ}",
                kind=chain.ACCEPTED,
                ledger=log_state.name,
                plan_id=ref.id,
                user=author.clean_name(author.system_login()),
                session=author.clean_name(session) if session else None,
                run=None,
                entry=None,
                line=None,
                said={
                    **said.redact_details({"reason": reason}),
                    "why": [*([str(verification.flaw)] if verification.flaw else []), *([verification.lost] if verification.lost else [])],
                    "doubts": list(verification.doubts),
                    "lost": {"seq": lost_anchor.seq, "hash": lost_anchor.hash} if lost_anchor is not None else None,
                },
                prev=digest(log_state.data),
            )
        )
        file.append(chain.encode_record(accepted_record))
        file.renew_copy()
        try:
            anchor.move(project, log_state.name, log_state.anchor, accepted_record.seq, accepted_record.hash)
        except MovedMeanwhileError:
            raise anchor.broken_error(verification.path, ref.shell_name, "its anchor was moved while it was accepted") from None
        return accepted_record
