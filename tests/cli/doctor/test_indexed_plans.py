"""`doctor` on plans whose facts are in the index: it finds what it finds without the index."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.plan_facts import facts_extraction
from execplan.core.plan_store import plan_store
from tests.cli.doctor.test_plan_file_checks import CONFLICT, OLD
from tests.core.plan_facts.test_facts_loader import use_index
from tests.in_process_repository import InProcessRepository
from tests.plans import CLEAN

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from execplan.core.plan_store.plan_store import PlanRef, StoredPlan
    from execplan.core.project.project import Project

PLANS: dict[str, str | bytes] = {
    "clean": CLEAN,
    "broken": b"Broken \xff\n",
    "conflict": CONFLICT,
    "finished": OLD,
    "archive/unfinished": CLEAN,
    "archive/finished": OLD,
    "notes": "# Notes\n\n- [ ] No plan.\n",
}


def test_findings_are_those_without_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = InProcessRepository(tmp_path / "desk", monkeypatch)
    for name, content in PLANS.items():
        desk.plan(content, name)
    for name, content in (("1-broken.md", PLANS["broken"]), ("2-finished.md", OLD), ("3-finished.md", CLEAN)):
        os.utime(desk.write(f".git/execplan/edit/{name}", content), (1, 1))
    without_index = _findings(desk)
    assert {path for path, _ in without_index} >= {
        ".agent/execplans/broken.md",
        ".agent/execplans/conflict.md",
        ".agent/execplans/finished.md",
        ".agent/execplans/archive/unfinished.md",
        ".git/execplan/edit/1-broken.md",
        ".git/execplan/edit/2-finished.md",
        ".git/execplan/edit/3-finished.md",
    }
    use_index(monkeypatch)
    assert _findings(desk) == without_index  # fills the index
    loaded: list[str] = []
    load = plan_store.load

    def note_and_load(project: Project, ref: PlanRef) -> StoredPlan:
        loaded.append(ref.id)
        return load(project, ref)

    monkeypatch.setattr(plan_store, "load", note_and_load)
    monkeypatch.setattr(
        facts_extraction, "extract_facts", None
    )  # it would be called for a plan that is not in the index
    assert _findings(desk) == without_index
    assert "clean" not in loaded


def _findings(desk: InProcessRepository) -> list[tuple[str, str]]:
    findings = desk.type("doctor", "--json").json["data"]["findings"]
    return [(finding["path"], finding["message"]) for finding in findings]
