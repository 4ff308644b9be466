"""Texts as they are indexed and searched for, and the marks around matches in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.context.keywords import separate_unspaced
from execplan.core.text.accents import replace_accented

if TYPE_CHECKING:
    from typing import Final

MARK_START: Final = "\x02"
MARK_END: Final = "\x03"
_UNSPACED_SEPARATOR: Final = "\x1f"
"""Character around letters of scripts without spaces; it separates words for SQLite and is removed from results."""
_RESERVED = (MARK_START, MARK_END, _UNSPACED_SEPARATOR, "\0")


def clean_text(text: str) -> str:
    """Replace characters that SQLite can't store, such as those of file names that are not UTF-8."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def prepare_text(text: str) -> str:
    """Return a text as it is indexed and searched for."""
    for char in _RESERVED:
        if char in text:
            text = text.replace(char, " ")
    return text if text.isascii() else separate_unspaced(replace_accented(clean_text(text)), _UNSPACED_SEPARATOR)


def find_marks(text: str) -> list[tuple[int, int]]:
    """Return the spans between marks in a prepared text, as positions in the original text."""
    spans = []
    position = start = 0
    for char in text:
        if char == MARK_START:
            start = position
        elif char == MARK_END:
            spans.append((start, position))
        elif char != _UNSPACED_SEPARATOR:
            position += 1
    return spans
