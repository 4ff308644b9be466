"""What `audit` says: records, a line each with the files that changed, and whether the ledger is whole."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer
from execplan.cli.printing import one_per_line
from execplan.cli.table import table
from execplan.engine.ledger import chain, names, verify
from execplan.errors import OK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.engine.ledger.chain import AuditRecord
    from execplan.engine.ledger.verify import LogVerification
    from execplan.repo.amend import Options
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

_MOST = 20
"""Lines that are no records of which each is told."""
_HEAD = ("record", "time", "user", "run", "what", "about")
_WORDS = {
    "approved": "{digest:.12} by {approver} ({how}{covered}) until {expires_at}: {steps}",
    "not_given": "{digest:.12}: {reason}",
    "declined": "{digest:.12} by {approver}: {steps}",
    "revoked": "{digest:.12}",
    "enhancing": "{bytes} bytes, {sent:.12}, to {program}; taken out: {redactions}",
    "enhanced": "{ended} by {program}: {reason}",
    "accepted": "{reason} ({why})",
    "begun": "revision {revision}, as approved: {approval:.12} by {approver}{agent}",
    "intent": "{step}, attempt {attempt}: {runs}",
    "called": "{step}, attempt {attempt}: {tool}: {what}{asked}",
    "denied": "{tool}: {what}{nearest}",
    "result": "{step}, attempt {attempt}: {ended}",
    "retaken": "{step}, attempt {attempt}",
    "skipped": "{step}: {reason}",
    "blocked": "{step}: {reason}",
    "recovered": "{step}: {by} stood in for it",
    "ticked": "{step}: {task}",
    "reopened": "{step}: {task}",
    "paused": "{question}",
    "answered": "{why}: {answer}",
    "replanned": "revision {revision}: {reason}",
    "interrupted": "{signal}",
    "resumed": "revision {revision}, as approved: {approval:.12} by {approver}",
    "ended": "{status} after {seconds} s: {reason}",
    "rollback": "{steps} {cause}",
    "restored": "{path}",
    "rolled_back": "{steps}",
}
"""What is told of a record, by its kind."""
_BACK = ("retaken", "rollback")
"""Records whose changes are those that are taken back."""


def told(home: Home, ref: Ref, run: str | None) -> Answer:
    """The records of a plan, or of one of its runs with the approval that let it run."""
    found = verify.read_log(home, ref)
    records = found.parsed_chain.records
    if run is not None:
        from execplan.engine import place

        records = _of_run(records, place.find_run(home, ref, run).id)
    warnings = [f"the ledger is broken: {found.parsed_chain.flaw}"] if found.parsed_chain.flaw is not None else []
    warnings += [f"left out: {each}" for each in found.parsed_chain.unreadable[:_MOST]]
    data = {
        "id": ref.id,
        "ledger": home.shown(names.path_of(home, ref)),
        "anchored": found.anchor.seq if found.anchor is not None else None,
        "records": [each._asdict() for each in records],
    }
    text = table(_HEAD, [row for each in records for row in _rows(each)]) if records else "nothing is recorded yet"
    follow = (f"execplan audit {ref.typed} --verify",) if records else ()
    return Answer(data, text, warnings=tuple(warnings), next=follow)


def verified(home: Home, ref: Ref) -> Answer:
    """Whether a plan's ledger is whole."""
    return _verdict([verify.verify_log(home, ref)], ())


def verified_all(home: Home) -> Answer:
    """Whether all of them are."""
    return _verdict(*verify.verify_all(home))


def accepted(home: Home, ref: Ref, reason: str, options: Options) -> Answer:
    """Go on with a ledger that is broken."""
    wrong = verify.verify_log(home, ref)
    data: dict[str, Any] = {"id": ref.id, "ledger": wrong.path, "reasons": list(wrong.reasons), "changed": False}
    if not wrong.reasons:
        return Answer({**data, "record": None, "commit": None}, "nothing to accept: the ledger is whole")
    if options.dry_run:
        lines = [f"would accept: {each}" for each in wrong.reasons]
        return Answer({**data, "record": None, "commit": None}, one_per_line(lines))
    from execplan.engine.ledger.accept import accept_broken_log

    made, commit, warnings = accept_broken_log(home, ref, reason, options)
    lines = [f"accepted: {each}" for each in wrong.reasons]
    lines += [f"committed {commit[:12]}"] if commit else []
    data |= {"changed": made is not None, "record": made._asdict() if made is not None else None, "commit": commit}
    return Answer(data, one_per_line(lines), warnings=warnings, wanted=False)


def _verdict(found: Sequence[LogVerification], more: tuple[str, ...]) -> Answer:
    rows = [row for each in found for row in _verdict_rows(each)]
    broken = [each for each in found if each.reasons]
    head = table(("state", "plan", "what"), rows) if rows else "nothing is recorded yet"
    lines: list[str] = []
    for each in broken:
        lines.append(f"bring {each.path} back as it was, from git or a backup; or go on, on record:")
        lines.append(f"  execplan audit {shlex.quote(each.plan)} --accept REASON")
    warnings = tuple([f"{each.plan}: {line}" for each in found for line in each.warnings]) + more
    data = {"plans": [_verified_json(each) for each in found]}
    return Answer(data, one_per_line(lines, head), max([each.exit for each in found], default=OK), warnings=warnings)


def _verdict_rows(found: LogVerification) -> Iterator[tuple[str, str, str]]:
    anchored = f"anchored at record {found.anchored}" if found.anchored is not None else "no anchor"
    count = f"{found.records} record{'s' * (found.records != 1)}"
    if not found.reasons:
        yield ("whole", found.plan, f"{count}, {anchored}")
    for each in found.reasons:
        yield ("broken", found.plan, each)
    for each in found.accepted:
        yield ("accepted", found.plan, each)


def _verified_json(found: LogVerification) -> dict[str, Any]:
    flaw = found.flaw._asdict() if found.flaw is not None else None
    return {
        "id": found.plan,
        "ledger": found.path,
        "ok": not found.reasons,
        "records": found.records,
        "anchored": found.anchored,
        "flaw": flaw,
        "reasons": list(found.reasons),
        "accepted": list(found.accepted),
        "warnings": list(found.warnings),
    }


def _of_run(records: Sequence[AuditRecord], run: str) -> list[AuditRecord]:
    """The records of a run, and those that approved it."""
    own = [each for each in records if each.run == run]
    served = [each.said["approval_id"] for each in own if each.said.get("approval_id")]
    return [each for each in records if each.run == run or (not each.run and each.said.get("approval") in served)]


class _Said(dict[str, str]):
    """What a record says, in words; a dash for what it does not say."""

    def __missing__(self, name: str) -> str:
        return "-"


def _rows(record: AuditRecord) -> Iterator[tuple[str, ...]]:
    """A line for a record, and one for each file that changed."""
    user = f"{record.user} [{record.session[:8]}]" if record.session else record.user
    said = _Said({name: _word(value) for name, value in record.said.items()})
    if record.kind == "intent":
        said["runs"] = _runs(record.said)
    elif record.kind == "enhancing":
        said["redactions"] = _taken_out(record.said.get("redactions"))
    elif record.kind == "result":
        said["ended"] = _ended(record.said)
    said["cause"] = f"({record.said['automatic']})" if record.said.get("automatic") else ""
    said["nearest"] = f" (the nearest step is {record.said['step']})" if record.said.get("step") else ""
    said["asked"] = " (somebody was asked)" if record.said.get("asked") else ""
    said["covered"] = (
        f", covered by {record.said['covered_by']:.12}"
        if record.kind == "approved" and record.said.get("covered_by")
        else ""
    )
    said["agent"] = ", by an agent" if record.said.get("mode") == "agent" else ""
    words = _WORDS.get(record.kind, "").format_map(said).strip().removesuffix(":").rstrip()
    yield (str(record.seq), record.at, user, (record.run or "-").partition("-")[0] or "-", record.kind, words)
    for change in [each for each in chain.as_list(record.said.get("changes")) if isinstance(each, dict)]:
        yield ("", "", "", "", "", f"  {_change(change, back=record.kind in _BACK)}")


def _word(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join([_word(each) for each in value]) or "-"
    if isinstance(value, float):
        return f"{value:.1f}"
    if isinstance(value, dict):
        return "-"
    return "-" if value is None else str(value)


def _runs(said: dict[str, Any]) -> str:
    """What a step is about to do."""
    if argv := chain.as_list(said.get("argv")):
        return shlex.join([str(each) for each in argv])
    if said.get("command"):
        return f"{said.get('shell') or 'sh'}: {said['command']}"
    return " ".join([str(each) for each in (said.get("type"), said.get("target")) if each]) or "-"


def _taken_out(counts: Any) -> str:
    """How much was taken out of what was sent, by its kind."""
    told = [f"{count} {kind}" for kind, count in counts.items() if count] if isinstance(counts, dict) else []
    return ", ".join(told) or "nothing"


def _ended(said: dict[str, Any]) -> str:
    """How a step ended."""
    took = f"{_word(said.get('seconds'))} s"
    if said.get("ok"):
        return f"done in {took}"
    return f"failed ({said.get('cause') or '-'}) after {took}: {said.get('reason') or '-'}"


def _change(change: dict[str, Any], *, back: bool) -> str:
    """What became of a path, with the digests before and after, or the other way round where that was taken back."""
    names = ("after", "before") if back else ("before", "after")
    before, after = [_state(change.get(name)) for name in names]
    own = "" if change.get("declared", True) else " (not declared)"
    return f"{change.get('path')}: {before} -> {after}{own}"


def _state(state: Any) -> str:
    if not isinstance(state, dict):
        return "absent"
    detail = str(state.get("sha256", ""))[:12] or state.get("link") or ""
    return " ".join([each for each in (str(state.get("kind")), str(state.get("mode") or ""), str(detail)) if each])
