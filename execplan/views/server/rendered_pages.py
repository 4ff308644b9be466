"""A cache of rendered pages: many tabs that are updated at the same time share one rendering."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import Any, Generic, NamedTuple, TypeVar

_MAX_PAGES = 64
"""Number of pages to keep; a board of a thousand plans has a few megabytes."""

T = TypeVar("T")
R = TypeVar("R")


class _CachedPage(NamedTuple, Generic[T]):
    version: object
    page: T


class RenderedPages(Generic[T]):
    """Rendered pages by their path, each with the version of the files that it was rendered from."""

    def __init__(
        self, in_thread: Callable[[Callable[[], Any]], Awaitable[Any]], slow_pages: Collection[str] = ()
    ) -> None:
        """Create an empty cache; `in_thread` runs a function in a thread. All other pages don't wait for slow ones."""
        self._in_thread = in_thread
        self._slow_pages = frozenset(slow_pages)
        self._pages: dict[str, _CachedPage[T]] = {}
        self._lock, self._slow_lock = asyncio.Lock(), asyncio.Lock()

    async def get(self, path: str, find_version: Callable[[], object], render: Callable[[], T]) -> T:
        """Return the page at a path: the cached one if its version is the current one, otherwise a new one.

        Both functions run in a thread, one page at a time, because rendering is computation: threads would only slow each
        other down.
        """
        async with self._slow_lock if path in self._slow_pages else self._lock:
            version = await self._in_thread(find_version)
            cached = self._pages.pop(path, None)
            if cached is None or cached.version != version:
                cached = _CachedPage(version, await self._in_thread(render))
            self._pages[path] = cached
            while len(self._pages) > _MAX_PAGES:
                del self._pages[next(iter(self._pages))]
            return cached.page

    async def render(self, function: Callable[[], R]) -> R:
        """Run a function in a thread, but not while a page is rendered; nothing is cached."""
        async with self._lock:
            result: R = await self._in_thread(function)
        return result
