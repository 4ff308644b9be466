"""The ledger: one chain, whoever writes it, whatever becomes of the writer."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING

import pytest

from execplan.core.errors import ExecplanError
from execplan.execution.engine.audit_log import hash_chain
from execplan.execution.engine.audit_log.log_verification import verify_log
from execplan.execution.engine.audit_log.log_writer import AuditLog
from execplan.execution.engine.journal import journal_entries
from tests.execution.engine.audited_plan import AuditedPlan, change

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_records_follow_each_other_across_processes_and_days(audited_plan: AuditedPlan) -> None:
    first = audited_plan.audit_log.append("approved", {"digest": "a" * 64})
    audited_plan.later(86_400)
    second = AuditLog(audited_plan.project, audited_plan.ref).append("revoked", {"digest": "a" * 64})
    assert (first.seq, first.prev, first.ledger, first.plan_id) == (1, "", audited_plan.ref.id, audited_plan.ref.id)
    assert (second.seq, second.prev) == (2, first.hash)
    assert (first.at, second.at) == ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z")
    assert hash_chain.parse_chain(audited_plan.path.read_bytes()).flaw is None


def test_a_hash_is_that_of_the_line_without_it(audited_plan: AuditedPlan) -> None:
    import hashlib

    record = audited_plan.audit_log.append("approved", {"by": "Zoë \udc80 ✓", "seconds": 1.10})
    line = audited_plan.path.read_bytes()[:-1]
    without = line[: line.rindex(b',"hash":')] + b"}"
    assert record.hash == hashlib.sha256(without).hexdigest() == json.loads(line)["hash"]
    assert list(json.loads(line)) == list(hash_chain.AuditRecord._fields)


def test_what_is_brought_over_from_a_journal_is_brought_over_once(audited_plan: AuditedPlan) -> None:
    run, journal = audited_plan.run()
    with journal:
        journal.write(journal_entries.BEGUN, run=run.id, user="ann", session="s1", revision=1, states={"a": ["absent"]})
        audited_plan.audit_log.append_entries(run.id, journal.entries)
        audited_plan.audit_log.append_entries(run.id, journal.entries)
        journal.write(journal_entries.INTENT, step="api", attempt=1, by="person", before={}, snapshot=False)
        audited_plan.audit_log.append_entries(run.id, journal.entries[1:])
        journal.write(journal_entries.RESULT, step="api", attempt=1, ok=True, changes=[change("src/a.py")])
        AuditLog(audited_plan.project, audited_plan.ref).append_entries(
            run.id, journal.entries
        )  # another process, after a kill
    begun, intent, result = audited_plan.records()
    assert [record.entry for record in audited_plan.records()] == [1, 2, 3]
    assert [entry.line for entry in audited_plan.records()] == [entry.line for entry in journal.entries]
    assert (begun.user, begun.session, begun.run) == ("ann", "s1", run.id)
    assert begun.said == {"revision": 1}
    assert intent.said == {"step": "api", "attempt": 1, "by": "person", "type": "execute_command", "argv": ["make"]}
    (recorded_change,) = result.said["changes"]
    assert (recorded_change["path"], recorded_change["before"]) == ("src/a.py", None)
    assert recorded_change["after"] == {"kind": "file", "sha256": "b" * 64, "mode": "0644"}


def test_an_entry_other_than_the_one_that_is_known_is_refused(audited_plan: AuditedPlan) -> None:
    run, journal = audited_plan.run()
    with journal:
        journal.write(journal_entries.BEGUN, run=run.id, states={})
    audited_plan.audit_log.append_entries(run.id, journal.entries)
    before = audited_plan.path.read_bytes()
    altered_entry = journal.entries[0]._replace(line="0" * 64)
    for audit_log in (audited_plan.audit_log, AuditLog(audited_plan.project, audited_plan.ref)):
        with pytest.raises(ExecplanError) as caught:
            audit_log.append_entries(run.id, [altered_entry])
        assert (caught.value.code, caught.value.exit) == ("journal-altered", 6)
        assert f"runs/{run.id}/journal.jsonl:1" in caught.value.message
    assert audited_plan.path.read_bytes() == before


def test_what_could_not_be_brought_over_is_brought_over_with_the_next(audited_plan: AuditedPlan) -> None:
    run, journal = audited_plan.run()
    with journal:
        journal.write(journal_entries.BEGUN, run=run.id, states={})
        audited_plan.audit_log.append_entries(run.id, journal.entries)
        for status in ("failed", "completed"):
            journal.write(journal_entries.ENDED, status=status, cause="", reason="", seconds=1.0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "write", full)
            with pytest.raises(ExecplanError):
                audited_plan.audit_log.append_entries(run.id, journal.entries[1:2])
        audited_plan.audit_log.append_entries(run.id, journal.entries[2:])
    assert [entry.line for entry in audited_plan.records()] == [entry.line for entry in journal.entries]


def full(handle: int, data: bytes) -> None:
    """A disk without room."""
    raise OSError(28, "No space left on device")


def test_secrets_stay_out(audited_plan: AuditedPlan) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    audited_plan.audit_log.append(
        "approved", {"by": f"x {secret}", "list": [{secret: secret}], "digest": "0a1b2c3d" * 8}
    )
    text = audited_plan.path.read_text()
    assert secret[8:] not in text
    assert "0a1b2c3d" * 8 in text


def test_values_of_variables_stay_out_and_digests_stay(
    audited_plan: AuditedPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", "hunter2")
    monkeypatch.setenv("COMMIT", "0a1b2c3d" * 8)
    run, journal = audited_plan.run(
        '{"steps": [{"id": "api", "type": "execute_command", "argv": ["curl", "hunter2"]}]}'
    )
    with journal:
        journal.write(journal_entries.BEGUN, run=run.id, states={})
        journal.write(journal_entries.INTENT, step="api", attempt=1, by="person", before={}, snapshot=False)
    audited_plan.audit_log.append_entries(run.id, journal.entries)
    audited_plan.audit_log.append("approved", {"approver": "Ann hunter2", "digest": "0a1b2c3d" * 8})
    text = audited_plan.path.read_text()
    assert "hunter2" not in text
    assert audited_plan.records()[2].said["digest"] == "0a1b2c3d" * 8


def test_less_than_a_line_is_cut_off_and_a_line_without_its_end_gets_it(audited_plan: AuditedPlan) -> None:
    audited_plan.audit_log.append("approved", {})
    audited_plan.audit_log.append("revoked", {})
    content = audited_plan.path.read_bytes()
    audited_plan.path.write_bytes(content + b'{"seq":3,"at":"20')
    AuditLog(audited_plan.project, audited_plan.ref).append("declined", {})
    assert [record.kind for record in audited_plan.records()] == ["approved", "revoked", "declined"]
    audited_plan.path.write_bytes(content[:-1])
    AuditLog(audited_plan.project, audited_plan.ref).append("declined", {})
    assert [record.seq for record in audited_plan.records()] == [1, 2, 3]
    audited_plan.path.write_bytes(b'{"se')
    assert AuditLog(audited_plan.project, audited_plan.ref).append("declined", {}).seq == 1, (
        "no anchor was moved: nothing is known to be lost"
    )


def test_a_last_line_that_is_no_record_is_not_built_upon(audited_plan: AuditedPlan) -> None:
    audited_plan.audit_log.append("approved", {})
    audited_plan.path.write_bytes(audited_plan.path.read_bytes().replace(b'"approved"', b'"declined"'))
    before = audited_plan.path.read_bytes()
    with pytest.raises(ExecplanError) as caught:
        AuditLog(audited_plan.project, audited_plan.ref).append("declined", {})
    assert (caught.value.code, caught.value.exit) == ("ledger-broken", 1)
    assert "was edited" in caught.value.message
    assert "--accept" in caught.value.hint
    assert audited_plan.path.read_bytes() == before


def test_what_this_process_has_written_and_is_gone(audited_plan: AuditedPlan) -> None:
    audited_plan.audit_log.append("approved", {})
    first = audited_plan.path.read_bytes()
    audited_plan.audit_log.append("revoked", {})
    audited_plan.path.write_bytes(first)
    with pytest.raises(ExecplanError) as caught:
        audited_plan.audit_log.append("declined", {})
    assert caught.value.code == "ledger-broken"


def test_a_long_record_is_read_again(audited_plan: AuditedPlan) -> None:
    for count in (200_000, 10):
        audited_plan.audit_log.append("approved", {"digest": ["x" * 9] * count})
    assert [record.seq for record in audited_plan.records()] == [1, 2]
    assert AuditLog(audited_plan.project, audited_plan.ref).append("revoked", {}).seq == 3


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/null", path)])
def test_what_is_no_file_is_refused_at_once(audited_plan: AuditedPlan, make: Callable[[Path], None]) -> None:
    audited_plan.path.parent.mkdir(parents=True)
    make(audited_plan.path)
    with pytest.raises(ExecplanError):
        audited_plan.audit_log.append("approved", {})


def test_a_full_disk_leaves_the_ledger_as_it_was(audited_plan: AuditedPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    audited_plan.audit_log.append("approved", {})
    before = audited_plan.path.read_bytes()
    write = os.write
    writes: list[int] = []

    def full(handle: int, data: bytes) -> int:
        if writes:
            raise OSError(28, "No space left on device")
        writes.append(handle)
        return write(handle, data[:100])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(ExecplanError) as caught:
        audited_plan.audit_log.append("revoked", {})
    monkeypatch.undo()
    assert (caught.value.code, caught.value.exit) == ("io-error", 6)
    assert audited_plan.path.read_bytes() == before


@pytest.mark.exhaustive
def test_eight_processes_write_one_chain(audited_plan: AuditedPlan) -> None:
    children = [forked(audited_plan, number, 25) for number in range(8)]
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 8
    records = audited_plan.records()
    assert [record.seq for record in records] == list(range(1, 201))
    for number in range(8):
        assert [record.said["turn"] for record in records if record.said["of"] == number] == list(range(25))
    verification = verify_log(audited_plan.project, audited_plan.ref)
    assert (verification.exit, verification.anchored is not None) == (0, True)


def test_a_writer_is_killed_again_and_again(audited_plan: AuditedPlan) -> None:
    for number in range(6):
        before = audited_plan.path.stat().st_size if audited_plan.path.exists() else 0
        child = forked(audited_plan, number, 100_000)
        while not audited_plan.path.exists() or audited_plan.path.stat().st_size < before + 2_000:
            assert os.waitpid(child, os.WNOHANG) == (0, 0)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        last = AuditLog(audited_plan.project, audited_plan.ref).append("revoked", {"of": number})
        assert audited_plan.records()[-1] == last
        verification = verify_log(audited_plan.project, audited_plan.ref)
        assert (verification.exit, verification.records) == (0, last.seq)


def appends(audited_plan: AuditedPlan, number: int, turns: int) -> None:
    """Write records, and move the anchor now and then."""
    audit_log = AuditLog(audited_plan.project, audited_plan.ref)
    for turn in range(turns):
        audit_log.append("approved", {"of": number, "turn": turn})
        if turn % 10 == number:
            audit_log.update_anchor()


def forked(audited_plan: AuditedPlan, number: int, turns: int) -> int:
    """Do so in a process of its own; its id."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        appends(audited_plan, number, turns)
        status = 0
    finally:
        os._exit(status)
