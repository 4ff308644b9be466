"""Detection of changes: the state changes with everything that the board shows, and stays the same otherwise."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from execplan.board.board_changes import board_state
from execplan.project import project_discovery
from tests.cli.journaled_run import JournaledRun
from tests.in_process_repository import LOW, InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path

    from execplan.board.board_changes import BoardState


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository with a plan that can be run."""
    desk = InProcessRepository(tmp_path / "desk", monkeypatch)
    desk.plan(LOW)
    return desk


def current_state() -> BoardState:
    """The state of the project in the current directory."""
    return board_state(project_discovery.require(os.getcwd()))


def test_each_operation_changes_the_state(desk: InProcessRepository) -> None:
    states = [current_state()]
    for call in (
        ["done", "1"],
        ["reopen", "1"],
        ["add", "Task"],
        ["new", "Second"],
        ["next", "-p", "parser", "--claim", "a"],
    ):
        desk.data(*call, *(["-p", "parser"] if call[0] in ("done", "reopen", "add") else []))
        states.append(current_state())
        assert states[-1] != states[-2], call
    desk.data("archive", "parser", "--force", "--reason", "Test")
    states.append(current_state())
    assert states[-1] != states[-2]


def test_an_approval_and_a_run_change_the_state(desk: InProcessRepository) -> None:
    before = current_state()
    desk.approve()
    approved = current_state()
    assert approved != before
    run = JournaledRun(desk)
    started = current_state()
    assert started != approved
    run.write("paused", why="question")
    assert current_state() != started


def test_reading_changes_nothing(desk: InProcessRepository) -> None:
    before = current_state()
    for call in (["board"], ["status"], ["lint"], ["next"]):
        desk.type(*call)
    assert current_state() == before


def test_nested_projects_count(desk: InProcessRepository) -> None:
    desk.write("tools/.agent/execplans/tool.md", LOW)
    desk.write(".agent/execplan.toml", 'homes = ["tools"]\n')
    before = current_state()
    desk.write("tools/.agent/execplans/tool.md", LOW + "\n")
    assert current_state() != before
