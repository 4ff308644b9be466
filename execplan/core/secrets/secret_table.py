"""Formats of secrets, from secret_rules.toml, which names the sources of the facts."""

from __future__ import annotations

from execplan.core.secrets.secret_rules_data import DATA

TOKENS: dict[str, tuple[tuple[str, str, str, int, int, bool, bool], ...]] = DATA["tokens"]
"""By the first two characters, longest beginnings first: service, beginning, characters, least and most length, whether it
is for tests, whether it is vague."""
SHAPES: tuple[tuple[str, tuple[str, ...], str], ...] = DATA["shapes"]
"""Service, needles, pattern."""
CREDENTIALS: tuple[tuple[tuple[str, ...], str, str], ...] = DATA["credentials"]
"""Needles, pattern, name of the check."""
PASSWORD_PROGRAMS: tuple[tuple[tuple[str, ...], str, str], ...] = DATA["password_programs"]
"""Needles, program pattern, option pattern."""
PASSWORD: tuple[str, ...] = DATA["password"]
SECRET: tuple[str, ...] = DATA["secret"]
ABOUT: tuple[str, ...] = DATA["about"]
NEVER: tuple[str, ...] = DATA["never"]
SERVICES: tuple[str, ...] = DATA["services"]
PLACEHOLDER: tuple[str, ...] = DATA["placeholder"]
EXAMPLE: tuple[str, ...] = DATA["example"]
NOTHING: tuple[str, ...] = DATA["nothing"]
