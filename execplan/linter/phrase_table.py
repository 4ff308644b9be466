"""Phrases that lint rules look for in a text, from phrases.toml, which explains them."""

from __future__ import annotations

from execplan.core.text.data_tables import load_table

_PHRASES = load_table("linter/phrases.json")
DIRECTORY_ANYWHERE_PHRASES: tuple[str, ...] = _PHRASES["directory_anywhere"]
ROOT_PHRASES: tuple[str, ...] = _PHRASES["root"]
DIRECTORY_PHRASES: tuple[str, ...] = _PHRASES["directory"]
RESULT_PHRASES: tuple[str, ...] = _PHRASES["result"]
PROOF_PHRASES: tuple[str, ...] = _PHRASES["proof"]
MANUAL_CHECK_PHRASES: tuple[str, ...] = _PHRASES["manual_check"]
WARNING_PHRASES: tuple[str, ...] = _PHRASES["warning"]
OUTCOME_PHRASES: tuple[str, ...] = _PHRASES["outcome"]
ALL_MILESTONES_PHRASES: tuple[str, ...] = _PHRASES["all_milestones"]
DEPENDENCY_PHRASES: tuple[str, ...] = _PHRASES["dependency"]
MISSING_PATH_PHRASES: tuple[str, ...] = _PHRASES["missing_path"]
MISSING_SYMBOL_PHRASES: tuple[str, ...] = _PHRASES["missing_symbol"]
