"""Paths as texts write them, relative to a folder."""

from __future__ import annotations


def joined(folder: str, path: str) -> str | None:
    """A relative path counted from the root, empty for the root itself; None for one that leads out of it."""
    parts: list[str] = []
    for part in f"{folder}/{path}".split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
