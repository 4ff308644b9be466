"""The file of the index in the directory for caches, which is rebuilt if it is of another version or damaged."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from execplan.files import file_access
from execplan.project import project_state
from execplan.search.search_index import SearchIndex

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

    from execplan.files.file_lock import FileLock
    from execplan.project.project import Project

_DIRECTORY: Final = "search"
_TIMEOUT: Final = 10.0
"""Seconds to wait while another process writes the index."""
_UNAVAILABLE = ("SQLITE_BUSY", "SQLITE_CANTOPEN", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_LOCKED", "SQLITE_READONLY")
"""Prefixes of errors after which a new file would not help."""


def index_path(project: Project) -> str:
    """Return the path of a project's index; projects in one repository have one each."""
    return os.path.join(project.caches, _DIRECTORY, f"{project_state.path_key(project.base)}.sqlite3")


def index_lock(project: Project) -> FileLock:
    """Return the lock of everyone who writes the index. Raises ExecplanError if its directory can't be created."""
    return project_state.cache_lock(project, "search", "search")


@contextmanager
def open_index_file(project: Project) -> Iterator[SearchIndex]:
    """Open the index of a project, which is created if it is missing or of another version.

    Raises OSError or ExecplanError if the file can't be created or is not the user's own, and sqlite3.Error.
    """
    path = index_path(project)
    database = _connect_if_usable(path)
    if database is None:
        with index_lock(project):
            database = _connect_if_usable(path) or _create_file(project, path)
    with closing(database):
        yield SearchIndex(database)


@contextmanager
def open_memory_index(*, keeps_text: bool = False) -> Iterator[SearchIndex]:
    """Open an empty index in memory. Raises ExecplanError if Python's SQLite does not support full-text search."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        index = SearchIndex(database, keeps_text=keeps_text)
        index.create()
        yield index


def remove_damaged(project: Project, error: sqlite3.Error) -> bool:
    """Remove the index after an error that shows damage; return whether it was removed. Raises ExecplanError."""
    if getattr(error, "sqlite_errorname", "").startswith(_UNAVAILABLE):
        return False
    with index_lock(project):
        _remove_file(index_path(project))
    return True


def _connect_if_usable(path: str) -> sqlite3.Connection | None:
    """Open the index, or return None if it is missing or of another version.

    Raises OSError if the path is a link, or if the file is not this user's own.
    """
    if not os.path.lexists(path):
        return None
    status = os.lstat(path)
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or os.path.islink(os.path.dirname(path)):
        raise PermissionError(f"{path} is not the user's own file")
    database = _connect(path)
    try:
        if SearchIndex(database).is_usable():
            return database
    except BaseException:
        database.close()
        raise
    database.close()
    return None


def _create_file(project: Project, path: str) -> sqlite3.Connection:
    project_state.make_cache_dir(project, _DIRECTORY)
    _remove_file(path)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    database = _connect(path)
    index = SearchIndex(database)
    with index.transaction():
        index.create()
    return database


def _remove_file(path: str) -> None:
    """Remove the database, and the journal of an interrupted transaction, which would be applied to the next one."""
    for name in (path, f"{path}-journal"):
        file_access.remove_if_exists(name)


def _connect(path: str) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=_TIMEOUT, isolation_level=None)
    database.execute("pragma trusted_schema = off")
    database.execute("pragma synchronous = normal")
    database.execute("pragma cache_size = -65536")
    return database
