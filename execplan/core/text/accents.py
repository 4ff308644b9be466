"""Texts without accents, to compare and to search them."""

from __future__ import annotations

import re
from functools import cache

_FIRST_ACCENT, _LAST_ACCENT = "\u0300", "\u036f"
"""Combining marks of Latin, Greek and Cyrillic letters; those of other scripts make other letters."""
_GREEK_OR_CYRILLIC = re.compile("[\u0370-\u052f\u1f00-\u1fff]")
_ACCENT = re.compile(f"[{_FIRST_ACCENT}-{_LAST_ACCENT}]")
_FINAL_SIGMA, _SIGMA = "ς", "σ"


def remove_accents(text: str) -> str:
    """Return a text without the accents of its letters: `e` for `é`."""
    if text.isascii():
        return text
    from unicodedata import normalize

    letters = [char for char in normalize("NFD", text) if not _FIRST_ACCENT <= char <= _LAST_ACCENT]
    return normalize("NFC", "".join(letters))


def replace_accented(text: str) -> str:
    """Return a text of the same length, in which no Greek or Cyrillic letter has an accent, and all accents are one.

    For SQLite, which ignores only the accents of Latin letters, and takes some other accents as ends of words.
    """
    if text.isascii():
        return text
    return _GREEK_OR_CYRILLIC.sub(lambda match: _base_letter(match[0]), _ACCENT.sub("\u0301", text))


@cache
def _base_letter(char: str) -> str:
    """Return a letter without its accents; the two forms of a small sigma are one."""
    base = remove_accents(char)
    if base == _FINAL_SIGMA:
        return _SIGMA
    return base if len(base) == 1 else char
