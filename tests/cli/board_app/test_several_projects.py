"""The interactive board of several projects: plans of others are shown and followed, but not edited."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.cli.board_app.app_session import AppSession, run_session
from tests.several_projects import SCANNER, Neighbors, active, tree_state

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Folder


@pytest.fixture
def lib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """Another repository; the current one has a plan with the same ID."""
    neighbors = Neighbors(tmp_path)
    lib = neighbors.add("lib", scanner=active("lib scanner"))
    app = neighbors.add("app", scanner=active("app scanner"))
    for name, value in app.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.chdir(app.path)
    return lib


def test_plans_of_other_projects_are_shown_but_not_edited(lib: Folder) -> None:
    before = tree_state(lib.path)

    async def steps(session: AppSession) -> None:
        assert "active 2" in session.screen()
        await session.press("slash")
        await session.type("lib")
        await session.press("enter")
        await session.until("active 1 of 2")
        for key, command in (("d", "done "), ("c", "next --claim --task "), ("a", "add 'New task' -p ")):
            await session.press(key)
            await session.until(f"execplan -C ../lib {command}")
        await session.until("lib is another project, which is only read here")
        await session.press("enter")
        await session.until("tab Tasks/text")
        assert "2. [ ] Do lib scanner" in session.screen()
        for key, command in (("d", "done "), ("o", "reopen "), ("c", "next --claim --task ")):
            await session.press(key)
            await session.until(f"execplan -C ../lib {command}")
        await session.press("a")
        await session.until("execplan -C ../lib add 'New task' -p ")

    run_session(steps, (160, 60), projects=[".", "../lib"])
    assert tree_state(lib.path) == before


def test_plans_of_the_current_project_are_edited(lib: Folder) -> None:
    async def steps(session: AppSession) -> None:
        await session.press("slash")
        await session.type("app")
        await session.press("enter", "d")
        await session.until("done: 2. Do app scanner")

    run_session(steps, projects=["../lib", "."])
    with open(f".agent/execplans/{SCANNER}.md", encoding="utf-8") as file:
        assert "- [x] (2026-01-01 00:00Z) Do app scanner" in file.read()


def test_changes_in_other_projects_are_shown(lib: Folder) -> None:
    async def steps(session: AppSession) -> None:
        lib.plan(active("a new plan"), "new")
        await session.until("active 3")
        assert "a new plan" in session.screen()
        lib.write(".git/execplan/claims.json", "{")
        await session.until("active 1")
        assert "claims.json can't be read" in "".join(session.notified)

    run_session(steps, (160, 40), projects=[".", "../lib"])


def test_an_interrupted_move_is_not_finished_when_a_plan_is_opened(lib: Folder) -> None:
    os.makedirs(lib.path / ".git/execplan")
    lib.write(".git/execplan/move.json", "{}")
    before = tree_state(lib.path)

    async def steps(session: AppSession) -> None:
        await session.press("enter")
        await session.until("tab Tasks/text")

    run_session(steps, projects=["../lib"])
    assert tree_state(lib.path) == before
