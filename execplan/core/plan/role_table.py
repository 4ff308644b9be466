"""What sections are for, by their headings, from roles.toml, which explains it."""

from __future__ import annotations

from execplan.core.text.data_tables import load_table

_ROLES = load_table("core/plan/roles.json")
TITLES: dict[str, tuple[str, ...]] = _ROLES["titles"]
WORDS: dict[str, tuple[str, ...]] = _ROLES["words"]
COLUMNS: dict[str, tuple[str, ...]] = _ROLES["columns"]
OPEN_WORDS: dict[str, tuple[str, ...]] = _ROLES["open_words"]
STARTED_WORDS: dict[str, tuple[str, ...]] = _ROLES["started_words"]
DONE_WORDS: dict[str, tuple[str, ...]] = _ROLES["done_words"]
EMPTY_TEXTS: dict[str, tuple[str, ...]] = _ROLES["empty_texts"]
EMPTY_ENDS: tuple[str, ...] = _ROLES["empty_ends"]["texts"]
DROPPED_WORDS: dict[str, tuple[str, ...]] = _ROLES["dropped_words"]
