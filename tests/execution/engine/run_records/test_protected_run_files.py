"""What is kept of a run stays where it is, and is nobody's work, wherever the plan's artifacts lie."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from execplan.core.errors import BUSY
from execplan.execution.approvals.reserved_paths import existing_tool_paths, protection_reason
from execplan.execution.engine.run_lock import acquire_run_lock
from tests.execution.engine.run_repository import RunRepository, steps
from tests.execution.engine.test_run import COPY, MAKE

if TYPE_CHECKING:
    from pathlib import Path

ARTIFACTS = ".agent/execplans/artifacts"


@pytest.fixture
def run_repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunRepository:
    """A plan that is approved."""
    repository = RunRepository(tmp_path / "repo", monkeypatch)
    repository.approve_plan(steps(MAKE, COPY.replace("#see", "#see checkpoint"), "```sh {#last}\ncat made.txt\n```"))
    return repository


@pytest.mark.parametrize("linked", [ARTIFACTS, f"{ARTIFACTS}/2026-01-01_parser"])
def test_artifacts_that_a_link_leads_to_are_no_work_of_a_step(run_repo: RunRepository, linked: str) -> None:
    (run_repo.path / linked).rename(run_repo.path / "real")
    (run_repo.path / linked).symlink_to(os.path.relpath(run_repo.path / "real", (run_repo.path / linked).parent))
    plan = "real" if linked != ARTIFACTS else "real/2026-01-01_parser"
    project, _ = run_repo.project()
    assert protection_reason(project, f"{plan}/ledger.jsonl")
    assert not protection_reason(project, f"{plan}/notes.md")
    assert str(run_repo.path / plan / "approvals") in existing_tool_paths(project)
    run_repo.run_plan()
    assert run_repo.resume_run().status == "completed"
    paths = [change["path"] for entry in run_repo.entries() for change in entry.fields.get("changes", ())]
    assert paths == ["src/made.py", "made.txt"]


@pytest.mark.parametrize("verb", [("archive", "--force", "--reason", "Enough"), ("rename", "Another title")])
def test_a_plan_whose_run_is_at_work_is_not_moved(run_repo: RunRepository, verb: tuple[str, ...]) -> None:
    run_repo.run_plan()
    project, ref = run_repo.project()
    with acquire_run_lock(project, f"run {run_repo.last_run().id} of {ref.id}"):
        run_repo.refused(BUSY, "run-busy", verb[0], *(("parser",) if verb[0] == "rename" else ()), *verb[1:])
    with acquire_run_lock(project, "run 0001-00000000 of another"):
        moved = run_repo.type(verb[0], *(("parser",) if verb[0] == "rename" else ()), *verb[1:])
        assert moved.exit == (1 if verb[0] == "rename" else 0), "under another title the paused run can't be resumed"
