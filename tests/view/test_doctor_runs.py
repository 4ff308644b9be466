"""`doctor` on runs that were cut short, and on what is kept of runs that are gone."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from execplan.engine.journal import journal_entries
from execplan.engine.run_lock import acquire_run_lock
from tests.engine.hand import begin_scripted_run
from tests.engine.test_runs import ROLLBACK
from tests.engine.test_underway import PLAN
from tests.repo.approving import NAME, InProcessRepository
from tests.view.tools import age, clean, doctor, one

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository with a plan of three steps, and nothing else that doctor would say anything of."""
    made = InProcessRepository(tmp_path / "repo", monkeypatch)
    made.plan(PLAN)
    return made


def test_runs_that_were_cut_short(desk: InProcessRepository) -> None:
    hand, place = begin_scripted_run(desk)
    project, ref = desk.project()
    found = one(desk, "runs")
    assert (found["level"], found["path"]) == ("error", f".agent/execplans/artifacts/{NAME}/runs/{place.id}")
    assert found["mend"].startswith(f"execplan resume 1 -p {NAME}, ")
    assert f"execplan rollback 1 -p {NAME}" in found["mend"]
    with acquire_run_lock(project, f"run {place.id} of {ref.id}"):
        assert doctor(desk)["findings"] == []
    hand.write(journal_entries.PAUSED, why="checkpoint", step="api", question="Go on?")
    assert doctor(desk)["findings"] == []
    hand.end("failed")
    hand.write(journal_entries.ROLLBACK, steps=["api"], **ROLLBACK)
    found = one(desk, "runs")
    assert "rollback" in found["message"]
    assert found["mend"] == f"execplan rollback 1 -p {NAME}"
    hand.write(journal_entries.ROLLED_BACK, steps=["api"], restored=[], removed=[], whole=True)
    clean(desk)


def test_a_ledger_that_was_changed(desk: InProcessRepository) -> None:
    desk.approve()
    desk.approve()
    ledger = desk.path / f".agent/execplans/artifacts/{NAME}/ledger.jsonl"
    data = ledger.read_bytes()
    ledger.write_bytes(data.replace(b'"approver":"Ann"', b'"approver":"Eve"', 1))
    found = one(desk, "ledgers")
    assert (found["level"], found["path"]) == ("error", f".agent/execplans/artifacts/{NAME}/ledger.jsonl")
    see = f"see all of it: execplan audit {NAME} --verify"
    assert found["mend"] == f"{see}; restore it from its copy: execplan doctor --fix"
    (copy,) = (desk.path / ".git/execplan/plans").glob("*/ledger.jsonl")
    copy.unlink()
    assert one(desk, "ledgers")["mend"] == see
    ledger.unlink()
    assert one(desk, "ledgers")["path"] == found["path"]
    ledger.write_bytes(data)
    assert doctor(desk)["findings"] == []


def test_what_is_kept_of_a_run_that_is_gone(desk: InProcessRepository) -> None:
    hand, place = begin_scripted_run(desk)
    hand.end("failed")
    kept = desk.path / ".git/execplan/runs" / place.id
    age(kept, 31 * 86_400)
    assert doctor(desk)["findings"] == []
    shutil.rmtree(place.folder)
    age(kept, -2 * 86_400)
    assert doctor(desk)["findings"] == []
    age(kept, 2 * 86_400)
    found = one(desk, "run-states")
    assert (found["path"], found["mend"]) == (f".git/execplan/runs/{place.id}", f"rm -r .git/execplan/runs/{place.id}")
    assert doctor(desk, "--fix")["fixed"][0]["message"] == f"removed .git/execplan/runs/{place.id}"
    assert not kept.exists()
    clean(desk)
