"""The context of a page: its unique name, where its links lead, and whether it is a static file or is served live.

Names are unique on file systems that ignore case, too.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

from execplan.core.plan.model import ARCHIVED
from execplan.core.plan_store.plan_store import normalize_id
from execplan.core.text.pure_paths import is_inside
from execplan.core.text.text_lines import digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from execplan.core.project.project import Project
    from execplan.views.board.board_cards import Card

BOARD_PAGE: Final = "index.html"
DECISIONS_PAGE: Final = "decisions.html"
ARCHIVE_PAGE: Final = "archive.html"
CHARTS_PAGE: Final = "charts.html"
PLANS_DIRECTORY: Final = "plans"
FILES_DIRECTORY: Final = "files"
CHARTS_DIRECTORY: Final = "charts"
ASSETS_DIRECTORY: Final = "assets"

STATIC_POLICY: Final = (
    "default-src 'none'; style-src 'self' file:; script-src 'self' file:; img-src 'self' file:; "
    "base-uri 'none'; form-action 'none'"
)
"""Content security policy of a static page: only files of the site, nothing inline, no requests to other hosts.

Some browsers do not count files as `'self'`, so `file:` is listed too; a page from a web server can't load such files.
"""
_MAX_NAME_BYTES: Final = 180
"""Longest name before the suffix; file systems allow 255 bytes."""
_DIGEST_LENGTH: Final = 8


class PageContext(NamedTuple):
    """What all pages need besides their content."""

    site_name: str
    """Name of the project, shown on each page."""
    root: str = ""
    """URL of the site's start relative to the page, with a final slash unless empty; `/` on a server."""
    repository: str = ""
    """URL of the repository's root relative to the page, with a final slash; empty if its files are not linked."""
    policy: str = STATIC_POLICY
    """Content security policy to put into the page; empty if the server sends it as a header."""
    csrf_token: str = ""
    """Token that forms send; empty if the page has no forms, as in a static site."""
    events: str = ""
    """URL of the server-sent events about changes; empty on a static page."""
    scripts: tuple[str, ...] = ()
    """URLs of scripts that only live pages have."""
    notices: tuple[str, ...] = ()
    """Messages at the top of the page, such as the result of an edit."""
    actor: str = ""
    """On a plan's page that is live, the name in which it claims and releases tasks."""

    @property
    def is_live(self) -> bool:
        """Return whether the page is served live, so that it can have forms and be updated."""
        return bool(self.csrf_token or self.events)

    def url(self, page: str) -> str:
        """Return the URL of a page or a file of the site, given by its path in the site."""
        return self.root + quote_path(page)

    def repository_url(self, path: str) -> str:
        """Return the URL of a file in the repository, given by its path from the root; empty if it is not linked."""
        return self.repository + quote_path(path) if self.repository else ""


def make_static_context(project: Project, directory: str, root: str) -> PageContext:
    """Return the context of static pages whose site, in a directory, starts at `root`.

    Files of the repository are linked if the site is inside of it, because they are then where the site is, too.
    """
    repository = ""
    if is_inside(directory, project.root):
        repository = root + quote_path(os.path.relpath(project.root, directory)) + "/"
    return PageContext(os.path.basename(project.base) or "Plans", root, repository)


def quote_path(path: str) -> str:
    """Quote a path for a URL; bytes that are not UTF-8 are kept."""
    return quote(path, safe="/", errors="surrogateescape")


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
