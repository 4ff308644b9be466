"""The file of the plan index: an SQLite database in the directory for caches, which is made again if it can't be believed.

It has the facts of plans, and the words that `search` looks up. The plans' files decide: whoever reads the index
compares the status of each file first.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Final

from execplan import __version__
from execplan.core.files import file_access
from execplan.core.files.file_lock import FileLock
from execplan.core.files.file_status import package_fingerprint
from execplan.core.project import project_state
from execplan.core.project.project import Project
from execplan.core.text.text_lines import digest

_DIRECTORY: Final = "index"
_TIMEOUT: Final = 10.0
"""Seconds to wait while another process writes the index."""
_UNAVAILABLE = ("SQLITE_BUSY", "SQLITE_CANTOPEN", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_LOCKED", "SQLITE_READONLY")
"""Prefixes of errors after which a new file would not help."""
_PROPERTIES = "CREATE TABLE properties(name text primary key, value text not null)"
_FACTS = (
    "CREATE TABLE facts(path blob primary key, status text not null, checksum integer not null, facts blob not null)"
)


def index_path(project: Project) -> str:
    """Return the path of a project's index; projects in one repository have one each."""
    return os.path.join(project.caches, _DIRECTORY, f"{project_state.path_key(project.base)}.sqlite3")


def index_lock(project: Project) -> FileLock:
    """Return the lock of everyone who writes the index. Raises ExecplanError if its directory can't be created."""
    return project_state.cache_lock(project, "index", "index")


@contextmanager
def open_index(project: Project) -> Iterator[sqlite3.Connection]:
    """Open the index of a project, which is created if it is missing or of another version.

    Raises OSError or ExecplanError if the file can't be created or is not the user's own, or if this package was just
    edited, and sqlite3.Error.
    """
    version = _version(project)
    path = index_path(project)
    database = _connect_if_usable(path, version)
    if database is None:
        with index_lock(project):
            database = _connect_if_usable(path, version) or _create_file(project, path, version)
    with closing(database):
        yield database


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Make changes all or none. Raises sqlite3.Error."""
    database.execute("begin immediate")
    try:
        yield
    except BaseException:
        database.execute("rollback")
        raise
    database.execute("commit")


def remove_damaged(project: Project, error: sqlite3.Error) -> bool:
    """Remove the index after an error that shows damage; return whether it was removed. Raises ExecplanError."""
    if getattr(error, "sqlite_errorname", "").startswith(_UNAVAILABLE):
        return False
    with index_lock(project):
        _remove_file(index_path(project))
    return True


def _version(project: Project) -> str:
    """Return the version that an index must have: a digest of everything on which its content depends but the plans.

    Raises OSError if this package was just edited, so that it is not certain which version of it was loaded.
    """
    fingerprint = package_fingerprint()
    if fingerprint is None:
        raise OSError("this package was just edited")
    parts = (
        __version__,
        fingerprint,
        sys.version,
        sqlite3.sqlite_version,
        project.root,
        project.base,
        sorted(project.titles.items()),
    )
    return digest(repr(parts).encode("utf-8", "surrogatepass"))


def _connect_if_usable(path: str, version: str) -> sqlite3.Connection | None:
    """Open the index, or return None if it is missing, of another version, or has tables that are not ours.

    The version ends with the file's inode, because what came with a copied repository was not computed here.

    Raises OSError if the path is a link, or if the file is not this user's own.
    """
    if not os.path.lexists(path):
        return None
    status = os.lstat(path)
    if not stat.S_ISREG(status.st_mode) or not file_access.is_own(status) or os.path.islink(os.path.dirname(path)):
        raise PermissionError(f"{path} is not the user's own file")
    database = _connect(path)
    try:
        if _is_usable(database, f"{version} {status.st_ino}"):
            return database
    except BaseException:
        database.close()
        raise
    database.close()
    return None


def _is_usable(database: sqlite3.Connection, version: str) -> bool:
    """Return whether the database is an index of this version, and contains no code, such as triggers and views."""
    schema = {name: (kind, sql) for kind, name, sql in database.execute("select type, name, sql from sqlite_master")}
    if schema.get("properties", ("", ""))[1] != _PROPERTIES or schema.get("facts", ("", ""))[1] != _FACTS:
        return False
    if {kind for kind, _ in schema.values()} - {"table", "index"}:
        return False
    row = database.execute("select value from properties where name = 'version'").fetchone()
    return row is not None and row[0] == version


def _create_file(project: Project, path: str, version: str) -> sqlite3.Connection:
    project_state.make_cache_dir(project, _DIRECTORY)
    _remove_file(path)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    database = _connect(path)
    try:
        with transaction(database):
            for statement in (_PROPERTIES, _FACTS):
                database.execute(statement)
            database.execute("insert into properties values ('version', ?)", (f"{version} {os.stat(path).st_ino}",))
    except BaseException:
        database.close()
        raise
    return database


def _remove_file(path: str) -> None:
    """Remove the database, and the journal of an interrupted transaction, which would be applied to the next one."""
    for name in (path, f"{path}-journal"):
        file_access.remove_if_exists(name)


def _connect(path: str) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=_TIMEOUT, isolation_level=None)
    try:
        for setting in ("trusted_schema = off", "synchronous = normal", "cache_size = -65536"):
            database.execute(f"pragma {setting}")
    except BaseException:  # the file is no database
        database.close()
        raise
    return database
