"""Functions of paths as texts, without access to the disk."""

from __future__ import annotations


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
