"""Paths as texts, without access to the disk, and glob patterns for them without regular expressions."""

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


def is_inside(path: str, directory: str) -> bool:
    """Return whether a path is in a directory or is that directory; both are relative to the same place, or absolute."""
    return f"{path}/".startswith(f"{directory.rstrip('/')}/")


def do_overlap(path: str, other_path: str) -> bool:
    """Return whether one of two paths from the root contains the other; `.` is the root."""
    return "." in (path, other_path) or is_inside(path, other_path) or is_inside(other_path, path)


def resolve_relative(directory: str, path: str) -> str | None:
    """Resolve a path relative to a directory below the root; return None if it leads out of the root.

    The result is relative to the root, and empty for the root itself.
    """
    components: list[str] = []
    for component in f"{directory}/{path}".split("/"):
        if component == "..":
            if not components:
                return None
            components.pop()
        elif component not in ("", "."):
            components.append(component)
    return "/".join(components)
