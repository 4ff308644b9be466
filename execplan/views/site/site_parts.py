"""The projects of a site: one, or several with a directory for the pages of each."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from execplan.core.errors import ExecplanError
from execplan.core.plan_store.plan_store import normalize_id
from execplan.core.project.project import Project
from execplan.core.project.project_list import ListedProject
from execplan.core.text.text_lines import digest
from execplan.team.dependencies.known_projects import KnownProjects
from execplan.views.board.board_cards import Board, Card
from execplan.views.board.board_loader import join_boards, load_board
from execplan.views.site.page_context import PageContext, make_static_context, safe_file_name

Tick = Callable[[int, int], None]

_PROJECTS_DIRECTORY: Final = "projects"
_DIGEST_LENGTH: Final = 8
_JOINT_NAME: Final = "All projects"
"""Name of a site of several projects."""


class SitePart(NamedTuple):
    """A project of a site."""

    project: Project
    board: Board
    """The project's plans with their findings; their paths begin with `prefix`."""
    prefix: str = ""
    """What precedes a plan's path from the root of its repository, such as `parser:`; empty if there is one project."""
    directory: str = ""
    """Directory of the project's pages in the site, with a final slash; empty if there is one project."""
    name: str = ""
    """Name of the site; empty for the name of the project."""

    def top_context(self, site: str) -> PageContext:
        """Return the context of the pages about all plans, given the directory of the site."""
        return self._context(site, "")

    def plan_context(self, site: str) -> PageContext:
        """Return the context of the pages of the project's plans, given the directory of the site."""
        return self._context(site, "../" * (self.directory.count("/") + 1))

    def _context(self, site: str, root: str) -> PageContext:
        context = make_static_context(self.project, site, root)
        return context._replace(site_name=self.name) if self.name else context


def load_part(project: Project, tick: Tick | None = None) -> SitePart:
    """Load the only project of a site. Raises ExecplanError if its settings or claims are damaged."""
    return SitePart(project, load_board(project, archived=True, tick=tick))


def load_parts(projects: Sequence[ListedProject], tick: Tick | None = None) -> tuple[list[SitePart], list[str]]:
    """Load the projects of a site, and return those that can be loaded, and why the others can't."""
    known_projects = KnownProjects([listed.project for listed in projects])
    parts: list[SitePart] = []
    problems: list[str] = []
    directories = _directories([listed.origin.name for listed in projects])
    for listed, directory in zip(projects, directories, strict=True):
        try:
            board = load_board(listed.project, archived=True, known_projects=known_projects, tick=tick)
        except ExecplanError as error:
            problems.append(f"{listed.origin.name}: {error.message}")
            continue
        prefix = f"{listed.origin.name}:"
        parts.append(SitePart(listed.project, _with_prefix(board, prefix, listed), prefix, directory, _JOINT_NAME))
    return parts, problems


def join_parts(parts: Sequence[SitePart]) -> Board:
    """Return the board of all parts."""
    return parts[0].board if len(parts) == 1 else join_boards([part.board for part in parts])


def _with_prefix(board: Board, prefix: str, listed: ListedProject) -> Board:
    def with_origin(card: Card) -> Card:
        return card._replace(path=prefix + card.path, from_project=listed.origin)

    columns = [column._replace(cards=tuple(map(with_origin, column.cards))) for column in board.columns]
    return board._replace(
        columns=tuple(columns),
        findings={prefix + path: plan_findings for path, plan_findings in board.findings.items()},
    )


def _directories(names: Sequence[str]) -> list[str]:
    """Return a directory of the site for each project, which are different on file systems that ignore case, too."""
    directories = []
    used_names: set[str] = set()
    for name in names:
        safe_name = safe_file_name(name)
        if normalize_id(safe_name) in used_names or safe_name != name:
            safe_name = f"{safe_name}-{digest(name.encode(errors='surrogateescape'))[:_DIGEST_LENGTH]}"
        used_names.add(normalize_id(safe_name))
        directories.append(f"{_PROJECTS_DIRECTORY}/{safe_name}/")
    return directories


def plan_files(parts: Sequence[SitePart]) -> dict[str, str]:
    """Return the absolute path of the file of each plan, by the plan's path on the board."""
    return {
        card.path: os.path.join(part.project.root, card.path.removeprefix(part.prefix))
        for part in parts
        for card in part.board.cards
    }
