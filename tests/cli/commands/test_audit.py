"""`audit`: what it tells of approvals and runs, of ledgers that are broken, and of going on with them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from execplan.cli.output import audit_output
from execplan.core.errors import ExecplanError
from execplan.core.text.text_lines import digest
from execplan.execution.approvals import approval_files
from execplan.execution.engine.audit_log import hash_chain, log_reader
from execplan.execution.engine.journal import journal_entries
from tests.execution.engine.audited_plan import BEGUN, AuditedPlan, change
from tests.in_process_repository import InProcessRepository

if TYPE_CHECKING:
    pass


@pytest.fixture
def audited_plan(desk: InProcessRepository) -> AuditedPlan:
    """Its plan with an approval, and with a run that made a file."""
    audited_plan = AuditedPlan(desk)
    desk.patch.setenv("EXECPLAN_SESSION", "0f1e2d3c4b5a")
    desk.approve("--expires", "2h")
    stored = audited_plan.path.with_name("execution-plan.json").read_text()
    run, journal = audited_plan.run(stored)
    with journal:
        by = {
            "document": digest(stored.encode()),
            "run": run.id,
            "approval": desk.approval_data()["digest"],
            "approval_id": desk.approval_data()["id"],
        }
        journal.write(journal_entries.BEGUN, **(BEGUN | by))
        journal.write(journal_entries.INTENT, step="build", attempt=1, by="person", before={}, snapshot=False)
        created_file = change("src/a b.py")
        journal.write(journal_entries.RESULT, step="build", attempt=1, ok=True, seconds=1.25, changes=[created_file])
        journal.write(journal_entries.ENDED, status="completed", cause="", reason="", seconds=1.3)
        journal.write(
            journal_entries.ROLLBACK,
            steps=["build"],
            automatic="",
            changes=[created_file],
            folders=[],
            undone_not=[],
            user="ann",
            whole=True,
        )
        journal.write(journal_entries.RESTORED, path="src/a b.py", displaced="c" * 64)
        journal.write(journal_entries.ROLLED_BACK, steps=["build"], restored=[], removed=[], whole=True)
    audited_plan.audit_log.append_entries(run.id, journal.entries)
    audited_plan.audit_log.update_anchor()
    return audited_plan


def test_who_approved_what_ran_and_what_changed(audited_plan: AuditedPlan) -> None:
    out = audited_plan.repo.type("audit").out
    approved = audited_plan.repo.approval_data()["digest"][:12]
    assert (
        f"[0f1e2d3c]  -     approved     {approved} by Ann (digest) until 2026-01-01T02:00:00Z: build, api, drop" in out
    )
    assert "0001  intent       build, attempt 1: make parser" in out
    assert "0001  result       build, attempt 1: done in 1.2 s" in out
    assert "  src/a b.py: absent → file 0644 bbbbbbbbbbbb" in out
    assert "  src/a b.py: file 0644 bbbbbbbbbbbb → absent" in out
    assert "0001  rolled back  build" in out
    data = audited_plan.repo.data("audit")
    assert [record["kind"] for record in data["records"]][:4] == ["approved", "begun", "intent", "result"]
    assert (data["id"], data["anchored"]) == (audited_plan.ref.id, 8)
    assert data["records"][3]["said"]["changes"][0]["after"]["sha256"] == "b" * 64


def test_one_run_with_its_approval(audited_plan: AuditedPlan) -> None:
    audited_plan.repo.later(10)
    audited_plan.repo.approve("--step", "drop")
    run, journal = audited_plan.run()
    journal.__exit__(None, None, None)
    data = audited_plan.repo.data("audit", "--run", "1")
    assert [record["seq"] for record in data["records"]] == list(range(1, 9))
    assert audited_plan.repo.data("audit", "--run", run.id)["records"] == []
    audited_plan.repo.refused(3, "no-such-run", "audit", "--run", "9")


def test_what_a_rollback_removed_is_said_to_be_removed(audited_plan: AuditedPlan) -> None:
    assert "  restored     src/a b.py\n" in audited_plan.repo.type("audit").out, "as earlier versions recorded it"
    audited_plan.audit_log.append("restored", {"restored": ["b.py"], "removed": [*"cdefgh"], "displaced": {}})
    assert "  restored     b.py; removed c, d, e, f, g and 1 more\n" in audited_plan.repo.type("audit").out


def test_escapes_stay_escaped(audited_plan: AuditedPlan) -> None:
    audited_plan.audit_log.append("declined", {"approver": "\x1b[2J\nAnn", "digest": "d" * 64, "steps": []})
    out = audited_plan.repo.type("audit").out
    assert "\x1b" not in out
    assert r"\x1b[2J\nAnn" in out


NONSENSE: tuple[Any, ...] = (None, 5, True, "x", [1, [2]], {"a": {}}, [{"before": 1, "after": [3]}], "\x1b[2J")


def test_whatever_somebody_else_has_written_is_printed(audited_plan: AuditedPlan) -> None:
    """A ledger comes with a clone: its chain may be whole, and what it says may be nonsense."""
    for kind in (*audit_output._RECORD_TEMPLATES, "_init__", "count", "class__"):
        fields = re.findall(r"{(\w+)", audit_output._RECORD_TEMPLATES.get(kind, ""))
        other_fields = "changes argv command seconds why doubts approval file automatic whole ok".split()
        for value in NONSENSE:
            audited_plan.audit_log.append(kind, dict.fromkeys((*fields, *other_fields), value))
    for arguments in (("audit",), ("audit", "--run", "1"), ("audit", "--verify"), ("stats",)):
        for form in ((), ("--json",)):
            result = audited_plan.repo.type(*arguments, *form)
            assert result.exit in (0, 1), result
            assert "\x1b" not in result.out


def test_records_of_other_shapes_are_none(audited_plan: AuditedPlan) -> None:
    record = audited_plan.audit_log.append("declined", {})._asdict()
    for name in record:
        values: list[Any] = [[], 1.5, True, *([{}] if name != "said" else [])]
        for value in [*values, *([None] if name not in ("session", "run", "entry", "line") else [])]:
            fields = {**record, name: value}
            own_hash = fields.pop("hash")
            data = json.dumps(fields, separators=(",", ":")).encode()
            ending = json.dumps(digest(data) if name != "hash" else own_hash)
            with pytest.raises(ValueError, match="is not an audit log record"):
                hash_chain.parse_record(data[:-1] + f',"hash":{ending}}}'.encode())


def test_intact_and_broken(audited_plan: AuditedPlan) -> None:
    data = audited_plan.repo.data("audit", "--verify")
    assert [(plan["id"], plan["ok"], plan["records"]) for plan in data["plans"]] == [(audited_plan.ref.id, True, 8)]
    lines = audited_plan.path.read_bytes().splitlines(keepends=True)
    del lines[2]
    audited_plan.path.write_bytes(b"".join(lines))
    result = audited_plan.repo.type("audit", "--verify", "--json")
    (plan,) = result.json["data"]["plans"]
    assert (result.exit, result.json["ok"], plan["flaw"]["line"], plan["flaw"]["seq"]) == (1, False, 3, 4)
    text = audited_plan.repo.type("audit", audited_plan.ref.id, "--verify")
    assert text.exit == 1
    assert "record 4 on line 3 should be record 3: a record was removed" in text.out
    assert f"execplan audit {audited_plan.ref.id} --accept 'Why'" in text.out
    assert "broken" in audited_plan.repo.type("audit").err


def test_all_plans_archived_ones_too_and_one_that_is_gone(audited_plan: AuditedPlan) -> None:
    audited_plan.repo.data("archive", "parser", "--force", "--reason", "Given up.")
    (plan,) = audited_plan.repo.data("audit", "--verify")["plans"]
    assert (plan["id"], plan["ok"]) == (audited_plan.ref.id, True)
    assert plan["ledger"].startswith(".agent/execplans/archive/")
    (audited_plan.repo.path / plan["ledger"]).unlink()
    result = audited_plan.repo.type("audit", "--verify", "--json")
    assert result.exit == 1
    assert "it is missing, but its anchor refers to record 8" in result.json["data"]["plans"][0]["reasons"]
    log_reader.move(audited_plan.project, "gone", None, 1, "a")
    assert any(
        "belongs to no plan here: gone" in warning
        for warning in audited_plan.repo.type("audit", "--verify", "--json").json["warnings"]
    )


def test_a_torn_line_or_a_fresh_clone_is_no_failure(audited_plan: AuditedPlan) -> None:
    audited_plan.repo.commit()
    audited_plan.repo.git("clone", "-q", str(audited_plan.repo.path), "../clone")
    result = audited_plan.repo.type("-C", "../clone", "audit", "--verify", "--json")
    assert result.exit == 0
    assert any("no anchor here" in warning for warning in result.json["warnings"])


def test_accepting_a_broken_ledger(audited_plan: AuditedPlan) -> None:
    audited_plan.repo.commit()
    audited_plan.path.write_bytes(audited_plan.path.read_bytes()[:-1000])
    audited_plan.repo.refused(1, "ledger-broken", "approve", "--digest", audited_plan.repo.digest())
    dry = audited_plan.repo.data("audit", "--accept", "A bad disk.", "--dry-run")
    assert (dry["changed"], dry["record"]) == (False, None)
    data = audited_plan.repo.data("audit", "--accept", "A bad disk.", "--commit")
    assert data["record"]["said"]["reason"] == "A bad disk."
    assert data["record"]["said"]["lost"]["seq"] == 8
    assert audited_plan.repo.git("show", "--name-only", "--format=").strip() == data["ledger"]
    assert "accepted" in audited_plan.repo.type("audit", "--verify").out
    repeated = audited_plan.repo.data("audit", "--accept", "Once more.")
    assert (repeated["changed"], repeated["record"], repeated["reasons"]) == (False, None, [])
    audited_plan.repo.approve()


def test_usage(audited_plan: AuditedPlan) -> None:
    before = audited_plan.path.read_bytes()
    for line in ("--verify --accept x", "--verify --run 1", f"--accept {'x' * 1001}", "--dry-run", "--commit"):
        audited_plan.repo.refused(2, "usage", "audit", *line.split())
    audited_plan.repo.refused(2, "usage", "audit", "--accept", " ")
    assert audited_plan.path.read_bytes() == before


def records(desk: InProcessRepository) -> list[str]:
    """The kinds of records."""
    return [record["kind"] for record in desk.data("audit")["records"]]


def test_an_approval_that_cannot_be_recorded_is_not_given(desk: InProcessRepository) -> None:
    audit_log = desk.write(f".agent/execplans/artifacts/{desk.project()[1].id}/ledger.jsonl", "no record\n")
    desk.refused(1, "ledger-broken", "approve", "--digest", desk.digest())
    assert [path.name for path in audit_log.parent.iterdir()] == ["ledger.jsonl"]


def test_an_approval_that_cannot_be_written_is_told_not_to_be_given(desk: InProcessRepository) -> None:
    def fail(*_: object) -> bytes:
        raise ExecplanError("io-error", "no space", hint="free some")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(approval_files, "save", fail)
        desk.refused(6, "io-error", "approve", "--digest", desk.digest())
    assert records(desk) == ["approved", "not_given"]
    assert desk.data("audit", "--verify")["plans"][0]["warnings"] == []


def test_killed_between_the_record_and_the_approval(desk: InProcessRepository) -> None:
    class Killed(BaseException):
        """Nothing that is caught."""

    def kill(*_: object) -> bytes:
        raise Killed

    read = desk.digest()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(approval_files, "save", kill)
        patch.setattr(
            "execplan.execution.engine.approval_audit._is_written", lambda *_: True
        )  # its own last words are not heard
        with pytest.raises(Killed):
            desk.type("approve", "--digest", read)
    assert records(desk) == ["approved"]
    warning, _ = desk.data("audit", "--verify")["plans"][0]["warnings"]
    assert "was recorded, but its file is missing" in warning
    desk.refused(7, "not-approved", "approve", "--check")
    desk.approve()
    assert desk.data("audit", "--verify")["plans"][0]["warnings"] == []


def test_a_commit_that_is_refused_takes_no_approval_back(desk: InProcessRepository) -> None:
    desk.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n").chmod(0o755)
    desk.refused(6, "not-committed", "approve", "--digest", desk.digest(), "--commit")
    assert records(desk) == ["approved"]
    assert desk.approval_state() == "approved"


def test_declined_and_revoked(desk: InProcessRepository) -> None:
    desk.patch.setattr("execplan.core.plan_store.author.can_ask", lambda: True)
    desk.patch.setattr("sys.stdin.readline", lambda: "n\n", raising=False)
    assert desk.type("approve").exit == 1
    desk.approve()
    desk.data("approve", "--revoke", "--dry-run")
    desk.data("approve", "--revoke")
    desk.data("approve", "--revoke")
    data = desk.data("audit")
    assert [record["kind"] for record in data["records"]] == ["declined", "approved", "revoked"]
    assert data["records"][0]["said"]["steps"] == ["build", "api", "drop"]
    assert data["records"][2]["said"]["approval"] == data["records"][1]["said"]["approval"]
    assert data["anchored"] == 3
    assert json.loads(desk.type("audit", "--json").out)["data"] == data


def test_what_is_revoked_is_so_even_where_it_cannot_be_recorded(desk: InProcessRepository) -> None:
    desk.approve()
    desk.write(f".agent/execplans/artifacts/{desk.project()[1].id}/ledger.jsonl", "no record\n")
    error = desk.refused(1, "ledger-broken", "approve", "--revoke")
    assert "is revoked, but this is not recorded" in error["message"]
    assert desk.approval_state() == "revoked"


def test_a_no_is_a_no_even_where_it_cannot_be_recorded(desk: InProcessRepository) -> None:
    from execplan.core import trace

    desk.patch.setattr(trace, "warnings", [])
    desk.patch.setattr("execplan.core.plan_store.author.can_ask", lambda: True)
    desk.patch.setattr("sys.stdin.readline", lambda: "n\n", raising=False)
    desk.write(f".agent/execplans/artifacts/{desk.project()[1].id}/ledger.jsonl", "no record\n")
    result = desk.type("approve")
    assert result.exit == 1
    assert "nothing was approved" in result.err
    assert "couldn't record that the approval was declined" in result.err
