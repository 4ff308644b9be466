"""Whether a ledger is as it was written: what is found, what can't be, and what is beside it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.edits.plan_writer import WriteOptions
from execplan.engine.audit_log import hash_chain, log_reader
from execplan.engine.audit_log.hash_chain import AuditRecord
from execplan.engine.audit_log.log_verification import LogVerification, accept_broken_log, verify_log
from execplan.engine.audit_log.log_writer import AuditLog
from execplan.engine.journal import journal_entries
from execplan.errors import ExecplanError
from execplan.text.text_lines import digest
from tests.engine.ledgers import DOCUMENT, Kept

if TYPE_CHECKING:
    from collections.abc import Callable


def lines_of(count: int) -> list[bytes]:
    """The lines of a ledger."""
    made: list[bytes] = []
    prev = ""
    for seq in range(1, count + 1):
        record = AuditRecord(
            seq, "2026-01-01T00:00:00Z", "approved", "p", "p", "ann", None, None, None, None, {"n": 1.5}, prev
        )
        record = hash_chain.with_hash(record)
        prev = record.hash
        made.append(hash_chain.encode_record(record))
    return made


WHOLE = lines_of(6)


@given(st.data())
def test_any_single_change_before_the_anchor_is_found(data: st.DataObject) -> None:
    """An edit of any bytes, and lines that are put in, removed, doubled or swapped."""
    from execplan.engine.audit_log.anchor import Anchor

    lines = list(WHOLE)
    at = data.draw(st.integers(0, len(lines) - 1))
    what = data.draw(st.sampled_from(["edit", "insert", "delete", "swap", "double", "cut"]))
    if what == "edit":
        where = data.draw(st.integers(0, len(lines[at]) - 2))
        new = data.draw(st.binary(max_size=3))
        lines[at] = lines[at][:where] + new + lines[at][where + 1 :]
    elif what == "insert":
        lines.insert(at, data.draw(st.sampled_from([b"\n", b"{}\n", b"null\n", lines_of(1)[0], lines[-1]])))
    elif what == "delete":
        del lines[at]
    elif what == "swap":
        other = data.draw(st.integers(0, len(lines) - 1))
        lines[at], lines[other] = lines[other], lines[at]
    elif what == "double":
        lines.insert(at, lines[at])
    else:
        del lines[at:]
    text = b"".join(lines)
    known = Anchor(6, hash_chain.parse_record(WHOLE[-1][:-1]).hash, "")
    walked = hash_chain.parse_chain(text[: text.rfind(b"\n") + 1])
    found = walked.flaw is not None or bool(log_reader.find_loss(text, known))
    assert found == (text != b"".join(WHOLE))
    if walked.flaw is not None and what in ("edit", "swap"):
        first = next(number for number, line in enumerate(WHOLE, 1) if lines[number - 1] != line)
        assert walked.flaw.line == first, "the first bad line is named"


def test_a_whole_ledger(kept: Kept) -> None:
    kept.ledger.append("approved", {"digest": "d" * 64})
    kept.ledger.update_anchor()
    kept.ledger.append("declined", {})
    found = verify_log(kept.project, kept.ref)
    assert (found.records, found.anchored, found.exit, found.reasons) == (2, 1, 0, ())
    assert found.path == f".agent/execplans/artifacts/{kept.ref.id}/ledger.jsonl"


def test_none_at_all(kept: Kept) -> None:
    found = verify_log(kept.project, kept.ref)
    assert (found.records, found.anchored, found.exit, found.warnings) == (0, None, 0, ())


def tampered(kept: Kept, change: Callable[[list[bytes]], None]) -> LogVerification:
    """What is found when the lines of an anchored ledger of four records are changed; and it takes no more."""
    for kind in ("approved", "declined", "declined", "revoked"):
        kept.ledger.append(kind, {})
    kept.ledger.update_anchor()
    lines = kept.path.read_bytes().splitlines(keepends=True)
    change(lines)
    kept.path.write_bytes(b"".join(lines))
    return verify_log(kept.project, kept.ref)


def edit(lines: list[bytes]) -> None:
    lines[1] = lines[1].replace(b"declined", b"approved")


def test_an_edit(kept: Kept) -> None:
    found = tampered(kept, edit)
    assert found.exit == 1
    assert found.reasons == ("record 2, line 2: its hash is not that of its bytes: it was edited",)


def test_an_edit_with_its_hashes_made_anew(kept: Kept) -> None:
    def forge(lines: list[bytes]) -> None:
        before = ""
        for at, line in enumerate(lines):
            record = hash_chain.parse_record(line[:-1])
            record = hash_chain.with_hash(record._replace(kind="approved", prev=before))
            before = record.hash
            lines[at] = hash_chain.encode_record(record)

    found = tampered(kept, forge)
    assert found.flaw is None
    assert "record 4, which its anchor knows, is not there" in found.lost


def test_one_removed_and_one_moved(kept: Kept) -> None:
    assert tampered(kept, lambda lines: lines.__delitem__(1)).reasons == (
        "record 3, line 2: record 2 should stand here: one was removed, put in or moved",
    )


@pytest.mark.parametrize("left", [0, 1, 3])
def test_a_cut_before_the_anchor_is_found_and_nothing_is_written(kept: Kept, left: int) -> None:
    found = tampered(kept, lambda lines: lines.__delitem__(slice(left, None)))
    assert "record 4" in found.lost or "knows 4 records" in found.lost
    before = kept.path.read_bytes()
    for write in (
        lambda: AuditLog(kept.project, kept.ref).append("approved", {}),
        AuditLog(kept.project, kept.ref).update_anchor,
    ):
        with pytest.raises(ExecplanError) as caught:
            write()
        assert (caught.value.code, caught.value.exit) == ("ledger-broken", 1)
    assert kept.path.read_bytes() == before
    kept.path.unlink()
    assert "it is gone, and its anchor knows 4 records" in verify_log(kept.project, kept.ref).reasons


def test_a_cut_behind_the_anchor_is_not_found(kept: Kept) -> None:
    """The limit that the documents tell of."""
    kept.ledger.append("approved", {})
    kept.ledger.update_anchor()
    short = kept.path.read_bytes()
    kept.ledger.append("declined", {})
    kept.path.write_bytes(short)
    assert verify_log(kept.project, kept.ref).exit == 0


def test_no_anchor_is_a_warning(kept: Kept) -> None:
    kept.ledger.append("approved", {})
    found = verify_log(kept.project, kept.ref)
    assert found.exit == 0
    assert any("no anchor here" in each for each in found.warnings)


def test_a_torn_line_is_a_warning(kept: Kept) -> None:
    kept.ledger.append("approved", {})
    with kept.path.open("ab") as file:
        file.write(b'{"seq":2')
    found = verify_log(kept.project, kept.ref)
    assert found.exit == 0
    assert any("torn" in each for each in found.warnings)


def test_going_on_with_what_is_left(kept: Kept) -> None:
    tampered(kept, edit)
    made = accept_broken_log(kept.project, kept.ref, "A disk was lost.", WriteOptions()).record
    assert made is not None
    assert (made.seq, made.said["reason"], made.said["lost"]) == (5, "A disk was lost.", None)
    found = verify_log(kept.project, kept.ref)
    assert found.exit == 0
    assert found.anchored == 5
    assert found.accepted == (
        "record 2, line 2: its hash is not that of its bytes: it was edited (accepted: A disk was lost.)",
    )
    assert accept_broken_log(kept.project, kept.ref, "Again.", WriteOptions()).record is None
    assert AuditLog(kept.project, kept.ref).append("approved", {}).seq == 6
    text = kept.path.read_bytes()
    kept.path.write_bytes(text.replace(b"approved", b"declined", 1))
    assert verify_log(kept.project, kept.ref).exit == 1, "what was accepted is what was there then"


def test_going_on_with_nothing(kept: Kept) -> None:
    tampered(kept, lambda lines: lines.clear())
    made = accept_broken_log(kept.project, kept.ref, "Gone.", WriteOptions()).record
    assert made is not None
    assert made.seq == 5
    assert made.said["lost"]["seq"] == 4
    assert verify_log(kept.project, kept.ref).exit == 0
    assert AuditLog(kept.project, kept.ref).append("approved", {}).seq == 6
    assert verify_log(kept.project, kept.ref).exit == 0


def test_who_edits_a_record_cannot_accept_that_himself(kept: Kept) -> None:
    """A record that accepts counts only once it is anchored, which is what `audit --accept` does."""
    tampered(kept, edit)
    text = kept.path.read_bytes()
    last = hash_chain.parse_record(text.splitlines()[-1])
    forged = last._replace(seq=5, kind="accepted", prev=digest(text), said={"reason": "I say so.", "why": ["x"]})
    kept.path.write_bytes(text + hash_chain.encode_record(hash_chain.with_hash(forged)))
    found = verify_log(kept.project, kept.ref)
    assert found.exit == 1
    assert "record 2, line 2" in found.reasons[0]
    assert found.accepted == ()
    with pytest.raises(ExecplanError):
        AuditLog(kept.project, kept.ref).append("approved", {})


def test_killed_while_it_is_accepted(kept: Kept) -> None:
    tampered(kept, lambda lines: lines.__delitem__(slice(2, None)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("execplan.engine.audit_log.anchor.move", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            accept_broken_log(kept.project, kept.ref, "Once.", WriteOptions())
    assert verify_log(kept.project, kept.ref).exit == 1
    made = accept_broken_log(kept.project, kept.ref, "Twice.", WriteOptions()).record
    assert made is not None
    assert made.seq == 6
    assert verify_log(kept.project, kept.ref).exit == 0


def test_nothing_to_accept(kept: Kept) -> None:
    kept.ledger.append("approved", {})
    before = kept.path.read_bytes()
    assert accept_broken_log(kept.project, kept.ref, "Why not.", WriteOptions()).record is None
    assert kept.path.read_bytes() == before


def test_journals(kept: Kept) -> None:
    run, journal = kept.run()
    with journal:
        journal.write(journal_entries.BEGUN, run=run.id, states={})
        journal.write(journal_entries.ENDED, status="completed", cause="", reason="", seconds=1.0)
    kept.ledger.append_entries(run.id, journal.entries)
    kept.ledger.update_anchor()
    assert verify_log(kept.project, kept.ref).exit == 0
    with journal.__class__(run.journal) as more:
        more.write(journal_entries.RESUMED, document="x")
    found = verify_log(kept.project, kept.ref)
    assert found.exit == 0
    assert any("1 entry of" in each and "is not in the ledger" in each for each in found.warnings)
    with open(run.journal, "rb") as file:
        whole = file.read()
    with open(run.journal, "wb") as file:
        file.write(whole.replace(b"completed", b"failed"))
    (doubt,) = verify_log(kept.project, kept.ref).doubts
    assert f"{run.id}/journal.jsonl:2 is not the entry that the ledger knows" in doubt
    assert accept_broken_log(kept.project, kept.ref, "Edited by mistake.", WriteOptions()).record is not None
    assert verify_log(kept.project, kept.ref).exit == 0
    with open(run.journal, "wb") as file:
        file.write(whole.splitlines(keepends=True)[0])
    (doubt,) = verify_log(kept.project, kept.ref).doubts
    assert "ends behind entry 1, and the ledger knows 2" in doubt
    shutil.rmtree(run.folder)
    found = verify_log(kept.project, kept.ref)
    assert found.exit == 0
    assert f"the journal of the run {run.id} is not there" in found.warnings


def test_what_ran_and_what_let_it_run(kept: Kept) -> None:
    run, journal = kept.run()
    own, later = "b" * 32, "c" * 32
    files = {"approval.json": b"of the beginning", "approval-2.json": b"of the resume"}
    for each, file in zip((own, later), files.values(), strict=True):
        kept.ledger.append("approved", {"approval": each, "digest": each, "file": digest(file)})
    with journal:
        journal.write(journal_entries.BEGUN, run=run.id, states={}, document=digest(DOCUMENT.encode()), approval_id=own)
        journal.write(journal_entries.REPLANNED, revision=2, document=digest(b"{}"), reason="")
        journal.write(journal_entries.RESUMED, document=digest(b"{}"), approval_id=later)
    kept.ledger.append_entries(run.id, journal.entries)
    files |= {"execution-plan.json": DOCUMENT.encode(), "execution-plan-2.json": b"{}"}
    for name, data in files.items():
        (Path(run.folder) / name).write_bytes(data)
    kept.ledger.update_anchor()
    assert verify_log(kept.project, kept.ref).doubts == ()
    for name, data in files.items():
        path = Path(run.folder) / name
        path.write_bytes(data + b"!")
        (doubt,) = verify_log(kept.project, kept.ref).doubts
        assert doubt.startswith(f"runs/{run.id}/{name} is not the one that was recorded")
        path.write_bytes(data)
    (Path(run.folder) / "execution-plan-2.json").unlink()
    found = verify_log(kept.project, kept.ref)
    assert found.doubts == ()
    assert any(each.startswith(f"runs/{run.id}/execution-plan-2.json is not there") for each in found.warnings)


def test_what_is_accepted_stays_so_when_the_plan_is_renamed(kept: Kept) -> None:
    run, journal = kept.run()
    with journal:
        journal.write(journal_entries.BEGUN, run=run.id, states={})
    kept.ledger.append_entries(run.id, journal.entries)
    kept.ledger.update_anchor()
    Path(run.journal).write_bytes(b"nothing of ours\n")
    assert verify_log(kept.project, kept.ref).exit == 1
    accept_broken_log(kept.project, kept.ref, "Overwritten by mistake.", WriteOptions())
    path, artifacts = Path(kept.ref.path), Path(kept.project.plan_artifacts_dir(kept.ref.path, archived=False))
    new = kept.ref._replace(id="2026-01-01_other", path=str(path.with_name("2026-01-01_other.md")))
    path.rename(new.path)
    artifacts.rename(kept.project.plan_artifacts_dir(new.path, archived=False))
    found = verify_log(kept.project, new)
    assert (found.reasons, len(found.accepted)) == ((), 1)


def test_what_a_merge_has_left(kept: Kept) -> None:
    run, journal = kept.run()
    with journal:
        journal.write(journal_entries.BEGUN, run=run.id, states={})
    kept.ledger.append_entries(run.id, journal.entries)
    for path in (kept.path, Path(run.journal)):
        with path.open("ab") as file:
            file.write(b"<<<<<<< HEAD\n=======\n>>>>>>> other\n")
    found = verify_log(kept.project, kept.ref)
    assert found.flaw is not None
    for each in (found.flaw.why, found.doubts[0]):
        assert "it is a conflict marker of git; take one side whole" in each


def test_approvals(kept: Kept) -> None:
    kept.repo.approve()
    assert verify_log(kept.project, kept.ref).reasons == verify_log(kept.project, kept.ref).warnings == ()
    file = kept.repo.file()
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b'"Ann"', b'"Bob"'))
    (doubt,) = verify_log(kept.project, kept.ref).doubts
    assert "is not the one that was recorded" in doubt
    file.unlink()
    (warning,) = verify_log(kept.project, kept.ref).warnings
    assert "was recorded, and its file is not there" in warning
    file.write_bytes(whole)
    kept.later(60)
    kept.repo.approve()
    assert verify_log(kept.project, kept.ref).warnings == ()
    file.write_bytes(whole)
    assert len(verify_log(kept.project, kept.ref).warnings) == 1, (
        "that of the first time: approve was killed the second time"
    )
    file.with_name(f"{'e' * 64}.json").write_bytes(b"{}")
    assert any("there was no ledger yet" in each for each in verify_log(kept.project, kept.ref).warnings)
