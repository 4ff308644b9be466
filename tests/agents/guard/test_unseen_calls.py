"""Steps that were completed although the guard saw no call of them: somebody should know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.agents.guard.conftest import PLAN
from tests.agents.guard.guard_repository import GuardRepository

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

UNSEEN = "the guard saw no call of build"


def _report(desk: GuardRepository) -> str:
    result = desk.type("report", "build", "--status", "completed", "--result", "Done.")
    assert result.exit == 0, result
    return result.err


def test_report_and_audit_warn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = GuardRepository(tmp_path / "repo", monkeypatch)
    desk.plan(PLAN)
    desk.commit()
    desk.approve()
    assert UNSEEN not in _report(desk)
    assert UNSEEN not in desk.type("audit").err
    assert desk.type("install", "guard").exit == 0
    assert f"{UNSEEN} of run 0001-" in desk.type("audit").err
    assert desk.ask("make check").kind == "allow"
    result = desk.type("report", "check", "--status", "completed", "--result", "Done.")
    assert "saw no call" not in result.err
    assert "check" not in desk.type("audit").err


def test_a_session_without_the_hook_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = GuardRepository(tmp_path / "repo", monkeypatch)
    desk.plan(PLAN)
    desk.commit()
    desk.approve()
    assert desk.type("install", "guard", "--for", "codex").exit == 0
    assert f"{UNSEEN}; start the agent in the root of the repository" in _report(desk)


def test_other_calls_show_that_there_is_a_guard(begun: GuardRepository) -> None:
    assert UNSEEN not in _report(begun)
    assert begun.type("report", "check", "--status", "completed", "--result", "Done.").exit == 0
    assert "the guard saw no call of check of run 0001-" in begun.type("audit").err
