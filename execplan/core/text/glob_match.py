"""Glob patterns without regular expressions, because importing `re` takes half as long as Python's start."""

from __future__ import annotations

WILDCARDS = frozenset("*?[")


def matches_glob(text: str, pattern: str) -> bool:
    """Return whether a whole text matches a pattern, as `fnmatch.fnmatchcase` does."""
    if WILDCARDS.isdisjoint(pattern):
        return text == pattern
    if pattern[0] not in WILDCARDS and not text.startswith(pattern[0]):
        return False
    if "[" in pattern:
        from fnmatch import fnmatchcase

        return fnmatchcase(text, pattern)
    first, *middle = pattern.split("*")
    if not middle:
        return len(text) == len(first) and _is_at(text, 0, first)
    last = middle.pop()
    end = len(text) - len(last)
    if end < len(first) or not _is_at(text, 0, first) or not _is_at(text, end, last):
        return False
    start = len(first)
    for piece in middle:
        start = _find(text, piece, start, end)
        if start < 0:
            return False
        start += len(piece)
    return True


def _find(text: str, piece: str, start: int, end: int) -> int:
    """Return the first position of a piece in a part of a text, or -1; `?` is any character."""
    if "?" not in piece:
        return text.find(piece, start, end)
    return next((at for at in range(start, end - len(piece) + 1) if _is_at(text, at, piece)), -1)


def _is_at(text: str, start: int, piece: str) -> bool:
    """Return whether a piece is at a position, where the text is at least as long; `?` is any character."""
    if "?" not in piece:
        return text.startswith(piece, start)
    return all([expected in ("?", text[start + at]) for at, expected in enumerate(piece)])
