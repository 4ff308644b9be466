"""Paths that the searching tools of agent programs read: those that find files by a pattern, and those that print lines."""

from __future__ import annotations

from execplan.agents.guard.tool_call import NotUnderstoodError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def pattern_paths(pattern: str, folders: Sequence[str]) -> tuple[str, ...]:
    """Return what a search for names reads: the directories, and the pattern if it leaves them.

    Raises NotUnderstoodError for a pattern that may leave them when its braces are expanded.
    """
    has_brace_dots = any([mark in pattern for mark in (".{", "}.")]) and any([mark in pattern for mark in ("{.", ",.")])
    if "{" in pattern and (has_brace_dots or any([mark in pattern for mark in ("..", "{/", ",/", "{~", ",~")])):
        raise NotUnderstoodError("its pattern may lead outside the directory")
    leaves_directory = pattern.startswith(("/", "~")) or ".." in pattern.split("/")
    return (*folders, pattern) if leaves_directory else tuple(folders)


def content_paths(folder: str, pattern: str) -> tuple[str, ...]:
    """Return what a search for content reads: the directory, and its files that match a list of patterns, if any.

    Patterns that only exclude files limit nothing.
    """
    if all([part.startswith("!") for part in pattern.replace(",", " ").split()]):
        return (folder,)
    return (folder, f"{folder}/{{{pattern.replace(' ', ',')}}}")
