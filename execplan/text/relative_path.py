"""Resolution of relative paths in texts."""

from __future__ import annotations


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
