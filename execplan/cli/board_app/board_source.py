"""Where the board comes from: the current project, or several, of which others are only read."""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from execplan.core.plan_store.plan_store import quote_plan_name
from execplan.views.board.board_loader import load_board, load_joint_board

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.core.project.project import Project
    from execplan.core.project.project_list import ProjectList, ProjectOrigin
    from execplan.views.board.board_cards import Board, Card
    from execplan.views.board.board_changes import FileState, Snapshot


class BoardSource(NamedTuple):
    """The projects of a board."""

    project: Project
    """The current project, or one of several."""
    selected: ProjectList | None = None
    """The projects if they were named; None if the board is that of the current project."""

    def take_snapshot(self) -> Snapshot:
        """Read the states of the files of all projects. Raises ExecplanError."""
        from execplan.views.board.board_changes import Snapshot, take_snapshot  # a table does not need it

        if self.selected is None:
            return take_snapshot(self.project, all_worktrees=True)
        states: dict[str, dict[str, FileState]] = {}
        for project in [listed.project for listed in self.selected.projects]:
            for key, files in take_snapshot(project, all_worktrees=True).states.items():
                states.setdefault(key, {}).update(files)
        return Snapshot(states)

    def load(
        self, *, everything: bool, tick: Callable[[int, int], None] | None = None
    ) -> tuple[Board, tuple[str, ...]]:
        """Load the board, and return it with why some projects are missing. Raises ExecplanError for a single project."""
        if self.selected is None:
            return load_board(self.project, archived=everything, all_worktrees=True, tick=tick), ()
        joint = load_joint_board(self.selected.projects, archived=everything, all_worktrees=True, tick=tick)
        return joint.board, (*self.selected.problems, *joint.problems)

    def plan_path(self, card: Card) -> str:
        """Return the absolute path of the file of a card's plan, in the worktree that has the newest version."""
        root = card.worktree.root if card.worktree is not None else ""
        return os.path.join(root or self.project.root, card.path)

    def other_project(self, card: Card) -> ProjectOrigin | None:
        """Return the project of a card's plan if it is another one, which is only read."""
        projects = self.selected.projects if self.selected is not None else ()
        origins = [listed.origin for listed in projects if listed.project.is_read_only]
        return card.from_project if card.from_project in origins else None


def read_only_message(origin: ProjectOrigin, arguments: str, plan: str) -> str:
    """Return the message about an edit in another project, with the command that makes it."""
    directory = quote(os.path.relpath(origin.path))
    return (
        f"{origin.name} is another project, which is only read here. To edit it, run:\n"
        f"execplan -C {directory} {arguments} {quote_plan_name(plan)}"
    )
