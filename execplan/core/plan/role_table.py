"""What sections are for, by their headings, from roles.toml, which explains it."""

from __future__ import annotations

from execplan.core.plan.roles_data import DATA

TITLES: dict[str, tuple[str, ...]] = DATA["titles"]
WORDS: dict[str, tuple[str, ...]] = DATA["words"]
COLUMNS: dict[str, tuple[str, ...]] = DATA["columns"]
EMPTY_TEXTS: dict[str, tuple[str, ...]] = DATA["empty_texts"]
EMPTY_ENDS: tuple[str, ...] = DATA["empty_ends"]["texts"]
STATUS_WORDS: dict[str, tuple[str, str]] = DATA["status_words"]
"""The mark and the row of each word that says a status, by its `status_key`."""
FIRST_WORDS: dict[str, dict[str, str]] = DATA["first_words"]
"""For each mark, the first word of each row."""
