"""Names of the pages of plans, which are unique on file systems that ignore case, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from execplan.core.plan.model import ARCHIVED
from execplan.core.plan_store.plan_store import normalize_id
from execplan.core.text.text_lines import digest
from execplan.views.site.page_context import PLANS_DIRECTORY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from execplan.views.board.board_cards import Card

_MAX_NAME_BYTES: Final = 180
"""Longest name before the suffix; file systems allow 255 bytes."""
_DIGEST_LENGTH: Final = 8


class PageNames:
    """The page of each plan: named after its ID, with a digest of its path if another plan has this name already."""

    def __init__(
        self, cards: Iterable[Card], directories: Mapping[str, str] = {}, files: Mapping[str, str] = {}
    ) -> None:
        """Name the pages of all plans; of those with the same ID, one outside the archive and nested projects is first.

        `directories` has the directory of each project in the site, by the path of the project directory, and `files` the
        absolute path of each plan's file, by the plan's path; both are needed only for several projects.
        """
        self._pages: dict[str, str] = {}
        self._paths_by_file = {file: path for path, file in files.items()}
        used_names: set[str] = set()
        for card in sorted(cards, key=lambda card: (card.project, card.state == ARCHIVED, card.path)):
            name = safe_file_name(card.id)
            directory = directories[card.from_project.path] if card.from_project is not None and directories else ""
            if directory + normalize_id(name) in used_names or name != card.id:
                name = f"{name}-{digest(card.path.encode(errors='surrogateescape'))[:_DIGEST_LENGTH]}"
            used_names.add(directory + normalize_id(name))
            self._pages[card.path] = f"{directory}{PLANS_DIRECTORY}/{name}.html"

    def page(self, path: str) -> str:
        """Return the page of the plan at a path from the repository root, as a path in the site; empty if there is none."""
        return self._pages.get(path, "")

    def page_of_file(self, file: str) -> str:
        """Return the page of the plan in a file of any of several projects, given by its absolute path; or empty."""
        return self._pages.get(self._paths_by_file.get(file, ""), "")

    def path(self, page: str) -> str:
        """Return the path from the repository root of the plan that has a page; empty if there is none."""
        return next((path for path, plan_page in self._pages.items() if plan_page == page), "")

    def all_pages(self) -> dict[str, str]:
        """Return the page of each plan by the plan's path."""
        return dict(self._pages)


def sibling_directory(page: str, name: str) -> str:
    """Return a directory next to that of the pages of plans, given a plan's page."""
    return page.rpartition(f"{PLANS_DIRECTORY}/")[0] + name


def safe_file_name(name: str) -> str:
    """Return a name for a file of the site: not too long, not hidden, and without characters that some systems forbid."""
    cleaned = "".join([char if char.isprintable() and char not in '<>:"/\\|?*' else "_" for char in name])
    return cleaned.encode()[:_MAX_NAME_BYTES].decode(errors="ignore").lstrip(".").rstrip(". ") or "_"
