"""Names of the pages of plans, which are unique on file systems that ignore case, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from execplan.plan.model import ARCHIVED
from execplan.plan_store.plan_store import normalize_id
from execplan.site.page_context import PLANS_DIRECTORY
from execplan.text.text_lines import digest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from execplan.board.board_cards import Card

_MAX_NAME_BYTES: Final = 180
"""Longest name before the suffix; file systems allow 255 bytes."""
_DIGEST_LENGTH: Final = 8


class PageNames:
    """The page of each plan: named after its ID, with a digest of its path if another plan has this name already."""

    def __init__(self, cards: Iterable[Card]) -> None:
        """Name the pages of all plans; of those with the same ID, one outside the archive and nested projects is first."""
        self._pages: dict[str, str] = {}
        used_names: set[str] = set()
        for card in sorted(cards, key=lambda card: (card.project, card.state == ARCHIVED, card.path)):
            name = safe_file_name(card.id)
            if normalize_id(name) in used_names or name != card.id:
                name = f"{name}-{digest(card.path.encode(errors='surrogateescape'))[:_DIGEST_LENGTH]}"
            used_names.add(normalize_id(name))
            self._pages[card.path] = f"{PLANS_DIRECTORY}/{name}.html"

    def page(self, path: str) -> str:
        """Return the page of the plan at a path from the repository root, as a path in the site; empty if there is none."""
        return self._pages.get(path, "")

    def path(self, page: str) -> str:
        """Return the path from the repository root of the plan that has a page; empty if there is none."""
        return next((path for path, plan_page in self._pages.items() if plan_page == page), "")

    def all_pages(self) -> dict[str, str]:
        """Return the page of each plan by the plan's path."""
        return dict(self._pages)


def safe_file_name(name: str) -> str:
    """Return a name for a file of the site: not too long, not hidden, and without characters that some systems forbid."""
    cleaned = "".join([char if char.isprintable() and char not in '<>:"/\\|?*' else "_" for char in name])
    return cleaned.encode()[:_MAX_NAME_BYTES].decode(errors="ignore").lstrip(".").rstrip(". ") or "_"
