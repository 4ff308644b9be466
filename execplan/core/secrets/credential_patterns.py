"""Patterns of text that contains credentials: URLs, headers, options, calls, XML elements, and formats of programs and files.

A pattern is compiled when one of its needles is in a text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

from execplan.core.secrets import credential_checks, secret_table

ARGUMENT_VALUE: Final = r"(?:\"(?P<d>[^\"\n]{1,500})\"?|'(?P<q>[^'\n]{1,500})'?|(?P<s>[^\s\"'`;|&<>()]{1,500}))"
"""Pattern of a command-line word; the value is in one of three groups."""


class CredentialPattern(NamedTuple):
    """A pattern that is searched for where one of its needles is in the text."""

    needles: tuple[str, ...]
    """Needles in lower case; if empty, the pattern is always searched for."""
    pattern: str
    is_secret_match: Callable[[re.Match[str], str], bool]
    """Check of whether a match with its value is a secret."""


@cache
def all_patterns() -> tuple[CredentialPattern, ...]:
    """Return all patterns of the rule table."""
    credentials = [
        CredentialPattern(needles, pattern, getattr(credential_checks, check))
        for needles, pattern, check in secret_table.CREDENTIALS
    ]
    programs = [
        CredentialPattern(
            needles, rf"[ \t]{option}{ARGUMENT_VALUE}", credential_checks.make_option_check(rf"{program}\b")
        )
        for needles, program, option in secret_table.PASSWORD_PROGRAMS
    ]
    shapes = [
        CredentialPattern(needles, pattern, credential_checks.is_rule_match)
        for _, needles, pattern in secret_table.SHAPES
    ]
    return (*credentials, *programs, *shapes)


@cache
def all_needles() -> tuple[str, ...]:
    """Return the needles of all patterns, each once."""
    return tuple(dict.fromkeys([needle for pattern in all_patterns() for needle in pattern.needles]))
