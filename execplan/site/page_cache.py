"""A cache of what each page was made from, so that unchanged pages are not rendered again; it is never needed."""

from __future__ import annotations

import os
import sys
from time import time_ns
from typing import TYPE_CHECKING, Any, NamedTuple

from execplan import __version__
from execplan.files import marshal_cache
from execplan.linter.checking.lint_cache import package_fingerprint
from execplan.text.text_lines import digest

if TYPE_CHECKING:
    from execplan.project.project import Project
    from execplan.site.site_directory import FileStatus

_MAGIC = b"execplan site 1\n"


class WrittenFile(NamedTuple):
    """A file of the site as it was written."""

    name: str
    """Path in the site."""
    digest: str
    status: FileStatus | None


class CachedPage(NamedTuple):
    """What a page was made from, and what came out."""

    fingerprint: str
    """Digest of everything in memory that the page depends on."""
    checked_paths: tuple[tuple[str, bool], ...]
    """Absolute paths to which the page links, and whether they existed."""
    files: tuple[WrittenFile, ...]
    """The page and the files copied for it."""
    decisions: tuple[tuple[str, ...], ...]
    """The plan's decisions for the page with all decisions: the fields of each as texts."""


class PageCache:
    """The cached pages of one site by their names."""

    def __init__(self, path: str, header: bytes) -> None:
        self._path = path
        self._header = header
        self._started_ns = time_ns()
        content = marshal_cache.read_cache(path, header)
        self.pages: dict[str, CachedPage] = {
            page: _make_page(fields) for page, fields in (content.items() if isinstance(content, dict) else ())
        }

    def save(self, pages: dict[str, CachedPage]) -> None:
        """Replace the cached pages; on failure, the next run renders all pages."""
        if pages != self.pages:
            marshal_cache.write_cache(
                self._path, self._header, self._started_ns, lambda _: {page: _plain_page(pages[page]) for page in pages}
            )


def open_page_cache(project: Project, directory: str, templates_digest: str) -> PageCache | None:
    """Return the cache for a site's directory; None without Git, or if this package was just changed."""
    fingerprint = package_fingerprint() if project.git is not None else None
    if fingerprint is None:
        return None
    key_parts = (__version__, fingerprint, templates_digest, sys.version, project.root, project.base, directory)
    key = digest(repr(key_parts).encode("utf-8", "surrogatepass")).encode()
    name = digest(os.fsencode(directory))[:16]
    return PageCache(os.path.join(project.state, "site", name), _MAGIC + key)


def _plain_page(page: CachedPage) -> tuple[Any, ...]:
    return tuple(page._replace(files=tuple([tuple(file) for file in page.files])))  # type: ignore[arg-type]


def _make_page(fields: tuple[Any, ...]) -> CachedPage:
    page = CachedPage._make(fields)
    return page._replace(files=tuple([WrittenFile._make(file) for file in page.files]))
