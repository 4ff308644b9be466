"""The board of several projects: the cards of each, in common columns."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from execplan.core.errors import ExecplanError
from execplan.team.dependencies.known_projects import KnownProjects
from execplan.views.board.board_cards import COLUMNS, Board, Column
from execplan.views.board.board_loader import load_board, sort_cards

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.core.project.project_list import ListedProject
    from execplan.views.board.board_cards import Card


class JointBoard(NamedTuple):
    """The board of several projects, without findings, which are counted on the cards."""

    board: Board
    problems: tuple[str, ...]
    """Why plans of some projects are missing, with the names of the projects."""


def load_joint_board(
    projects: Sequence[ListedProject],
    *,
    archived: bool = False,
    all_worktrees: bool = False,
    tick: Callable[[int, int], None] | None = None,
) -> JointBoard:
    """Load the boards of several projects as one; the options are those of `load_board`.

    A project whose plans can't be loaded is a problem, and doesn't hide the others.
    """
    known_projects = KnownProjects([listed.project for listed in projects])
    boards: list[Board] = []
    problems: list[str] = []
    for listed in projects:
        try:
            board = load_board(
                listed.project,
                archived=archived,
                all_worktrees=all_worktrees,
                known_projects=known_projects,
                tick=tick,
            )
        except ExecplanError as error:
            problems.append(f"{listed.origin.name}: {error.message}")
            continue
        boards.append(_with_origin(board, listed))
    return JointBoard(join_boards(boards), tuple(problems))


def _with_origin(board: Board, listed: ListedProject) -> Board:
    columns = [
        column._replace(cards=tuple([_with_card_origin(card, listed) for card in column.cards]))
        for column in board.columns
    ]
    return Board(tuple(columns), {})


def _with_card_origin(card: Card, listed: ListedProject) -> Card:
    """Return a card with its project; the path of a plan in another project is absolute."""
    path = card.path
    if listed.project.is_read_only:
        root = card.worktree.root if card.worktree is not None else ""
        path = os.path.join(root or listed.project.root, path)
    return card._replace(path=path, from_project=listed.origin)


def join_boards(boards: Sequence[Board]) -> Board:
    """Return the cards of several boards in common columns, latest activity first."""
    columns = []
    for index, name in enumerate(COLUMNS):
        parts = [board.columns[index] for board in boards]
        cards: list[Card] = [card for column in parts for card in column.cards]
        columns.append(Column(name, tuple(sort_cards(cards)), sum([column.total for column in parts])))
    return Board(tuple(columns), {})
