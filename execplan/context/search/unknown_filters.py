"""Words of a query that look like filters but are none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from execplan.context.search.search_items import ITEM_KINDS, SECTION
from execplan.context.search.search_query import AFTER, BEFORE, FILTERS, IN, parse_query
from execplan.core.text.suggestions import closest_names

if TYPE_CHECKING:
    from execplan.context.search.search_query import SearchWord

_FILTER_FORM = re.compile(r"([A-Za-z]+):([^\s:/].*)")
_SUGGESTIONS = {
    **{name: f"{IN}:{plural}" for kind, plural in ITEM_KINDS.items() for name in (kind, plural)},
    **{name: f"{name}:" for name in FILTERS},
    "date": f"{AFTER}: or {BEFORE}:",
}
"""What may be meant by the name of an unknown filter."""
_SECTION_NAMES = (SECTION, ITEM_KINDS[SECTION])


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
