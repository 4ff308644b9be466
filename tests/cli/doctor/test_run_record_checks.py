"""`doctor` on runs that were cut short, and on what is kept of runs that are gone."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from execplan.execution.engine.journal import journal_entries
from execplan.execution.engine.run_lock import acquire_run_lock
from tests.cli.doctor.doctor_findings import age, assert_clean, doctor, only_finding
from tests.execution.approvals.test_run_in_progress import PLAN
from tests.execution.engine.run_records.test_run_statuses import ROLLBACK
from tests.execution.engine.scripted_run import begin_scripted_run
from tests.in_process_repository import NAME, InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository with a plan of three steps, and nothing else that doctor would say anything of."""
    repository = InProcessRepository(tmp_path / "repo", monkeypatch)
    repository.plan(PLAN)
    return repository


def test_runs_that_were_interrupted(desk: InProcessRepository) -> None:
    journal_writer, paths = begin_scripted_run(desk)
    project, ref = desk.project()
    finding = only_finding(desk, "runs")
    assert (finding["level"], finding["path"]) == ("error", f".agent/execplans/artifacts/{NAME}/runs/{paths.id}")
    assert finding["mend"].startswith(f"resume it: execplan resume 1 -p {NAME}; or roll it back: ")
    assert f"execplan rollback 1 -p {NAME}" in finding["mend"]
    with acquire_run_lock(project, f"run {paths.id} of {ref.id}"):
        assert doctor(desk)["findings"] == []
    journal_writer.write(journal_entries.PAUSED, why="checkpoint", step="api", question="Go on?")
    assert doctor(desk)["findings"] == []
    journal_writer.end("failed")
    journal_writer.write(journal_entries.ROLLBACK, steps=["api"], **ROLLBACK)
    finding = only_finding(desk, "runs")
    assert "rollback" in finding["message"]
    assert finding["mend"] == f"execplan rollback 1 -p {NAME}"
    journal_writer.write(journal_entries.ROLLED_BACK, steps=["api"], restored=[], removed=[], whole=True)
    assert_clean(desk)


def test_an_interrupted_run_of_an_archived_plan(desk: InProcessRepository) -> None:
    begin_scripted_run(desk)
    desk.ok("archive", NAME, "--force", "--reason", "No time.")
    first = f"restore the plan: execplan restore {NAME}; then resume it: execplan resume 1 -p {NAME}; or "
    assert only_finding(desk, "runs")["mend"].startswith(first)
    desk.ok("restore", NAME)
    assert only_finding(desk, "runs")["mend"].startswith("resume it: ")


def test_an_audit_log_that_was_changed(desk: InProcessRepository) -> None:
    desk.approve()
    desk.approve()
    audit_log = desk.path / f".agent/execplans/artifacts/{NAME}/ledger.jsonl"
    data = audit_log.read_bytes()
    audit_log.write_bytes(data.replace(b'"approver":"Ann"', b'"approver":"Eve"', 1))
    finding = only_finding(desk, "ledgers")
    assert (finding["level"], finding["path"]) == ("error", f".agent/execplans/artifacts/{NAME}/ledger.jsonl")
    see = f"see all problems: execplan audit {NAME} --verify"
    assert finding["mend"] == f"{see}; restore it from its copy: execplan doctor --fix"
    (copy,) = (desk.path / ".git/execplan/plans").glob("*/ledger.jsonl")
    copy.unlink()
    assert only_finding(desk, "ledgers")["mend"] == see
    audit_log.unlink()
    assert only_finding(desk, "ledgers")["path"] == finding["path"]
    audit_log.write_bytes(data)
    assert doctor(desk)["findings"] == []


def test_what_is_kept_of_a_run_that_is_gone(desk: InProcessRepository) -> None:
    journal_writer, paths = begin_scripted_run(desk)
    journal_writer.end("failed")
    run_state = desk.path / ".git/execplan/runs" / paths.id
    age(run_state, 31 * 86_400)
    assert doctor(desk)["findings"] == []
    shutil.rmtree(paths.folder)
    age(run_state, -2 * 86_400)
    assert doctor(desk)["findings"] == []
    age(run_state, 2 * 86_400)
    finding = only_finding(desk, "run-states")
    assert (finding["path"], finding["mend"]) == (
        f".git/execplan/runs/{paths.id}",
        f"rm -r .git/execplan/runs/{paths.id}",
    )
    assert doctor(desk, "--fix")["fixed"][0]["message"] == f"removed .git/execplan/runs/{paths.id}"
    assert not run_state.exists()
    assert_clean(desk)
