"""Names of the pages of plans, which are unique on file systems that ignore case, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from execplan.plan_store.plan_store import normalize_id
from execplan.site.page_context import PLANS_DIRECTORY
from execplan.text.text_lines import digest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project

_MAX_NAME_BYTES: Final = 180
"""Longest name before the suffix; file systems allow 255 bytes."""
_DIGEST_LENGTH: Final = 8


class PageNames:
    """The page of each plan: named after its ID, with a digest of its path if another plan has this name already."""

    def __init__(self, plans: Iterable[tuple[Project, PlanRef]]) -> None:
        """Name the pages of plans; earlier plans get the name without a digest."""
        self._pages: dict[str, str] = {}
        used_names: set[str] = set()
        for project, ref in plans:
            name = _file_name(ref.id)
            if normalize_id(name) in used_names or name != ref.id:
                name = f"{name}-{digest(project.display_path(ref.path).encode(errors='surrogateescape'))[:_DIGEST_LENGTH]}"
            used_names.add(normalize_id(name))
            self._pages[ref.path] = f"{PLANS_DIRECTORY}/{name}.html"

    def page(self, path: str) -> str:
        """Return the page of the plan in a file, as a path in the site; empty if the file is not a plan."""
        return self._pages.get(path, "")

    def paths(self) -> dict[str, str]:
        """Return the file of each page's plan, by page."""
        return {page: path for path, page in self._pages.items()}


def _file_name(plan_id: str) -> str:
    """Return a plan's ID as the name of a file: not too long, and without characters that some systems don't allow."""
    name = "".join([char if char.isprintable() and char not in '<>:"/\\|?*' else "_" for char in plan_id])
    return name.encode(errors="surrogateescape")[:_MAX_NAME_BYTES].decode(errors="ignore").rstrip(". ") or "plan"
