"""`audit`: what it tells of approvals and runs, of ledgers that are broken, and of going on with them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from execplan.approvals import approval_files
from execplan.cli.output import audit_output
from execplan.engine.audit_log import anchor, hash_chain
from execplan.engine.journal import journal_entries
from execplan.errors import ExecplanError
from execplan.text.text_lines import digest
from tests.engine.ledgers import BEGUN, Kept, change
from tests.repo.approving import Desk

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A repository whose plan has steps."""
    return Desk(tmp_path / "repo", monkeypatch)


@pytest.fixture
def kept(desk: Desk) -> Kept:
    """Its plan with an approval, and with a run that made a file."""
    kept = Kept(desk)
    desk.patch.setenv("EXECPLAN_SESSION", "0f1e2d3c4b5a")
    desk.approve("--expires", "2h")
    stored = kept.path.with_name("execution-plan.json").read_text()
    run, journal = kept.run(stored)
    with journal:
        by = {
            "document": digest(stored.encode()),
            "run": run.id,
            "approval": desk.kept()["digest"],
            "approval_id": desk.kept()["id"],
        }
        journal.write(journal_entries.BEGUN, **(BEGUN | by))
        journal.write(journal_entries.INTENT, step="build", attempt=1, by="person", before={}, snapshot=False)
        made = change("src/a b.py")
        journal.write(journal_entries.RESULT, step="build", attempt=1, ok=True, seconds=1.25, changes=[made])
        journal.write(journal_entries.ENDED, status="completed", cause="", reason="", seconds=1.3)
        journal.write(
            journal_entries.ROLLBACK,
            steps=["build"],
            automatic="",
            changes=[made],
            folders=[],
            undone_not=[],
            user="ann",
            whole=True,
        )
        journal.write(journal_entries.RESTORED, path="src/a b.py", displaced="c" * 64)
        journal.write(journal_entries.ROLLED_BACK, steps=["build"], restored=[], removed=[], whole=True)
    kept.ledger.append_entries(run.id, journal.entries)
    kept.ledger.update_anchor()
    return kept


def test_who_approved_what_ran_and_what_changed(kept: Kept) -> None:
    out = kept.repo.type("audit").out
    approved = kept.repo.kept()["digest"][:12]
    assert (
        f"[0f1e2d3c]  -     approved     {approved} by Ann (digest) until 2026-01-01T02:00:00Z: build, api, drop" in out
    )
    assert "0001  intent       build, attempt 1: make parser" in out
    assert "0001  result       build, attempt 1: done in 1.2 s" in out
    assert "  src/a b.py: absent -> file 0644 bbbbbbbbbbbb" in out
    assert "  src/a b.py: file 0644 bbbbbbbbbbbb -> absent" in out
    assert "0001  rolled_back  build" in out
    data = kept.repo.data("audit")
    assert [each["kind"] for each in data["records"]][:4] == ["approved", "begun", "intent", "result"]
    assert (data["id"], data["anchored"]) == (kept.ref.id, 8)
    assert data["records"][3]["said"]["changes"][0]["after"]["sha256"] == "b" * 64


def test_one_run_with_its_approval(kept: Kept) -> None:
    kept.repo.later(10)
    kept.repo.approve("--step", "drop")
    run, journal = kept.run()
    journal.__exit__(None, None, None)
    data = kept.repo.data("audit", "--run", "1")
    assert [each["seq"] for each in data["records"]] == list(range(1, 9))
    assert kept.repo.data("audit", "--run", run.id)["records"] == []
    kept.repo.refused(3, "no-such-run", "audit", "--run", "9")


def test_escapes_stay_escaped(kept: Kept) -> None:
    kept.ledger.append("declined", {"approver": "\x1b[2J\nAnn", "digest": "d" * 64, "steps": []})
    out = kept.repo.type("audit").out
    assert "\x1b" not in out
    assert r"\x1b[2J\nAnn" in out


NONSENSE: tuple[Any, ...] = (None, 5, True, "x", [1, [2]], {"a": {}}, [{"before": 1, "after": [3]}], "\x1b[2J")


def test_whatever_somebody_else_has_written_is_told(kept: Kept) -> None:
    """A ledger comes with a clone: its chain may be whole, and what it says may be nonsense."""
    for kind in (*audit_output._RECORD_TEMPLATES, "_init__", "count", "class__"):
        told = re.findall(r"{(\w+)", audit_output._RECORD_TEMPLATES.get(kind, ""))
        more = "changes argv command seconds why doubts approval file automatic whole ok".split()
        for value in NONSENSE:
            kept.ledger.append(kind, dict.fromkeys((*told, *more), value))
    for arguments in (("audit",), ("audit", "--run", "1"), ("audit", "--verify"), ("stats",)):
        for form in ((), ("--json",)):
            result = kept.repo.type(*arguments, *form)
            assert result.exit in (0, 1), result
            assert "\x1b" not in result.out


def test_records_of_other_shapes_are_none(kept: Kept) -> None:
    record = kept.ledger.append("declined", {})._asdict()
    for name in record:
        values: list[Any] = [[], 1.5, True, *([{}] if name != "said" else [])]
        for value in [*values, *([None] if name not in ("session", "run", "entry", "line") else [])]:
            told = {**record, name: value}
            own = told.pop("hash")
            data = json.dumps(told, separators=(",", ":")).encode()
            ending = json.dumps(digest(data) if name != "hash" else own)
            with pytest.raises(ValueError, match="no record"):
                hash_chain.parse_record(data[:-1] + f',"hash":{ending}}}'.encode())


def test_whole_and_broken(kept: Kept) -> None:
    data = kept.repo.data("audit", "--verify")
    assert [(each["id"], each["ok"], each["records"]) for each in data["plans"]] == [(kept.ref.id, True, 8)]
    lines = kept.path.read_bytes().splitlines(keepends=True)
    del lines[2]
    kept.path.write_bytes(b"".join(lines))
    result = kept.repo.type("audit", "--verify", "--json")
    (plan,) = result.json["data"]["plans"]
    assert (result.exit, result.json["ok"], plan["flaw"]["line"], plan["flaw"]["seq"]) == (1, False, 3, 4)
    text = kept.repo.type("audit", kept.ref.id, "--verify")
    assert text.exit == 1
    assert "record 4, line 3: record 3 should stand here" in text.out
    assert f"execplan audit {kept.ref.id} --accept REASON" in text.out
    assert "broken" in kept.repo.type("audit").err


def test_all_plans_archived_ones_too_and_one_that_is_gone(kept: Kept) -> None:
    kept.repo.data("archive", "parser", "--force", "--reason", "Given up.")
    (plan,) = kept.repo.data("audit", "--verify")["plans"]
    assert (plan["id"], plan["ok"]) == (kept.ref.id, True)
    assert plan["ledger"].startswith(".agent/execplans/archive/")
    (kept.repo.path / plan["ledger"]).unlink()
    result = kept.repo.type("audit", "--verify", "--json")
    assert result.exit == 1
    assert "it is gone, and its anchor knows 8 records" in result.json["data"]["plans"][0]["reasons"]
    anchor.move(kept.project, "gone", None, 1, "a")
    assert any(
        "no plan here has: gone" in each for each in kept.repo.type("audit", "--verify", "--json").json["warnings"]
    )


def test_a_torn_line_or_a_fresh_clone_is_no_failure(kept: Kept) -> None:
    kept.repo.commit()
    kept.repo.git("clone", "-q", str(kept.repo.path), "../clone")
    result = kept.repo.type("-C", "../clone", "audit", "--verify", "--json")
    assert result.exit == 0
    assert any("no anchor here" in each for each in result.json["warnings"])


def test_going_on(kept: Kept) -> None:
    kept.repo.commit()
    kept.path.write_bytes(kept.path.read_bytes()[:-1000])
    kept.repo.refused(1, "ledger-broken", "approve", "--digest", kept.repo.digest())
    dry = kept.repo.data("audit", "--accept", "A bad disk.", "--dry-run")
    assert (dry["changed"], dry["record"]) == (False, None)
    data = kept.repo.data("audit", "--accept", "A bad disk.", "--commit")
    assert data["record"]["said"]["reason"] == "A bad disk."
    assert data["record"]["said"]["lost"]["seq"] == 8
    assert kept.repo.git("show", "--name-only", "--format=").strip() == data["ledger"]
    assert "accepted" in kept.repo.type("audit", "--verify").out
    again = kept.repo.data("audit", "--accept", "Once more.")
    assert (again["changed"], again["record"], again["reasons"]) == (False, None, [])
    kept.repo.approve()


def test_usage(kept: Kept) -> None:
    before = kept.path.read_bytes()
    for line in ("--verify --accept x", "--verify --run 1", f"--accept {'x' * 1001}", "--dry-run", "--commit"):
        kept.repo.refused(2, "usage", "audit", *line.split())
    kept.repo.refused(2, "usage", "audit", "--accept", " ")
    assert kept.path.read_bytes() == before


def records(desk: Desk) -> list[str]:
    """The kinds of records."""
    return [each["kind"] for each in desk.data("audit")["records"]]


def test_an_approval_that_cannot_be_recorded_is_not_given(desk: Desk) -> None:
    ledger = desk.write(f".agent/execplans/artifacts/{desk.project()[1].id}/ledger.jsonl", "no record\n")
    desk.refused(1, "ledger-broken", "approve", "--digest", desk.digest())
    assert [each.name for each in ledger.parent.iterdir()] == ["ledger.jsonl"]


def test_an_approval_that_cannot_be_written_is_told_not_to_be_given(desk: Desk) -> None:
    def fail(*_: object) -> bytes:
        raise ExecplanError("io-error", "no space", exit=6, hint="free some")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(approval_files, "save", fail)
        desk.refused(6, "io-error", "approve", "--digest", desk.digest())
    assert records(desk) == ["approved", "not_given"]
    assert desk.data("audit", "--verify")["plans"][0]["warnings"] == []


def test_killed_between_the_record_and_the_approval(desk: Desk) -> None:
    class Killed(BaseException):
        """Nothing that is caught."""

    def kill(*_: object) -> bytes:
        raise Killed

    read = desk.digest()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(approval_files, "save", kill)
        patch.setattr("execplan.engine.approval_audit._is_written", lambda *_: True)  # its own last words are not heard
        with pytest.raises(Killed):
            desk.type("approve", "--digest", read)
    assert records(desk) == ["approved"]
    warning, _ = desk.data("audit", "--verify")["plans"][0]["warnings"]
    assert "was recorded, and its file is not there" in warning
    desk.refused(7, "not-approved", "approve", "--check")
    desk.approve()
    assert desk.data("audit", "--verify")["plans"][0]["warnings"] == []


def test_a_commit_that_is_refused_takes_no_approval_back(desk: Desk) -> None:
    desk.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n").chmod(0o755)
    desk.refused(6, "not-committed", "approve", "--digest", desk.digest(), "--commit")
    assert records(desk) == ["approved"]
    assert desk.stands() == "approved"


def test_declined_and_revoked(desk: Desk) -> None:
    from execplan.cli.output import approval_output

    desk.patch.setattr(approval_output, "is_terminal", lambda: True)
    desk.patch.setattr("sys.stdin.readline", lambda: "n\n", raising=False)
    assert desk.type("approve").exit == 1
    desk.approve()
    desk.data("approve", "--revoke", "--dry-run")
    desk.data("approve", "--revoke")
    desk.data("approve", "--revoke")
    told = desk.data("audit")
    assert [each["kind"] for each in told["records"]] == ["declined", "approved", "revoked"]
    assert told["records"][0]["said"]["steps"] == ["build", "api", "drop"]
    assert told["records"][2]["said"]["approval"] == told["records"][1]["said"]["approval"]
    assert told["anchored"] == 3
    assert json.loads(desk.type("audit", "--json").out)["data"] == told


def test_what_is_revoked_is_so_even_where_it_cannot_be_recorded(desk: Desk) -> None:
    desk.approve()
    desk.write(f".agent/execplans/artifacts/{desk.project()[1].id}/ledger.jsonl", "no record\n")
    error = desk.refused(1, "ledger-broken", "approve", "--revoke")
    assert "is revoked, and that is not recorded" in error["message"]
    assert desk.stands() == "revoked"


def test_a_no_is_a_no_even_where_it_cannot_be_recorded(desk: Desk) -> None:
    from execplan import trace
    from execplan.cli.output import approval_output

    desk.patch.setattr(trace, "warnings", [])
    desk.patch.setattr(approval_output, "is_terminal", lambda: True)
    desk.patch.setattr("sys.stdin.readline", lambda: "n\n", raising=False)
    desk.write(f".agent/execplans/artifacts/{desk.project()[1].id}/ledger.jsonl", "no record\n")
    result = desk.type("approve")
    assert result.exit == 1
    assert "nothing was approved" in result.err
    assert "is not recorded" in result.err
