"""Paths that no step may write or run in, told from their words alone; links are for whoever can see the disk."""

from __future__ import annotations

from os.path import normpath

_STATE_DIRECTORY = (".agent", ".state")


def outside_path_reason(path: str) -> str:
    """Why a path that counts from the repository's root is no place for a step, or nothing."""
    if path.startswith("/"):
        return "is absolute: paths count from the repository's root"
    if path.startswith("~"):
        return "is in somebody's home: paths count from the repository's root"
    parts = normpath(path).split("/")
    if parts[0] == "..":
        return "leads out of the repository"
    lower_parts = [part.lower() for part in parts]
    if ".git" in lower_parts:
        return "is git's own"
    return "is the state of execplan itself" if tuple(lower_parts[:2]) == _STATE_DIRECTORY else ""
