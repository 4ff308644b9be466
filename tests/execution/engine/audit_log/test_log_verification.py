"""Whether a ledger is as it was written: what is found, what can't be, and what is beside it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError
from execplan.core.text.text_lines import digest
from execplan.execution.engine.audit_log import hash_chain, log_reader
from execplan.execution.engine.audit_log.hash_chain import AuditRecord
from execplan.execution.engine.audit_log.log_verification import LogVerification, accept_broken_log, verify_log
from execplan.execution.engine.audit_log.log_writer import AuditLog
from execplan.execution.engine.journal import journal_entries
from tests.execution.engine.audited_plan import DOCUMENT, AuditedPlan

if TYPE_CHECKING:
    from collections.abc import Callable


def lines_of(count: int) -> list[bytes]:
    """The lines of a ledger."""
    lines: list[bytes] = []
    prev = ""
    for seq in range(1, count + 1):
        record = AuditRecord(
            seq, "2026-01-01T00:00:00Z", "approved", "p", "p", "ann", None, None, None, None, {"n": 1.5}, prev
        )
        record = hash_chain.with_hash(record)
        prev = record.hash
        lines.append(hash_chain.encode_record(record))
    return lines


INTACT_LINES = lines_of(6)


@given(st.data())
def test_any_single_change_before_the_anchor_is_found(data: st.DataObject) -> None:
    """An edit of any bytes, and lines that are put in, removed, doubled or swapped."""
    from execplan.execution.engine.audit_log.log_reader import LogAnchor

    lines = list(INTACT_LINES)
    at = data.draw(st.integers(0, len(lines) - 1))
    tampering = data.draw(st.sampled_from(["edit", "insert", "delete", "swap", "double", "cut"]))
    if tampering == "edit":
        offset = data.draw(st.integers(0, len(lines[at]) - 2))
        new = data.draw(st.binary(max_size=3))
        lines[at] = lines[at][:offset] + new + lines[at][offset + 1 :]
    elif tampering == "insert":
        lines.insert(at, data.draw(st.sampled_from([b"\n", b"{}\n", b"null\n", lines_of(1)[0], lines[-1]])))
    elif tampering == "delete":
        del lines[at]
    elif tampering == "swap":
        other = data.draw(st.integers(0, len(lines) - 1))
        lines[at], lines[other] = lines[other], lines[at]
    elif tampering == "double":
        lines.insert(at, lines[at])
    else:
        del lines[at:]
    text = b"".join(lines)
    known_anchor = LogAnchor(6, hash_chain.parse_record(INTACT_LINES[-1][:-1]).hash, "")
    walked = hash_chain.parse_chain(text[: text.rfind(b"\n") + 1])
    is_detected = walked.flaw is not None or bool(log_reader.find_loss(text, known_anchor))
    assert is_detected == (text != b"".join(INTACT_LINES))
    if walked.flaw is not None and tampering in ("edit", "swap"):
        first_difference = next(number for number, line in enumerate(INTACT_LINES, 1) if lines[number - 1] != line)
        assert walked.flaw.line == first_difference, "the first bad line is named"


def test_a_whole_ledger(audited_plan: AuditedPlan) -> None:
    audited_plan.audit_log.append("approved", {"digest": "d" * 64})
    audited_plan.audit_log.update_anchor()
    audited_plan.audit_log.append("declined", {})
    verification = verify_log(audited_plan.project, audited_plan.ref)
    assert (verification.records, verification.anchored, verification.exit, verification.reasons) == (2, 1, 0, ())
    assert verification.path == f".agent/execplans/artifacts/{audited_plan.ref.id}/ledger.jsonl"


def test_none_at_all(audited_plan: AuditedPlan) -> None:
    verification = verify_log(audited_plan.project, audited_plan.ref)
    assert (verification.records, verification.anchored, verification.exit, verification.warnings) == (0, None, 0, ())


def tampered(audited_plan: AuditedPlan, change: Callable[[list[bytes]], None]) -> LogVerification:
    """What is found when the lines of an anchored ledger of four records are changed; and it takes no more."""
    for kind in ("approved", "declined", "declined", "revoked"):
        audited_plan.audit_log.append(kind, {})
    audited_plan.audit_log.update_anchor()
    lines = audited_plan.path.read_bytes().splitlines(keepends=True)
    change(lines)
    audited_plan.path.write_bytes(b"".join(lines))
    return verify_log(audited_plan.project, audited_plan.ref)


def edit(lines: list[bytes]) -> None:
    lines[1] = lines[1].replace(b"declined", b"approved")


def test_an_edit(audited_plan: AuditedPlan) -> None:
    verification = tampered(audited_plan, edit)
    assert verification.exit == 1
    assert verification.reasons == ("record 2 on line 2 doesn't match its hash: it was edited",)


def test_an_edit_with_its_hashes_made_anew(audited_plan: AuditedPlan) -> None:
    def forge(lines: list[bytes]) -> None:
        previous_hash = ""
        for at, line in enumerate(lines):
            record = hash_chain.parse_record(line[:-1])
            record = hash_chain.with_hash(record._replace(kind="approved", prev=previous_hash))
            previous_hash = record.hash
            lines[at] = hash_chain.encode_record(record)

    verification = tampered(audited_plan, forge)
    assert verification.flaw is None
    assert "record 4, which its anchor refers to, is missing" in verification.lost


def test_one_removed_and_one_moved(audited_plan: AuditedPlan) -> None:
    assert tampered(audited_plan, lambda lines: lines.__delitem__(1)).reasons == (
        "record 3 on line 2 should be record 2: a record was removed, inserted or moved",
    )


@pytest.mark.parametrize("left", [0, 1, 3])
def test_a_cut_before_the_anchor_is_found_and_nothing_is_written(audited_plan: AuditedPlan, left: int) -> None:
    verification = tampered(audited_plan, lambda lines: lines.__delitem__(slice(left, None)))
    assert "record 4" in verification.lost
    before = audited_plan.path.read_bytes()
    for write in (
        lambda: AuditLog(audited_plan.project, audited_plan.ref).append("approved", {}),
        AuditLog(audited_plan.project, audited_plan.ref).update_anchor,
    ):
        with pytest.raises(ExecplanError) as caught:
            write()
        assert (caught.value.code, caught.value.exit) == ("ledger-broken", 1)
    assert audited_plan.path.read_bytes() == before
    audited_plan.path.unlink()
    assert (
        "it is missing, but its anchor refers to record 4" in verify_log(audited_plan.project, audited_plan.ref).reasons
    )


def test_a_cut_behind_the_anchor_is_not_found(audited_plan: AuditedPlan) -> None:
    """The limit that the documents tell of."""
    audited_plan.audit_log.append("approved", {})
    audited_plan.audit_log.update_anchor()
    short = audited_plan.path.read_bytes()
    audited_plan.audit_log.append("declined", {})
    audited_plan.path.write_bytes(short)
    assert verify_log(audited_plan.project, audited_plan.ref).exit == 0


def test_no_anchor_is_a_warning(audited_plan: AuditedPlan) -> None:
    audited_plan.audit_log.append("approved", {})
    verification = verify_log(audited_plan.project, audited_plan.ref)
    assert verification.exit == 0
    assert any("it has no anchor here" in warning for warning in verification.warnings)


def test_a_torn_line_is_a_warning(audited_plan: AuditedPlan) -> None:
    audited_plan.audit_log.append("approved", {})
    with audited_plan.path.open("ab") as file:
        file.write(b'{"seq":2')
    verification = verify_log(audited_plan.project, audited_plan.ref)
    assert verification.exit == 0
    assert any("its last line is incomplete" in warning for warning in verification.warnings)


def test_going_on_with_what_is_left(audited_plan: AuditedPlan) -> None:
    tampered(audited_plan, edit)
    record = accept_broken_log(audited_plan.project, audited_plan.ref, "A disk was lost.", WriteOptions()).record
    assert record is not None
    assert (record.seq, record.said["reason"], record.said["lost"]) == (5, "A disk was lost.", None)
    verification = verify_log(audited_plan.project, audited_plan.ref)
    assert verification.exit == 0
    assert verification.anchored == 5
    assert verification.accepted == (
        "record 2 on line 2 doesn't match its hash: it was edited; reason: A disk was lost.",
    )
    assert accept_broken_log(audited_plan.project, audited_plan.ref, "Again.", WriteOptions()).record is None
    assert AuditLog(audited_plan.project, audited_plan.ref).append("approved", {}).seq == 6
    text = audited_plan.path.read_bytes()
    audited_plan.path.write_bytes(text.replace(b"approved", b"declined", 1))
    assert verify_log(audited_plan.project, audited_plan.ref).exit == 1, "what was accepted is what was there then"


def test_going_on_with_nothing(audited_plan: AuditedPlan) -> None:
    tampered(audited_plan, lambda lines: lines.clear())
    record = accept_broken_log(audited_plan.project, audited_plan.ref, "Gone.", WriteOptions()).record
    assert record is not None
    assert record.seq == 5
    assert record.said["lost"]["seq"] == 4
    assert verify_log(audited_plan.project, audited_plan.ref).exit == 0
    assert AuditLog(audited_plan.project, audited_plan.ref).append("approved", {}).seq == 6
    assert verify_log(audited_plan.project, audited_plan.ref).exit == 0


def test_who_edits_a_record_cannot_accept_that_himself(audited_plan: AuditedPlan) -> None:
    """A record that accepts counts only once it is anchored, which is what `audit --accept` does."""
    tampered(audited_plan, edit)
    text = audited_plan.path.read_bytes()
    last_record = hash_chain.parse_record(text.splitlines()[-1])
    forged = last_record._replace(seq=5, kind="accepted", prev=digest(text), said={"reason": "I say so.", "why": ["x"]})
    audited_plan.path.write_bytes(text + hash_chain.encode_record(hash_chain.with_hash(forged)))
    verification = verify_log(audited_plan.project, audited_plan.ref)
    assert verification.exit == 1
    assert "record 2 on line 2" in verification.reasons[0]
    assert verification.accepted == ()
    with pytest.raises(ExecplanError):
        AuditLog(audited_plan.project, audited_plan.ref).append("approved", {})


def test_killed_while_it_is_accepted(audited_plan: AuditedPlan) -> None:
    tampered(audited_plan, lambda lines: lines.__delitem__(slice(2, None)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("execplan.execution.engine.audit_log.log_reader.move", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            accept_broken_log(audited_plan.project, audited_plan.ref, "Once.", WriteOptions())
    assert verify_log(audited_plan.project, audited_plan.ref).exit == 1
    record = accept_broken_log(audited_plan.project, audited_plan.ref, "Twice.", WriteOptions()).record
    assert record is not None
    assert record.seq == 6
    assert verify_log(audited_plan.project, audited_plan.ref).exit == 0


def test_nothing_to_accept(audited_plan: AuditedPlan) -> None:
    audited_plan.audit_log.append("approved", {})
    before = audited_plan.path.read_bytes()
    assert accept_broken_log(audited_plan.project, audited_plan.ref, "Why not.", WriteOptions()).record is None
    assert audited_plan.path.read_bytes() == before


def test_journals(audited_plan: AuditedPlan) -> None:
    run, journal = audited_plan.run()
    with journal:
        journal.write(journal_entries.BEGUN, run=run.id, states={})
        journal.write(journal_entries.ENDED, status="completed", cause="", reason="", seconds=1.0)
    audited_plan.audit_log.append_entries(run.id, journal.entries)
    audited_plan.audit_log.update_anchor()
    assert verify_log(audited_plan.project, audited_plan.ref).exit == 0
    with journal.__class__(run.journal) as reopened:
        reopened.write(journal_entries.RESUMED, document="x")
    verification = verify_log(audited_plan.project, audited_plan.ref)
    assert verification.exit == 0
    assert any("1 entry of" in warning and "is not in the audit log" in warning for warning in verification.warnings)
    with open(run.journal, "rb") as file:
        content = file.read()
    with open(run.journal, "wb") as file:
        file.write(content.replace(b"completed", b"failed"))
    (doubt,) = verify_log(audited_plan.project, audited_plan.ref).doubts
    assert f"{run.id}/journal.jsonl:2 differs from the entry in the audit log" in doubt
    assert (
        accept_broken_log(audited_plan.project, audited_plan.ref, "Edited by mistake.", WriteOptions()).record
        is not None
    )
    assert verify_log(audited_plan.project, audited_plan.ref).exit == 0
    with open(run.journal, "wb") as file:
        file.write(content.splitlines(keepends=True)[0])
    (doubt,) = verify_log(audited_plan.project, audited_plan.ref).doubts
    assert "ends after entry 1, but the audit log has 2" in doubt
    shutil.rmtree(run.folder)
    verification = verify_log(audited_plan.project, audited_plan.ref)
    assert verification.exit == 0
    assert f"the journal of run {run.id} is missing" in verification.warnings


def test_what_ran_and_what_let_it_run(audited_plan: AuditedPlan) -> None:
    run, journal = audited_plan.run()
    begun_id, later = "b" * 32, "c" * 32
    files = {"approval.json": b"of the beginning", "approval-2.json": b"of the resume"}
    for approval_id, file in zip((begun_id, later), files.values(), strict=True):
        audited_plan.audit_log.append(
            "approved", {"approval": approval_id, "digest": approval_id, "file": digest(file)}
        )
    with journal:
        journal.write(
            journal_entries.BEGUN, run=run.id, states={}, document=digest(DOCUMENT.encode()), approval_id=begun_id
        )
        journal.write(journal_entries.REPLANNED, revision=2, document=digest(b"{}"), reason="")
        journal.write(journal_entries.RESUMED, document=digest(b"{}"), approval_id=later)
    audited_plan.audit_log.append_entries(run.id, journal.entries)
    files |= {"execution-plan.json": DOCUMENT.encode(), "execution-plan-2.json": b"{}"}
    for name, data in files.items():
        (Path(run.folder) / name).write_bytes(data)
    audited_plan.audit_log.update_anchor()
    assert verify_log(audited_plan.project, audited_plan.ref).doubts == ()
    for name, data in files.items():
        path = Path(run.folder) / name
        path.write_bytes(data + b"!")
        (doubt,) = verify_log(audited_plan.project, audited_plan.ref).doubts
        assert doubt.startswith(f"runs/{run.id}/{name} differs from the recorded file: ")
        path.write_bytes(data)
    (Path(run.folder) / "execution-plan-2.json").unlink()
    verification = verify_log(audited_plan.project, audited_plan.ref)
    assert verification.doubts == ()
    assert any(
        warning.startswith(f"runs/{run.id}/execution-plan-2.json is in the audit log but missing")
        for warning in verification.warnings
    )


def test_what_is_accepted_stays_so_when_the_plan_is_renamed(audited_plan: AuditedPlan) -> None:
    run, journal = audited_plan.run()
    with journal:
        journal.write(journal_entries.BEGUN, run=run.id, states={})
    audited_plan.audit_log.append_entries(run.id, journal.entries)
    audited_plan.audit_log.update_anchor()
    Path(run.journal).write_bytes(b"nothing of ours\n")
    assert verify_log(audited_plan.project, audited_plan.ref).exit == 1
    accept_broken_log(audited_plan.project, audited_plan.ref, "Overwritten by mistake.", WriteOptions())
    path, artifacts = (
        Path(audited_plan.ref.path),
        Path(audited_plan.project.plan_artifacts_dir(audited_plan.ref.path, archived=False)),
    )
    new = audited_plan.ref._replace(id="2026-01-01_other", path=str(path.with_name("2026-01-01_other.md")))
    path.rename(new.path)
    artifacts.rename(audited_plan.project.plan_artifacts_dir(new.path, archived=False))
    verification = verify_log(audited_plan.project, new)
    assert (verification.reasons, len(verification.accepted)) == ((), 1)


def test_what_a_merge_has_left(audited_plan: AuditedPlan) -> None:
    run, journal = audited_plan.run()
    with journal:
        journal.write(journal_entries.BEGUN, run=run.id, states={})
    audited_plan.audit_log.append_entries(run.id, journal.entries)
    for path in (audited_plan.path, Path(run.journal)):
        with path.open("ab") as file:
            file.write(b"<<<<<<< HEAD\n=======\n>>>>>>> other\n")
    verification = verify_log(audited_plan.project, audited_plan.ref)
    assert verification.flaw is not None
    for reason in (verification.flaw.why, verification.doubts[0]):
        assert "it is a git conflict marker; keep one side completely" in reason


def test_approvals(audited_plan: AuditedPlan) -> None:
    audited_plan.repo.approve()
    assert (
        verify_log(audited_plan.project, audited_plan.ref).reasons
        == verify_log(audited_plan.project, audited_plan.ref).warnings
        == ()
    )
    file = audited_plan.repo.file()
    content = file.read_bytes()
    file.write_bytes(content.replace(b'"Ann"', b'"Bob"'))
    (doubt,) = verify_log(audited_plan.project, audited_plan.ref).doubts
    assert "differs from the recorded one: " in doubt
    file.unlink()
    (warning,) = verify_log(audited_plan.project, audited_plan.ref).warnings
    assert "was recorded, but its file is missing" in warning
    file.write_bytes(content)
    audited_plan.later(60)
    audited_plan.repo.approve()
    assert verify_log(audited_plan.project, audited_plan.ref).warnings == ()
    file.write_bytes(content)
    assert len(verify_log(audited_plan.project, audited_plan.ref).warnings) == 1, (
        "that of the first time: approve was killed the second time"
    )
    file.with_name(f"{'e' * 64}.json").write_bytes(b"{}")
    assert any(
        "or there was no audit log yet" in warning
        for warning in verify_log(audited_plan.project, audited_plan.ref).warnings
    )
