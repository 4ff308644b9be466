"""The context of a page: where its links lead, and whether it is a static file or is served live."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from execplan.core.text.pure_paths import is_inside

if TYPE_CHECKING:
    from typing import Final

    from execplan.core.project.project import Project

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
