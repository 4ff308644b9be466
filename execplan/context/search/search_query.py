"""Search queries: words, phrases, prefixes, excluded words and filters; any other punctuation is text."""

from __future__ import annotations

import re
from typing import Final
from unicodedata import category

from execplan.context.search.search_items import ITEM_KINDS, SECTION
from execplan.core import clock
from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.model import BROKEN, DONE, OPEN, OTHER, STATES
from execplan.core.text.suggestions import closest_names, did_you_mean

IN: Final = "in"
TASK: Final = "task"
AUTHOR: Final = "author"
BEFORE: Final = "before"
AFTER: Final = "after"
STATE: Final = "state"
PLAN: Final = "plan"
FILTERS = {
    IN: "decisions, tasks, … or a section, such as in:purpose",
    TASK: f"{OPEN}, {DONE} or {OTHER}",
    AUTHOR: "the author of a decision",
    BEFORE: "earlier than a date: before:2026-10-01",
    AFTER: "on a date or later: after:2026-10 or after:7d",
    STATE: "the state of the plan: active, archived, …",
    PLAN: "a part of the plan's ID or title",
}
"""The filters with their values, for help and errors."""
_FILTER = re.compile(rf"({'|'.join(FILTERS)}):", re.IGNORECASE)
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?", re.ASCII)
_DAYS = re.compile(r"([1-9]\d{0,4})d", re.ASCII)
_MAX_DAYS: Final = 36_600
"""About a century."""
_FIRST_DAY = "0001-01-01"
"""Month and day to complete a year or a month."""
_PLAN_STATES = tuple([state for state in STATES if state != BROKEN])
"""States of plans that can be found; a broken plan can't be read."""
_MAX_CHARS: Final = 2_000
"""Maximum length of a query; SQLite limits the depth of an expression."""
_MAX_WORDS: Final = 100
_FILTER_FORM = re.compile(r"([A-Za-z]+):([^\s:/].*)")
_SUGGESTIONS = {
    **{name: f"{IN}:{plural}" for kind, plural in ITEM_KINDS.items() for name in (kind, plural)},
    **{name: f"{name}:" for name in FILTERS},
    "date": f"{AFTER}: or {BEFORE}:",
}
"""What may be meant by the name of an unknown filter."""
_SECTION_NAMES = (SECTION, ITEM_KINDS[SECTION])


class SearchWord(NamedTuple):
    """A word, a phrase, or a prefix of a word."""

    text: str
    is_prefix: bool = False


class SearchFilter(NamedTuple):
    """A condition on the items or on their plans; one of the values must apply."""

    name: str
    values: tuple[str, ...]
    is_excluded: bool = False


class SearchQuery(NamedTuple):
    """A query, split into its parts."""

    words: tuple[SearchWord, ...]
    excluded_words: tuple[SearchWord, ...]
    filters: tuple[SearchFilter, ...]


def parse_query(text: str) -> SearchQuery:
    """Parse the text of a query. Raises ExecplanError for an empty or too long one, and for a filter with an unknown value."""
    if len(text) > _MAX_CHARS:
        message = f"the query has {len(text):,} characters; at most {_MAX_CHARS:,} are allowed"
        raise _query_error(message, "search for fewer words")
    words: list[SearchWord] = []
    excluded_words: list[SearchWord] = []
    filters: dict[tuple[str, bool], tuple[str, ...]] = {}
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        is_excluded = (
            text[position] == "-"
            and text[position + 1 : position + 2] not in ("", "-")
            and not (text[position + 1].isspace())
        )
        position += is_excluded
        filter_match = _FILTER.match(text, position)
        if filter_match:
            name = filter_match[1].lower()
            values, position = _read_values(text, filter_match.end())
            filters[name, is_excluded] = filters.get((name, is_excluded), ()) + _check_values(name, values)
            continue
        value, is_quoted, position = _read_value(text, position)
        is_prefix = value.endswith("*") if not is_quoted else text[position : position + 1] == "*"
        position += is_prefix and is_quoted
        if any([_is_word_character(char) for char in value]):
            word = SearchWord(value if is_quoted else value.rstrip("*"), is_prefix)
            (excluded_words if is_excluded else words).append(word)
    if not (words or excluded_words or filters):
        raise _query_error("the query has no words", "search for a word, or use a filter: execplan search task:open")
    if len(words) + len(excluded_words) > _MAX_WORDS:
        raise _query_error(f"the query has more than {_MAX_WORDS} words", "search for fewer words")
    search_filters = [SearchFilter(name, values, is_excluded) for (name, is_excluded), values in filters.items()]
    return SearchQuery(tuple(words), tuple(excluded_words), tuple(search_filters))


def _read_value(text: str, position: int) -> tuple[str, bool, int]:
    """Return the word or the quoted text at a position, whether it is quoted, and the position after it."""
    if text[position : position + 1] == '"':
        end = text.find('"', position + 1)
        end = len(text) if end < 0 else end
        return text[position + 1 : end], True, min(end + 1, len(text))
    end = position
    while end < len(text) and not text[end].isspace():
        end += 1
    return text[position:end], False, end


def _read_values(text: str, position: int) -> tuple[list[str], int]:
    """Return the values of a filter at a position, separated by commas, and the position after them."""
    values = []
    while True:
        value, is_quoted, end = _read_value(text, position)
        if not is_quoted:
            value = value.partition(",")[0]
            end = position + len(value)
        values.append(value.strip())
        if text[end : end + 1] != ",":
            return values, end
        position = end + 1


def _is_word_character(char: str) -> bool:
    """Return whether SQLite's tokenizer takes a character as a part of a word."""
    return char.isalnum() or category(char) == "Co"


def _check_values(name: str, values: list[str]) -> tuple[str, ...]:
    """Return the values of a filter in their standard form. Raises ExecplanError for an unknown value."""
    if not all(values):
        raise _query_error(f"the filter {name}: has no value", f"use {name}: with {FILTERS[name]}")
    if name in (BEFORE, AFTER):
        return tuple([_check_date(name, part) for part in values])
    if name in (TASK, STATE):
        allowed_values = (OPEN, DONE, OTHER) if name == TASK else _PLAN_STATES
        return tuple([_check_choice(name, part.lower(), allowed_values) for part in values])
    return tuple(values)


def _check_choice(name: str, value: str, allowed_values: tuple[str, ...]) -> str:
    if value not in allowed_values:
        raise unknown_value_error(name, value, allowed_values)
    return value


def unknown_value_error(name: str, value: str, allowed_values: tuple[str, ...]) -> ExecplanError:
    """Return the error for a value that a filter doesn't have."""
    hint = did_you_mean(value, allowed_values) or "use one of these"
    message = f"the filter {name}: has no value {value!r}"
    return ExecplanError("unknown-filter-value", message, hint=hint, candidates=allowed_values)


def _check_date(name: str, value: str) -> str:
    """Return a year, a month or a day; `7d` is the day seven days ago. Raises ExecplanError if it doesn't exist."""
    from datetime import date, timedelta

    days = _DAYS.fullmatch(value)
    if days and int(days[1]) <= _MAX_DAYS:
        return (clock.now().date() - timedelta(days=int(days[1]))).isoformat()
    if _DATE.fullmatch(value):
        try:
            date.fromisoformat(value + _FIRST_DAY[len(value) :])
        except ValueError:
            pass
        else:
            return value
    raise _query_error(
        f"the filter {name}: requires a date, not {value!r}", f"write it as {name}:2026-10-01 or {name}:7d"
    )


def _query_error(message: str, hint: str) -> ExecplanError:
    return ExecplanError("invalid-query", message, hint=hint)


def unknown_filters(query: str) -> tuple[str, ...]:
    """Return a message for each word of a valid query that looks like a filter, and was searched for as text."""
    messages = [_describe(word) for word in parse_query(query).words]
    return tuple([message for message in messages if message])


def _describe(word: SearchWord) -> str:
    """Return the message for a word, or an empty string if it doesn't look like a filter."""
    match = _FILTER_FORM.fullmatch(word.text)
    if not match:
        return ""
    name = match[1].lower()
    similar_names = [name] if name in _SUGGESTIONS else closest_names(name, _SUGGESTIONS, limit=1)
    if not similar_names:
        return (
            f"{match[1]}: is not a filter; the filters are {', '.join([f'{filter_name}:' for filter_name in FILTERS])}"
        )
    suggestion = f"{IN}:{match[2]}" if similar_names[0] in _SECTION_NAMES else _SUGGESTIONS[similar_names[0]]
    return f"{match[1]}: is not a filter; did you mean {suggestion}?"
