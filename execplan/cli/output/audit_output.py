"""Output of `audit`: records with the files that they changed, and the result of a verification."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from execplan.agents.integrations import installed_guard
from execplan.cli.answer import Answer, json_fields, written_answer
from execplan.cli.output.terminal_text import printable_lines
from execplan.cli.output.text_table import format_table
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import OK
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.text.message_parts import format_count, format_excess, join_first
from execplan.execution.engine.audit_log import hash_chain, log_reader, log_verification
from execplan.execution.engine.audit_log.hash_chain import AuditRecord
from execplan.execution.engine.audit_log.log_verification import LogVerification
from execplan.execution.engine.audit_log.record_details import find_unseen_steps

_MAX_UNREAD_SHOWN = 20
"""Maximum number of unreadable lines to report one by one."""
_HEAD = ("record", "time", "user", "run", "what", "about")
_RECORD_TEMPLATES = {
    "approved": "{digest:.12} by {approver}{source} until {expires_at}: {steps}",
    "not_given": "{digest:.12}: {reason}",
    "declined": "{digest:.12} by {approver}: {steps}",
    "revoked": "{digest:.12}",
    "enhancing": "{bytes} bytes, {sent:.12}, to {program}; redacted: {redactions}",
    "enhanced": "{ended} by {program}: {reason}",
    "accepted": "{why}; reason: {reason}",
    "begun": "revision {revision}, approval {approval:.12} by {approver}{agent}{executor}",
    "intent": "{step}, attempt {attempt}{worker}: {runs}",
    "asked": "{step}: {tool}",
    "called": "{step}, attempt {attempt}: {tool}: {what}{asked}",
    "denied": "{tool}: {what}{nearest}",
    "result": "{step}, attempt {attempt}: {ended}",
    "service_ended": "{step}, attempt {attempt}: {ended}",
    "retaken": "{step}, attempt {attempt}",
    "skipped": "{step}: {reason}",
    "blocked": "{step}: {reason}",
    "recovered": "{step}: replaced by {by}",
    "ticked": "{step}: {task}",
    "reopened": "{step}: {task}",
    "paused": "{question}",
    "answered": "{why}: {answer}",
    "replanned": "revision {revision}: {reason}",
    "interrupted": "{signal}",
    "resumed": "revision {revision}, approval {approval:.12} by {approver}{executor}",
    "ended": "{status} after {seconds} s: {reason}",
    "rollback": "{steps} {cause}",
    "restored": "{paths}",
    "rolled_back": "{steps}",
}
"""Summary templates by record kind."""
_KIND_NAMES = {
    "begun": "started",
    "not_given": "not approved",
    "retaken": "reverted",
    "service_ended": "service ended",
    "rolled_back": "rolled back",
    "ticked": "checked off",
}
"""Words for the kinds of records, where the word for people differs from the one in JSON."""
_MAX_CHANGES_SHOWN = 50
_REVERTING_KINDS = ("retaken", "rollback")
"""Kinds of records that list reverted changes."""


def audit_answer(project: Project, ref: PlanRef, run: str | None) -> Answer:
    """Show the audit records of a plan, or of one of its runs with the approval that covered it."""
    audit_log = log_verification.read_log(project, ref)
    records = audit_log.parsed_chain.records
    if run is not None:
        from execplan.execution.engine.run_records import run_directories

        records = _records_of_run(records, run_directories.find_run(project, ref, run).id)
    flaw = audit_log.parsed_chain.flaw
    warnings = [f"the audit log is broken: {flaw}"] if flaw is not None else []
    if audit_log.anchor is not None and (loss := log_reader.find_loss(audit_log.data, audit_log.anchor)):
        warnings.append(f"the audit log is broken: {loss}")
    warnings += [f"skipped: {line}" for line in audit_log.parsed_chain.unreadable[:_MAX_UNREAD_SHOWN]]
    unseen_steps = find_unseen_steps(records, is_guarded=bool(installed_guard.find_programs(project)))
    warnings += [f"the guard saw no call of {step}, which was completed" for step in unseen_steps]
    data = {
        "id": ref.id,
        "ledger": project.display_path(log_reader.path_of(project, ref)),
        "anchored": audit_log.anchor.seq if audit_log.anchor is not None else None,
        "records": [record._asdict() for record in records],
    }
    if records:
        text = format_table(_HEAD, [row for record in records for row in _record_rows(record)])
    else:
        text = "no records yet"
    next_commands = (f"execplan audit {ref.shell_name} --verify",) if records else ()
    return Answer(data, text, warnings=tuple(warnings), next_commands=next_commands)


def verify_plan_answer(project: Project, ref: PlanRef) -> Answer:
    """Verify the audit log of a plan."""
    return _verification_answer([log_verification.verify_log(project, ref)], ())


def verify_all_answer(project: Project) -> Answer:
    """Verify the audit logs of all plans."""
    return _verification_answer(*log_verification.verify_all(project))


def accept_broken_log(project: Project, ref: PlanRef, reason: str, options: WriteOptions) -> Answer:
    """Accept a broken audit log and record the reason."""
    verification = log_verification.verify_log(project, ref)
    data: dict[str, Any] = {
        "id": ref.id,
        "ledger": verification.path,
        "reasons": list(verification.reasons),
        "changed": False,
    }
    if not verification.reasons:
        return Answer({**data, "record": None, "commit": None}, "nothing to accept: the audit log is intact")
    if options.dry_run:
        lines = [f"would accept: {problem}" for problem in verification.reasons]
        return Answer({**data, "record": None, "commit": None}, printable_lines(lines))
    from execplan.execution.engine.audit_log.log_verification import accept_broken_log

    record, commit, warnings = accept_broken_log(project, ref, reason, options)
    lines = [f"accepted: {problem}" for problem in verification.reasons]
    lines += [f"committed {commit[:12]}"] if commit else []
    data |= {
        "changed": record is not None,
        "record": record._asdict() if record is not None else None,
        "commit": commit,
    }
    return Answer(data, printable_lines(lines), warnings=warnings, is_requested=False)


def attestation_answer(project: Project, ref: PlanRef, options: WriteOptions) -> Answer:
    """Write the attestation of a plan's last run."""
    from execplan.execution.engine.audit_log.run_attestation import attest_last_run

    stored = attest_last_run(project, ref, options)
    data = {"id": ref.id, **json_fields(stored, "path changed digest commit")}
    data["changed"] = stored.changed and not options.dry_run
    if options.dry_run:
        line = f"would write {stored.path}" if stored.changed else "nothing to write: the attestation is up to date"
    else:
        line = f"attested in {stored.path}" if stored.changed else f"{stored.path} is up to date"
    return written_answer(stored, data, [line], dry_run=options.dry_run)


def _verification_answer(verifications: Sequence[LogVerification], extra_warnings: tuple[str, ...]) -> Answer:
    rows = [row for verification in verifications for row in _verification_rows(verification)]
    broken = [verification for verification in verifications if verification.reasons]
    head = format_table(("state", "plan", "details"), rows) if rows else "no records yet"
    lines: list[str] = []
    for verification in broken:
        lines.append(
            f"fix: restore {verification.path} from git, a backup or its copy: execplan doctor; "
            f"or accept it as it is: execplan audit {shlex.quote(verification.plan)} --accept 'Why'"
        )
    warnings = (
        tuple([f"{verification.plan}: {line}" for verification in verifications for line in verification.warnings])
        + extra_warnings
    )
    data = {"plans": [_verification_json(verification) for verification in verifications]}
    return Answer(
        data,
        printable_lines(lines, head),
        max([verification.exit for verification in verifications], default=OK),
        warnings=warnings,
    )


def _verification_rows(verification: LogVerification) -> Iterator[tuple[str, str, str]]:
    anchored = f"anchored at record {verification.anchored}" if verification.anchored is not None else "no anchor"
    count = format_count(verification.records, "record")
    if verification.unreadable:
        count += f" and {format_count(verification.unreadable, 'altered line')}"
    if not verification.reasons:
        yield ("intact", verification.plan, f"{count}, {anchored}")
    for reason in verification.reasons:
        yield ("broken", verification.plan, reason)
    for acceptance in verification.accepted:
        yield ("accepted", verification.plan, acceptance)


def _verification_json(verification: LogVerification) -> dict[str, Any]:
    return {
        "id": verification.plan,
        "ledger": verification.path,
        "ok": not verification.reasons,
        **json_fields(verification, "records anchored"),
        "flaw": verification.flaw._asdict() if verification.flaw is not None else None,
        **json_fields(verification, "reasons accepted warnings"),
    }


def _records_of_run(records: Sequence[AuditRecord], run: str) -> list[AuditRecord]:
    """Return the records of a run and of its approvals."""
    run_records = [record for record in records if record.run == run]
    approval_ids = [record.said["approval_id"] for record in run_records if record.said.get("approval_id")]
    return [
        record
        for record in records
        if record.run == run or (not record.run and record.said.get("approval") in approval_ids)
    ]


class _RecordFields(dict[str, str]):
    """The formatted fields of a record, with a dash for each missing field."""

    def __missing__(self, name: str) -> str:
        return "-"


def _record_rows(record: AuditRecord) -> Iterator[tuple[str, ...]]:
    """Yield a table row for a record and one for each changed file."""
    user = f"{record.user} [{record.session[:8]}]" if record.session else record.user
    fields = _RecordFields({name: _format_value(value) for name, value in record.said.items()})
    if record.kind == "intent":
        fields["runs"] = _format_command(record.said)
    elif record.kind == "enhancing":
        fields["redactions"] = _format_redactions(record.said.get("redactions"))
    elif record.kind in ("result", "service_ended"):
        fields["ended"] = _format_result(record.said)
    elif record.kind == "restored":
        fields["paths"] = _format_restored(record.said)
    fields["cause"] = f"({record.said['automatic']})" if record.said.get("automatic") else ""
    fields["nearest"] = f" (nearest step: {record.said['step']})" if record.said.get("step") else ""
    fields["asked"] = " (a person was asked)" if record.said.get("asked") else ""
    fields["source"] = _format_source(record.said) if record.kind == "approved" else ""
    fields["executor"] = f", with workers of {record.said['executor']}" if record.said.get("executor") else ""
    fields["worker"] = f", on {record.said['worker']}" if record.said.get("worker") else ""
    fields["agent"] = ", by an agent" if record.said.get("mode") == "agent" else ""
    summary = _RECORD_TEMPLATES.get(record.kind, "").format_map(fields).strip().removesuffix(":").rstrip()
    kind = _KIND_NAMES.get(record.kind, record.kind)
    yield (str(record.seq), record.at, user, (record.run or "-").partition("-")[0] or "-", kind, summary)
    changes = [entry for entry in hash_chain.as_list(record.said.get("changes")) if isinstance(entry, dict)]
    for change in changes[:_MAX_CHANGES_SHOWN]:
        yield ("", "", "", "", "", f"  {_format_change(change, is_reverted=record.kind in _REVERTING_KINDS)}")
    if more := format_excess(len(changes), _MAX_CHANGES_SHOWN):
        yield ("", "", "", "", "", f" {more}: execplan audit --json")


def _format_value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join([_format_value(element) for element in value]) or "-"
    if isinstance(value, float):
        return f"{value:.1f}"
    if isinstance(value, dict):
        return "-"
    return "-" if value is None else str(value)


def _format_command(fields: dict[str, Any]) -> str:
    """Format the command or the target of a step's intent."""
    if argv := hash_chain.as_list(fields.get("argv")):
        return shlex.join([str(argument) for argument in argv])
    if fields.get("command"):
        return f"{fields.get('shell') or 'sh'}: {fields['command']}"
    return " ".join([str(part) for part in (fields.get("type"), fields.get("target")) if part]) or "-"


def _format_restored(fields: dict[str, Any]) -> str:
    """Format the paths that a rollback has restored or removed; earlier versions recorded one at a time."""
    restored = hash_chain.as_list(fields.get("restored", [fields.get("path", "")]))
    paths_by_verb = {"": restored, "removed ": hash_chain.as_list(fields.get("removed"))}
    return "; ".join([f"{verb}{join_first([*map(str, paths)], 5)}" for verb, paths in paths_by_verb.items() if paths])


def _format_source(fields: dict[str, Any]) -> str:
    """Format how an approval was given, unless its approver says it, and the approval that covers it."""
    source, covering = fields.get("how"), fields.get("covered_by")
    details = [source] if source and source != "policy" else []
    details += [f"covered by {covering:.12}"] if covering else []
    return f" ({', '.join(details)})" if details else ""


def _format_redactions(counts: Any) -> str:
    """Format the number of redactions by kind."""
    phrases = [f"{count} {kind}" for kind, count in counts.items() if count] if isinstance(counts, dict) else []
    return ", ".join(phrases) or "nothing"


def _format_result(fields: dict[str, Any]) -> str:
    """Format the result of a step's attempt."""
    duration_text = f"{_format_value(fields.get('seconds'))} s"
    if fields.get("ok"):
        return f"done in {duration_text}"
    return f"failed ({fields.get('cause') or '-'}) after {duration_text}: {fields.get('reason') or '-'}"


def _format_change(change: dict[str, Any], *, is_reverted: bool) -> str:
    """Format a path's state before and after a change, in reverse order for a reverted change."""
    names = ("after", "before") if is_reverted else ("before", "after")
    before, after = [_format_state(change.get(name)) for name in names]
    suffix = "" if change.get("declared", True) else " (undeclared)"
    return f"{change.get('path')}: {before} → {after}{suffix}"


def _format_state(state: Any) -> str:
    if not isinstance(state, dict):
        return "absent"
    detail = str(state.get("sha256", ""))[:12] or state.get("link") or ""
    return " ".join([part for part in (str(state.get("kind")), str(state.get("mode") or ""), str(detail)) if part])
