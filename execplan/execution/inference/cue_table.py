"""Cues as regular expressions, and lists of words, from cues.toml, which explains them."""

from __future__ import annotations

from execplan.execution.inference.cues_data import DATA

EXPRESSIONS: dict[str, str] = DATA["expressions"]
CASE_SENSITIVE = frozenset(DATA["case_sensitive"])
WORDS: dict[str, frozenset[str]] = {name: frozenset(words) for name, words in DATA["words"].items()}
