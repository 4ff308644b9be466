"""A cache of what each page was made from, so that unchanged pages are not rendered again; it is never needed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from time import time_ns
from typing import Any, NamedTuple

from execplan import __version__
from execplan.core.files import marshal_cache
from execplan.core.files.file_status import package_fingerprint
from execplan.core.project.project import Project
from execplan.core.text.text_lines import digest
from execplan.team.history.history_event import HistoryEvent
from execplan.views.site.site_directory import FileStatus

_MAGIC = b"execplan site 2\n"


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
    decisions: tuple[tuple[str, ...], ...]
    """The plan's decisions for the page with all decisions: the fields of each as texts."""
    chart_sources: tuple[Any, ...]
    """The plan's data for the charts of all plans, as plain tuples; empty without charts."""
    files: tuple[WrittenFile, ...]
    """The page and the files copied for it."""


class PageCache:
    """The cached pages of one site by their names."""

    def __init__(self, path: str, header: bytes) -> None:
        self._path = path
        self._header = header
        self._started_ns = time_ns()
        content = marshal_cache.read_cache(path, header)
        pages, history = content if isinstance(content, tuple) and len(content) == 2 else ({}, ("", []))
        self.pages: dict[str, CachedPage] = {page: make_page(fields) for page, fields in pages.items()}
        self._history_key: str = history[0]
        self._history: list[tuple[Any, ...]] = history[1]
        self._is_changed = False

    def events(self, key: str, load: Callable[[], Sequence[HistoryEvent]]) -> list[HistoryEvent]:
        """Return the events of all plans, from the cache if `key`, the state of the repository, is the same."""
        if key != self._history_key:
            self._history_key, self._history, self._is_changed = key, [tuple(event) for event in load()], True
        return [HistoryEvent._make(fields) for fields in self._history]

    def save(self, pages: dict[str, CachedPage]) -> None:
        """Replace the cached pages; on failure, the next run renders all pages."""
        if pages == self.pages and not self._is_changed:
            return
        plain_pages = {name: (*page[:-1], tuple([tuple(file) for file in page.files])) for name, page in pages.items()}
        content = plain_pages, (self._history_key, self._history)
        marshal_cache.write_cache(self._path, self._header, self._started_ns, lambda _: content)


def open_page_cache(project: Project, directory: str, templates_digest: str) -> PageCache | None:
    """Return the cache for a site's directory; None without Git, or if this package was just changed."""
    fingerprint = package_fingerprint() if project.git is not None else None
    if fingerprint is None:
        return None
    key_parts = (__version__, fingerprint, templates_digest, sys.version, project.root, project.base, directory)
    key = digest(repr(key_parts).encode("utf-8", "surrogatepass")).encode()
    name = digest(os.fsencode(directory))[:16]
    return PageCache(os.path.join(project.caches, "site", name), _MAGIC + key)


def make_page(fields: tuple[Any, ...]) -> CachedPage:
    """Return a page from its fields in plain tuples, the only ones that `marshal` writes."""
    return CachedPage._make((*fields[:-1], tuple([WrittenFile._make(file) for file in fields[-1]])))
