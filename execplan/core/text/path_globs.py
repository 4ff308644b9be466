"""Patterns of paths in which `*` is any text within a name, and `**` any directories."""

from __future__ import annotations

from execplan.core.text.pure_paths import WILDCARDS, matches_glob


def matches_path_glob(path: str, pattern: str) -> bool:
    """Return whether a path matches a pattern in which `*` is any text within a name, and `**` any directories."""
    names = path.split("/")
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    starts = {0}  # the numbers of names that the pattern can have matched so far
    for part in parts:
        if part == "**":
            starts = set(range(min(starts), len(names)))
        else:
            starts = {start + 1 for start in starts if start < len(names) and matches_glob(names[start], part)}
        if not starts:
            return False
    return len(names) in starts or parts[-1:] == ["**"]


def escape_glob(path: str) -> str:
    """Return the pattern that matches only a path."""
    return "".join([f"[{char}]" if char in WILDCARDS else char for char in path])
