"""Paths as texts write them, relative to a folder."""

from __future__ import annotations


def resolve_relative(directory: str, path: str) -> str | None:
    """A relative path counted from the root, empty for the root itself; None for one that leads out of it."""
    components: list[str] = []
    for component in f"{directory}/{path}".split("/"):
        if component == "..":
            if not components:
                return None
            components.pop()
        elif component not in ("", "."):
            components.append(component)
    return "/".join(components)
