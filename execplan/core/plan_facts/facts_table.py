"""The table of facts in the plan index: a row for each plan, with the status of its file and a checksum."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from execplan.core import trace
from execplan.core.errors import ExecplanError
from execplan.core.files.file_lock import is_held
from execplan.core.plan_facts import index_file
from execplan.core.plan_facts.listed_plan import PlanFacts, decode_facts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from execplan.core.project.project import Project


class StoredFacts(NamedTuple):
    """A row of the table."""

    status: str
    """File status in which the file has these facts; empty if it can't be trusted."""
    checksum: int
    encoded: bytes

    def decode(self) -> PlanFacts | None:
        """Return the facts; None if the row is damaged."""
        if not isinstance(self.encoded, bytes) or crc32(self.encoded) != self.checksum:
            return None
        try:
            return decode_facts(self.encoded)
        except (ValueError, EOFError, TypeError):
            return None


def load(project: Project) -> dict[bytes, StoredFacts] | None:
    """Return the rows by path from the repository root; None if the index can't be used. A damaged one is made again."""
    for _ in range(2):
        try:
            with index_file.open_index(project) as database:
                rows = database.execute("select path, status, checksum, facts from facts")
                return {row[0]: StoredFacts._make(row[1:]) for row in rows}
        except sqlite3.Error as error:
            trace.log(f"can't use {index_file.index_path(project)}: {error}")
            try:
                if not index_file.remove_damaged(project, error):
                    return None
            except (OSError, ExecplanError):
                return None
        except (OSError, ExecplanError) as error:
            trace.log(f"can't use {index_file.index_path(project)}: {error}")
            return None
    return None


def save(project: Project, changed: Mapping[bytes, tuple[str, bytes]], removed: Sequence[bytes]) -> None:
    """Write rows, given as file status and encoded facts by path, and remove others.

    If that is impossible, or if another process is writing the index, it stays as it is.
    """
    rows = [(path, status, crc32(encoded), encoded) for path, (status, encoded) in changed.items()]
    lock = index_file.index_lock(project)
    try:
        if is_held(lock.path):
            return
        with index_file.open_index(project) as database, lock, index_file.transaction(database):
            database.executemany("delete from facts where path = ?", [(path,) for path in removed])
            database.executemany("insert or replace into facts values (?, ?, ?, ?)", rows)
        trace.log(f"indexed the facts of {len(changed)} plans")
    except (sqlite3.Error, OSError, ExecplanError) as error:
        trace.log(f"can't write {index_file.index_path(project)}: {error}")
