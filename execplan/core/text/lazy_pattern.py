"""Regular expressions that are compiled when they are first used.

A compilation takes 0.2 to 2 ms. The modules that infer steps have 60 expressions, of which a plan needs a few.
"""

from __future__ import annotations

from re import Pattern
from typing import Any

_METHODS = ("match", "search", "fullmatch", "finditer", "findall", "split", "sub")


def lazy_pattern(source: str, flags: int = 0) -> Pattern[str]:
    """Return a pattern that is compiled when one of its methods is first used."""
    return _LazyPattern(source, flags)  # type: ignore[return-value]  # it has the methods of one


class _LazyPattern:
    def __init__(self, source: str, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        from re import compile as compile_pattern

        pattern = compile_pattern(self._source, self._flags)
        self.__dict__.update({method: getattr(pattern, method) for method in _METHODS})
        return getattr(pattern, name)
