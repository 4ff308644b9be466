"""Opening of the index for a search: the one of the project, or one in memory."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from execplan.context.search.search_index import SearchIndex
from execplan.core.plan_facts import index_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.project.project import Project


@contextmanager
def open_search_index(project: Project) -> Iterator[SearchIndex]:
    """Open the index of a project, with the tables of the search. Raises what `open_index` raises."""
    with index_file.open_index(project) as database:
        index = SearchIndex(database)
        if not index.is_created():
            with index_file.index_lock(project), index.transaction():
                if not index.is_created():
                    index.create()
        yield index


@contextmanager
def open_memory_index() -> Iterator[SearchIndex]:
    """Open an empty index in memory. Raises ExecplanError if Python's SQLite does not support full-text search."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        index = SearchIndex(database)
        index.create()
        yield index
