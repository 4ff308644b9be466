"""Bad input 57: an approval that is for something else than what would run now."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from execplan.execution.approvals import approval_registry
from tests.in_process_repository import NAME, STEPS, InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.exhaustive


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository whose plan is approved, under the policy that pins the tree."""
    approved_desk = InProcessRepository(tmp_path / "repo", monkeypatch)
    approved_desk.write("pyproject.toml", '[tool.execplan.execution]\npin = "tree"\n')
    approved_desk.commit()
    approved_desk.approve()
    return approved_desk


def expect_error(desk: InProcessRepository, code: str, *lines: str) -> None:
    """Expect exit 4 with what drifted, in words too, and nothing written."""
    before = desk.file().read_bytes()
    error = desk.refused(4, code, "approve", "--check")
    stderr = desk.type("approve", "--check").err
    for line in lines:
        assert any(candidate.startswith(line) for candidate in error["candidates"]), (line, error)
        assert f"\n  {line}" in stderr
    assert f"execplan evaluate {NAME}" in error["hint"]
    assert "Traceback" not in stderr
    assert desk.file().read_bytes() == before


def test_57_the_plan_was_edited(desk: InProcessRepository) -> None:
    desk.plan(STEPS.replace("make parser", "make parser install"))
    expect_error(desk, "stale-approval", "the execution plan: different content")


def test_57_the_approval_was_edited(desk: InProcessRepository) -> None:
    desk.file().write_text(json.dumps({**desk.approval_data(), "expires_at": "2099-01-01T00:00:00Z"}))
    expect_error(desk, "approval-altered", "its signature is invalid")


def test_57_expired(desk: InProcessRepository) -> None:
    desk.later(86_400)
    expect_error(desk, "approval-expired", "the approval expired at 2026-01-02T00:00:00Z")


def test_57_replayed(desk: InProcessRepository) -> None:
    approval_registry.mark_used(desk.project()[0], desk.approval_data()["id"], "run-1")
    expect_error(desk, "approval-used", "it was used by run run-1")


def test_57_for_another_tree(desk: InProcessRepository) -> None:
    desk.write("src/other.py", "y = 2\n")
    desk.commit()
    expect_error(desk, "stale-approval", "src/other.py: changed by a commit")


def test_57_for_another_checkout(desk: InProcessRepository) -> None:
    shutil.copytree(desk.path, desk.path.parent / "other")
    os.chdir(desk.path.parent / "other")
    expect_error(desk, "stale-approval", "it was given in another checkout")


def test_57_a_target_drifted(desk: InProcessRepository) -> None:
    desk.write("src/old.py", "x = 2\n")
    (desk.path / "Makefile").unlink()
    expect_error(desk, "stale-approval", "Makefile: was a file and is now absent", "src/old.py: different content")
