"""What the screens of the board look like, as text in `screens/`: `EXECPLAN_SCREENS=write` writes it again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.board_app.app_session import AppSession, run_session
from tests.in_process_repository import LOW, InProcessRepository
from tests.plans import CLEAN

SCREENS = Path(__file__).resolve().parent / "screens"
STALLED = "# Old plan\n\n## Progress\n\n- [x] (2025-06-01 09:00Z) A.\n- [ ] B.\n"
COMPLETE = "# Complete plan\n\n## Progress\n\n- [x] (2025-07-01 09:00Z) A.\n"
WIDE = "# 行を読むパーサーを作る、長い題名の計画 🚀\n\n## Progress\n\n- [x] (2025-12-31 09:00Z) 読む。\n- [ ] 書く。\n"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository with a plan of each state, one of them approved, and a claim."""
    desk = InProcessRepository(tmp_path / "desk", monkeypatch)
    desk.plan(LOW)
    desk.approve()
    for name, content in (("old", STALLED), ("complete", COMPLETE), ("shelved", COMPLETE)):
        desk.plan(content, name)
    desk.git("add", ".agent/execplans/old.md")
    desk.env["GIT_COMMITTER_DATE"] = "2025-06-01T09:00:00Z"
    desk.git("commit", "-q", "-m", "Plans")
    desk.data("archive", "shelved", "--force", "--reason", "Test")
    desk.plan(CLEAN, "clean")
    desk.plan(WIDE, "wide")
    desk.plan(b"Broken \xff\n", "broken")
    desk.data("new", "Build the scanner")
    desk.data("next", "clean", "--claim", "agent-1")
    return desk


@pytest.mark.parametrize(
    ("name", "size", "keys"),
    [
        ("board", (150, 24), []),
        ("board-with-archive", (170, 24), ["v"]),
        ("board-narrow", (50, 24), ["right", "right"]),
        ("board-filtered", (110, 16), ["slash", "c", "l", "e", "a", "n"]),
        ("plan", (100, 40), ["right", "right", "end", "enter"]),
        ("plan-narrow", (40, 24), ["right", "right", "end", "enter"]),
        ("keys", (100, 32), ["question_mark"]),
        ("new-task", (80, 20), ["right", "right", "a", "x"]),
    ],
)
def test_screen(desk: InProcessRepository, name: str, size: tuple[int, int], keys: list[str]) -> None:
    screens: list[str] = []

    async def steps(session: AppSession) -> None:
        for key in keys:
            await session.press(key)
        if name == "board-with-archive":
            await session.until("archived 1 ─")
        screens.append(session.screen() + "\n")

    run_session(steps, size)
    path = SCREENS / f"{name}.txt"
    if os.environ.get("EXECPLAN_SCREENS") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(screens[0], encoding="utf-8")
    assert screens[0] == path.read_text(encoding="utf-8")


def test_the_highlight_and_errors_have_colors(desk: InProcessRepository) -> None:
    async def steps(session: AppSession) -> None:
        strips = session.app.screen._compositor.render_strips()
        segments = [segment for strip in strips for segment in strip]
        error = next(segment for segment in segments if "byte 0xff" in segment.text)
        other = next(segment for segment in segments if "Complete plan" in segment.text)
        assert error.style is not None
        assert other.style is not None
        assert error.style.color != other.style.color
        assert error.style.bgcolor != other.style.bgcolor
        await session.press("right")
        strips = session.app.screen._compositor.render_strips()
        moved = next(segment for strip in strips for segment in strip if "byte 0xff" in segment.text)
        assert moved.style is not None
        assert moved.style.bgcolor != error.style.bgcolor

    run_session(steps, (150, 24))
