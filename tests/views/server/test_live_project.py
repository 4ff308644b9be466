"""The plans that the server shows: loaded before it starts, and again when something has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.views.server.live_project import LiveProject
from tests.in_process_repository import LOW, NAME, InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_plans_are_loaded_once_until_they_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = InProcessRepository(tmp_path / "desk", monkeypatch)
    desk.plan(LOW)
    project = LiveProject(str(desk.path), lambda text: text)
    ticks: list[tuple[int, int]] = []
    project.prepare(lambda count, total: ticks.append((count, total)))
    assert ticks[-1] == (1, 1)
    prepared = project.load()
    assert [card.id for card in prepared.board.cards] == [NAME]
    assert project.load() is prepared
    desk.plan(LOW.replace("# ", "# New ", 1))
    assert project.load().board.cards[0].title == f"New {prepared.board.cards[0].title}"
