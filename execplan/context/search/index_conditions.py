"""SQL conditions for search queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.context.search.indexed_text import clean_text, prepare_text
from execplan.context.search.search_items import ITEM_KINDS
from execplan.context.search.search_query import (
    AFTER,
    AUTHOR,
    BEFORE,
    IN,
    PLAN,
    STATE,
    TASK,
    SearchQuery,
    unknown_value_error,
)
from execplan.core.plan import outline
from execplan.core.plan.plan_lookup import normalize_text
from execplan.core.text.accents import remove_accents

if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

    from execplan.context.search.search_query import SearchFilter, SearchWord

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
