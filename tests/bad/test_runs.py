"""Bad input 57: an approval that is for something else than what would run now."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from execplan.approvals import approval_registry
from tests.repo.approving import NAME, STEPS, Desk

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A repository whose plan is approved, under the policy that pins the tree."""
    made = Desk(tmp_path / "repo", monkeypatch)
    made.write("pyproject.toml", '[tool.execplan.execution]\npin = "tree"\n')
    made.commit()
    made.approve()
    return made


def refused(desk: Desk, code: str, *lines: str) -> None:
    """Expect exit 4 with what drifted, in words too, and nothing written."""
    before = desk.file().read_bytes()
    error = desk.refused(4, code, "approve", "--check")
    told = desk.type("approve", "--check").err
    for line in lines:
        assert any(each.startswith(line) for each in error["candidates"]), (line, error)
        assert f"\n  {line}" in told
    assert f"execplan approve {NAME}" in error["hint"]
    assert "Traceback" not in told
    assert desk.file().read_bytes() == before


def test_57_the_plan_was_edited(desk: Desk) -> None:
    desk.plan(STEPS.replace("make parser", "make parser install"))
    refused(desk, "stale-approval", "the execution plan: other bytes")


def test_57_the_approval_was_edited(desk: Desk) -> None:
    desk.file().write_text(json.dumps({**desk.kept(), "expires_at": "2099-01-01T00:00:00Z"}))
    refused(desk, "approval-altered", "its seal is broken")


def test_57_expired(desk: Desk) -> None:
    desk.later(86_400)
    refused(desk, "approval-expired", "the approval expired at 2026-01-02T00:00:00Z")


def test_57_replayed(desk: Desk) -> None:
    approval_registry.mark_used(desk.project()[0], desk.kept()["id"], "run-1")
    refused(desk, "approval-used", "it was used by the run run-1")


def test_57_for_another_tree(desk: Desk) -> None:
    desk.write("src/other.py", "y = 2\n")
    desk.commit()
    refused(desk, "stale-approval", "src/other.py: changed by a commit")


def test_57_for_another_checkout(desk: Desk) -> None:
    shutil.copytree(desk.path, desk.path.parent / "other")
    os.chdir(desk.path.parent / "other")
    refused(desk, "stale-approval", "it was given in another checkout")


def test_57_a_target_drifted(desk: Desk) -> None:
    desk.write("src/old.py", "x = 2\n")
    (desk.path / "Makefile").unlink()
    refused(desk, "stale-approval", "Makefile: was a file, is absent", "src/old.py: other bytes")
