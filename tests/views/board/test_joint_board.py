"""The board of several projects: it is the union of the boards of each, and writes nothing in others."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.project import project_discovery
from execplan.core.project.project_list import list_projects
from execplan.views.board.board_cards import COLUMNS, Board, Card
from execplan.views.board.board_loader import load_board, load_joint_board
from tests.several_projects import Neighbors, active
from tests.team.dependencies.plan_files import plan_text

TEXTS = (active("one"), plan_text("done", "x A"), plan_text("draft"), "no plan", "", active("waits", needs="lib:b"))
FILES = st.dictionaries(st.sampled_from(["a", "b", "archive/c", "archive/a"]), st.sampled_from(TEXTS), max_size=4)


def cards_by_column(board: Board) -> dict[str, set[Card]]:
    """The cards of each column, without what says where they come from."""
    return {column.name: {card._replace(from_project=None) for card in column.cards} for column in board.columns}


def without_dependencies(card: Card) -> Card:
    """A card without what depends on other projects, which the board of one project does not know."""
    return card._replace(next_text="", next_task=None, blocked_by=(), unknown_dependencies=())


@given(st.lists(FILES, min_size=1, max_size=3), st.booleans())
def test_it_is_the_union_of_the_boards_of_each(projects: list[dict[str, str]], archived: bool) -> None:
    with tempfile.TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", directory)
        patch.setenv("XDG_CACHE_HOME", f"{directory}/cache")
        names = ["app", "lib", "lib-2"][: len(projects)]
        paths = [os.path.join(directory, name) for name in names]
        for path, files in zip(paths, projects, strict=True):
            for name, text in files.items():
                file = Path(path, ".agent/execplans", f"{name}.md")
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            Path(path, ".agent/execplans").mkdir(parents=True, exist_ok=True)
        joint = load_joint_board(list_projects(paths, None).projects, archived=archived)
        assert joint.problems == ()
        union: dict[str, set[Card]] = {name: set() for name in COLUMNS}
        totals = dict.fromkeys(COLUMNS, 0)
        for path in paths:
            project = project_discovery.find_read_only(path)
            for column in load_board(project, archived=archived).columns:
                totals[column.name] += column.total
                union[column.name] |= {card._replace(path=os.path.join(path, card.path)) for card in column.cards}
        assert {name: set(map(without_dependencies, cards)) for name, cards in union.items()} == {
            name: set(map(without_dependencies, cards)) for name, cards in cards_by_column(joint.board).items()
        }
        assert {column.name: column.total for column in joint.board.columns} == totals
        assert all([card.from_project is not None for card in joint.board.cards])


def test_a_project_with_damaged_claims_does_not_hide_the_others(tmp_path: Path) -> None:
    neighbors = Neighbors(tmp_path)
    for name in ("app", "lib"):
        neighbors.add(name, ui=active("ui"))
    (tmp_path / "app/.git/execplan").mkdir()
    (tmp_path / "app/.git/execplan/claims.json").write_text("{")
    joint = load_joint_board(list_projects([str(tmp_path / "app"), str(tmp_path / "lib")], None).projects)
    assert [card.path for card in joint.board.cards] == [str(tmp_path / "lib/.agent/execplans/2026-01-01_ui.md")]
    assert [problem.partition(":")[0] for problem in joint.problems] == ["app"]
