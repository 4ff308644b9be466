"""What is kept of a run stays where it is, and is nobody's work, wherever the plan's artifacts lie."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from execplan.approvals.reserved_paths import existing_tool_paths, protection_reason
from execplan.engine.run_lock import acquire_run_lock
from execplan.errors import BUSY
from tests.engine.running import Bench, steps
from tests.engine.test_run import COPY, MAKE

if TYPE_CHECKING:
    from pathlib import Path

ARTIFACTS = ".agent/execplans/artifacts"


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A plan that is approved."""
    made = Bench(tmp_path / "repo", monkeypatch)
    made.approved(steps(MAKE, COPY.replace("#see", "#see checkpoint"), "```sh {#last}\ncat made.txt\n```"))
    return made


@pytest.mark.parametrize("linked", [ARTIFACTS, f"{ARTIFACTS}/2026-01-01_parser"])
def test_artifacts_that_a_link_leads_to_are_no_work_of_a_step(bench: Bench, linked: str) -> None:
    (bench.path / linked).rename(bench.path / "real")
    (bench.path / linked).symlink_to(os.path.relpath(bench.path / "real", (bench.path / linked).parent))
    plan = "real" if linked != ARTIFACTS else "real/2026-01-01_parser"
    project, _ = bench.project()
    assert protection_reason(project, f"{plan}/ledger.jsonl")
    assert not protection_reason(project, f"{plan}/notes.md")
    assert str(bench.path / plan / "approvals") in existing_tool_paths(project)
    bench.go()
    assert bench.on().status == "completed"
    written = [each["path"] for entry in bench.entries() for each in entry.fields.get("changes", ())]
    assert written == ["src/made.py", "made.txt"]


@pytest.mark.parametrize("verb", [("archive", "--force", "--reason", "Enough"), ("rename", "Another title")])
def test_a_plan_whose_run_is_at_work_is_not_moved(bench: Bench, verb: tuple[str, ...]) -> None:
    bench.go()
    project, ref = bench.project()
    with acquire_run_lock(project, f"run {bench.last().id} of {ref.id}"):
        bench.refused(BUSY, "run-busy", verb[0], *(("parser",) if verb[0] == "rename" else ()), *verb[1:])
    with acquire_run_lock(project, "run 0001-00000000 of another"):
        moved = bench.type(verb[0], *(("parser",) if verb[0] == "rename" else ()), *verb[1:])
        assert moved.exit == (1 if verb[0] == "rename" else 0), "under another title the paused run can't be resumed"
