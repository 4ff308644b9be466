"""The result of building a site."""

from __future__ import annotations

from typing import NamedTuple


class BuiltSite(NamedTuple):
    """The result of building a site."""

    directory: str
    """Absolute path."""
    pages: int
    """Number of pages, changed or not."""
    changed: tuple[str, ...]
    """The files that were written, by their paths in the site, in order; in a dry run those that would be."""
    unchanged: int
    """Number of files that already had the right content."""
    removed: tuple[str, ...]
    warnings: tuple[str, ...]
    problems: tuple[str, ...] = ()
    """Why some of several projects have no pages."""
