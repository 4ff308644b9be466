"""The full-text index of plans: an SQLite database with the items of each plan and the words in them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import AbstractContextManager
from sqlite3 import Connection
from typing import Final

from execplan.context.search.index_records import (
    MARK_END,
    MARK_START,
    Hit,
    IndexedItem,
    PlanRecord,
    clean_text,
    find_marks,
    prepare_text,
)
from execplan.context.search.search_items import ITEM_KINDS
from execplan.context.search.search_query import (
    AFTER,
    AUTHOR,
    BEFORE,
    IN,
    PLAN,
    STATE,
    TASK,
    SearchFilter,
    SearchQuery,
    SearchWord,
    unknown_value_error,
)
from execplan.core.errors import ExecplanError
from execplan.core.plan import outline
from execplan.core.plan.plan_lookup import normalize_text
from execplan.core.plan_facts import index_file
from execplan.core.text.accents import remove_accents

_KINDS = {name: kind for kind, plural in ITEM_KINDS.items() for name in (kind, plural)}
_SECTION_NAMES = tuple([outline.title_key(name) for name in outline.NAMES])


def make_conditions(query: SearchQuery, database: Connection) -> tuple[list[str], list[str | int]]:
    """Return the SQL conditions on items and plans of a query, and the values to bind."""
    conditions: list[str] = []
    values: list[str | int] = []
    if query.words:
        conditions.append("words match ?")
        values.append(_match_expression(query.words))
    for word in query.excluded_words:
        conditions.append("items.id not in (select rowid from words where words match ?)")
        values.append(f"text : {_phrase(word)}")
    for search_filter in query.filters:
        condition, filter_values = _filter_condition(search_filter, database)
        conditions.append(f"not ({condition})" if search_filter.is_excluded else condition)
        values += filter_values
    return conditions, values


def ensure_sections_exist(query: SearchQuery, database: Connection) -> None:
    """Raise ExecplanError if `in:` names a section that no plan in the index has."""
    for place in [
        place for search_filter in query.filters if search_filter.name == IN for place in search_filter.values
    ]:
        if place.lower() not in _KINDS and not _find_sections(place, database):
            raise unknown_value_error(IN, place, (*ITEM_KINDS.values(), *_SECTION_NAMES))


def _match_expression(words: Sequence[SearchWord]) -> str:
    """Return the FTS5 expression for items that have all words, at least one of them in their own text.

    The others may be in the titles of the plan and the section.
    """
    phrases = [_phrase(word) for word in words]
    own_text = f"text : ({' OR '.join(phrases)})"
    return own_text if len(phrases) == 1 else " AND ".join([own_text, *phrases])


def _phrase(word: SearchWord) -> str:
    """Return the FTS5 phrase for a word; in a quoted phrase, no punctuation has a meaning."""
    text = prepare_text(word.text).replace('"', '""')
    return f'"{text}"{"*" if word.is_prefix else ""}'


def _filter_condition(search_filter: SearchFilter, database: Connection) -> tuple[str, list[str | int]]:
    """Return the SQL condition of a filter and the values to bind."""
    values: Sequence[str | int] = search_filter.values
    if search_filter.name == IN:
        return _place_condition(search_filter.values, database)
    if search_filter.name == BEFORE:
        return "items.date != '' and items.date < ?", [max(search_filter.values)]
    if search_filter.name == AFTER:
        return "items.date >= ?", [min(search_filter.values)]
    if search_filter.name == AUTHOR:
        authors = _column_values(database, "author")
        column, values = "items.author", [author for author in authors if _contains_any(author, search_filter.values)]
    elif search_filter.name == PLAN:
        plans = database.execute("select id, name, title from plans").fetchall()
        column, values = (
            "plans.id",
            [plan for plan, name, title in plans if _contains_any(f"{name}\n{title}", search_filter.values)],
        )
    else:
        column = {TASK: "items.state", STATE: "plans.state"}[search_filter.name]
    return f"{column} in ({', '.join('?' * len(values))})", list(values)


def _place_condition(places: Sequence[str], database: Connection) -> tuple[str, list[str | int]]:
    """Return the condition that items are of one of these kinds or in one of these sections."""
    kinds, sections = [], []
    for place in places:
        if place.lower() in _KINDS:
            kinds.append(_KINDS[place.lower()])
        else:
            sections += _find_sections(place, database)
    marks = ", ".join("?" * len(kinds)), ", ".join("?" * len(sections))
    return f"(items.kind in ({marks[0]}) or items.section in ({marks[1]}))", [*kinds, *sections]


def _find_sections(place: str, database: Connection) -> list[str]:
    """Return the keys of the standard section that a place names, or else of the sections with it in their titles."""
    name = outline.canonical_name(place)
    key = outline.title_key(name or place)
    if name is not None or not key:
        return [key] if key else []
    return [section for section in {*_column_values(database, "section"), *_SECTION_NAMES} if key in section]


def _column_values(database: Connection, column: str) -> list[str]:
    """Return the different values of a column of the items, without the empty one."""
    rows = database.execute(f"select {column} from items where {column} != '' group by {column}")  # noqa: S608 - a name of ours
    return [value for (value,) in rows]


def _contains_any(text: str, parts: Sequence[str]) -> bool:
    """Return whether a text contains one of some parts, without regard to case and accents."""
    text = remove_accents(normalize_text(text))
    return any([remove_accents(normalize_text(clean_text(part))) in text for part in parts])


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
            raise ExecplanError("no-full-text-search", message, hint=hint) from error

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
