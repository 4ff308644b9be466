"""Regular expressions that are compiled when they are first needed: compiling all of them would cost each command milliseconds."""

from __future__ import annotations

import re
from functools import cache


@cache
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """A pattern, compiled once."""
    return re.compile(pattern)
