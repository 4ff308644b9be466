"""Formats of secrets, from secret_rules.toml, which names the sources of the facts."""

from __future__ import annotations

from execplan.core.text.data_tables import load_table

_RULES = load_table("core/secrets/secret_rules.json")
TOKENS: tuple[tuple[str, tuple[str, ...], str, int, int, bool, bool], ...] = _RULES["tokens"]
"""Service, beginnings, characters, least and most length, whether it is for tests, whether it is vague."""
SHAPES: tuple[tuple[str, tuple[str, ...], str], ...] = _RULES["shapes"]
"""Service, needles, pattern."""
CREDENTIALS: tuple[tuple[tuple[str, ...], str, str], ...] = _RULES["credentials"]
"""Needles, pattern, name of the check."""
PASSWORD_PROGRAMS: tuple[tuple[tuple[str, ...], str, str], ...] = _RULES["password_programs"]
"""Needles, program pattern, option pattern."""
PASSWORD: tuple[str, ...] = _RULES["password"]
SECRET: tuple[str, ...] = _RULES["secret"]
ABOUT: tuple[str, ...] = _RULES["about"]
NEVER: tuple[str, ...] = _RULES["never"]
SERVICES: tuple[str, ...] = _RULES["services"]
PLACEHOLDER: tuple[str, ...] = _RULES["placeholder"]
EXAMPLE: tuple[str, ...] = _RULES["example"]
NOTHING: tuple[str, ...] = _RULES["nothing"]
