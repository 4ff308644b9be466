"""Cues as regular expressions, and lists of words, from cues.toml, which explains them."""

from __future__ import annotations

from execplan.core.text.data_tables import load_table

_CUES = load_table("execution/inference/cues.json")
EXPRESSIONS: dict[str, str] = _CUES["expressions"]
CASE_SENSITIVE = frozenset(_CUES["case_sensitive"])
WORDS: dict[str, frozenset[str]] = {name: frozenset(words) for name, words in _CUES["words"].items()}
