"""The full-text index of plans: an SQLite database with the items of each plan and the words in them."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from execplan.context.search.index_conditions import ensure_sections_exist, make_conditions
from execplan.context.search.index_records import Hit, PlanRecord
from execplan.context.search.indexed_text import MARK_END, MARK_START, clean_text, find_marks
from execplan.core.errors import ENVIRONMENT, ExecplanError
from execplan.core.plan_facts import index_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from typing import Final

    from execplan.context.search.index_records import IndexedItem
    from execplan.context.search.search_query import SearchQuery

_TOKENIZER: Final = "unicode61 remove_diacritics 2"
_SCHEMA = (
    """create table plans(
        id integer primary key, path blob not null unique, status text not null, digest text not null,
        name text not null, title text not null, state text not null, date text not null, artifacts text not null,
        problem text not null
    )""",
    """create table items(
        id integer primary key, plan integer not null, position integer not null, kind text not null,
        section text not null, state text not null, author text not null, date text not null, weight real not null
    )""",
    "create index items_by_plan on items(plan)",
)
_CONTEXT_WEIGHT: Final = 0.3
"""Weight of a word in the titles of the plan and the section, relative to 1 for a word in the item's own text."""


class SearchIndex:
    """An index of plans, with the texts of their items.

    SQLite needs the texts to remove words and to mark matches. Words that remain would count in the ranks, and the order
    of results would depend on earlier versions of the plans.
    """

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def is_created(self) -> bool:
        """Return whether the database has the tables of the search. Raises sqlite3.Error."""
        return bool(self._database.execute("select 1 from sqlite_master where name = 'words'").fetchone())

    def create(self) -> None:
        """Create the tables of the search.

        Raises ExecplanError if Python's SQLite does not support full-text search, and sqlite3.Error.
        """
        for statement in _SCHEMA:
            self._database.execute(statement)
        try:
            self._database.execute(f"create virtual table words using fts5(text, context, tokenize='{_TOKENIZER}')")
        except sqlite3.OperationalError as error:
            if "no such module" not in str(error):
                raise
            hint = "use a Python whose SQLite has FTS5, for example from python.org, Debian or Homebrew"
            message = f"plans can't be searched: {error}"
            raise ExecplanError("no-full-text-search", message, exit=ENVIRONMENT, hint=hint) from error

    def transaction(self) -> AbstractContextManager[None]:
        """Make changes all or none. Raises sqlite3.Error."""
        return index_file.transaction(self._database)

    def records(self) -> dict[bytes, PlanRecord]:
        """Return the plans in the index by path."""
        columns = ", ".join(PlanRecord._fields)
        rows = self._database.execute(f"select {columns} from plans")  # noqa: S608 - names of ours
        return {row[0]: PlanRecord._make(row) for row in rows}

    def set_status(self, path: bytes, status: str) -> None:
        """Record the file status of a plan whose content is unchanged."""
        self._database.execute("update plans set status = ? where path = ?", (status, path))

    def remove(self, path: bytes) -> None:
        """Remove a plan from the index, with its items and their words."""
        for (plan,) in self._database.execute("select id from plans where path = ?", (path,)).fetchall():
            self._database.execute("delete from words where rowid in (select id from items where plan = ?)", (plan,))
            self._database.execute("delete from items where plan = ?", (plan,))
            self._database.execute("delete from plans where id = ?", (plan,))

    def add(self, record: PlanRecord, items: Sequence[IndexedItem]) -> None:
        """Add a plan and its items to the index."""
        marks = ", ".join("?" * len(record))
        plan = self._database.execute(
            f"insert into plans({', '.join(record._fields)}) values ({marks})",  # noqa: S608 - names of ours
            [clean_text(value) if isinstance(value, str) else value for value in record],
        ).lastrowid
        (first,) = self._database.execute("select coalesce(max(id), 0) + 1 from items").fetchone()
        self._database.executemany(
            "insert into items values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(number, plan, *item[:7]) for number, item in enumerate(items, first)],
        )
        self._database.executemany(
            "insert into words(rowid, text, context) values (?, ?, ?)",
            [(number, item.text, item.context) for number, item in enumerate(items, first)],
        )

    def find(self, query: SearchQuery) -> list[Hit]:
        """Return the items that match a query, best first. Raises ExecplanError for an unknown section."""
        ensure_sections_exist(query, self._database)
        conditions, values = make_conditions(query, self._database)
        columns = f"plans.path, items.position, bm25(words, 1.0, {_CONTEXT_WEIGHT}) * items.weight"
        if not query.words:
            columns = "plans.path, items.position, 0"
        rows = self._database.execute(_select(columns, conditions, has_words=bool(query.words)), values)
        hits = [Hit(path, position, -score) for path, position, score in rows]
        return sorted(hits, key=lambda hit: (-hit.score, hit.path, hit.position))

    def mark_matches(self, query: SearchQuery) -> dict[int, list[tuple[int, int]]]:
        """Return the spans of the words of a query in each item that matches it, by the item's position.

        Only for an index of one plan.
        """
        conditions, values = make_conditions(query, self._database)
        if not query.words:
            rows = self._database.execute(_select("items.position", conditions, has_words=False), values)
            return {position: [] for (position,) in rows}
        columns = "items.position, highlight(words, 0, ?, ?)"
        rows = self._database.execute(_select(columns, conditions, has_words=True), (MARK_START, MARK_END, *values))
        return {position: find_marks(text) for position, text in rows}


def _select(columns: str, conditions: Sequence[str], *, has_words: bool) -> str:
    tables = "items join plans on plans.id = items.plan"
    if has_words:
        tables = f"words join items on items.id = words.rowid {tables.removeprefix('items ')}"
    return f"select {columns} from {tables} where {' and '.join(conditions) or '1'}"  # noqa: S608 - values are bound
