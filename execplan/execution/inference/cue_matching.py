"""Matching of cues: the phrases of cues.toml, each compiled to a pattern when it is first used."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from execplan.execution.inference.cue_table import CASE_SENSITIVE, EXPRESSIONS

if TYPE_CHECKING:
    from re import Match, Pattern


@cache
def cue_pattern(cue: str) -> Pattern[str]:
    """Return the pattern that matches any phrase of a cue."""
    return re.compile(EXPRESSIONS[cue], 0 if cue in CASE_SENSITIVE else re.IGNORECASE)


def find_cue(cue: str, text: str) -> Match[str] | None:
    """Return the first match of a cue in a text, or None."""
    return cue_pattern(cue).search(text)
