"""Comparison of texts without accents."""

from __future__ import annotations

_FIRST_ACCENT, _LAST_ACCENT = "\u0300", "\u036f"
"""Combining marks of Latin, Greek and Cyrillic letters; those of other scripts make other letters."""


def remove_accents(text: str) -> str:
    """Return a text without the accents of its letters: `e` for `é`."""
    if text.isascii():
        return text
    from unicodedata import normalize

    letters = [char for char in normalize("NFD", text) if not _FIRST_ACCENT <= char <= _LAST_ACCENT]
    return normalize("NFC", "".join(letters))
