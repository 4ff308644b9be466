"""What sections are for, by their headings, from roles.toml, which explains it."""

from __future__ import annotations

from execplan.core.plan.roles_data import DATA

TITLES: dict[str, tuple[str, ...]] = DATA["titles"]
WORDS: dict[str, tuple[str, ...]] = DATA["words"]
COLUMNS: dict[str, tuple[str, ...]] = DATA["columns"]
OPEN_WORDS: dict[str, tuple[str, ...]] = DATA["open_words"]
STARTED_WORDS: dict[str, tuple[str, ...]] = DATA["started_words"]
DONE_WORDS: dict[str, tuple[str, ...]] = DATA["done_words"]
EMPTY_TEXTS: dict[str, tuple[str, ...]] = DATA["empty_texts"]
EMPTY_ENDS: tuple[str, ...] = DATA["empty_ends"]["texts"]
DROPPED_WORDS: dict[str, tuple[str, ...]] = DATA["dropped_words"]
STATUS_WORDS: dict[str, tuple[str, str]] = DATA["status_words"]
"""The mark and the row of each word of the four tables, by its `status_key`."""
