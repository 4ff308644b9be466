"""Words of `rm` and `git add` that differ and come to the same."""

from __future__ import annotations

import os

from execplan.agents.guard.paths import direct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

PATHSPECS: Final = frozenset((("git", "add"), ("git", "rm"), ("git", "mv")))
"""Verbs of git behind which every word is a path, or a pattern of paths."""
_MAGIC: Final = frozenset("*?[\\:")
_QUIET: Final = frozenset("fv")
"""Flags of `rm` that change neither what is removed nor what is left: it asks nobody, and it names what it removes."""
_KNOWN: Final = frozenset("frRdv")


def alike(given: Sequence[str], wanted: Sequence[str]) -> tuple[str, ...]:
    """The words of a command as a step writes them, where they differ in nothing that counts."""
    if given[0] == wanted[0] == "rm":
        one, other = _flags(given), _flags(wanted)
        if one is not None and other is not None and one[0] - _QUIET == other[0] - _QUIET:
            return (*wanted[: other[1]], *given[one[1] :])
    if tuple(given[:2]) in PATHSPECS and list(given[2:3]) == ["--"] and list(wanted[2:3]) != ["--"]:
        if not any([word.startswith("-") for word in given[3:]]):
            return (*given[:2], *given[3:])
    return tuple(given)


def _flags(argv: Sequence[str]) -> tuple[frozenset[str], int] | None:
    """The flags behind `rm`, as letters, and at which word the names begin; None for what is not known."""
    found: set[str] = set()
    for at, word in enumerate(argv[1:], 1):
        if word == "--" or not word.startswith("-"):
            begin = at + (word == "--")
            return (frozenset(found), begin) if not any([each.startswith("-") for each in argv[begin:]]) else None
        letters = "f" if word == "--force" else word[1:]
        if word == "-" or not set(letters) <= _KNOWN:
            return None
        found |= set(letters.replace("R", "r"))
    return None


def same_pathspec(given: str, wanted: str, folder: str, own: str, root: str) -> bool:
    """Whether two words of git name the same path, and are no pattern."""
    if any([word.startswith("-") or not _MAGIC.isdisjoint(word) for word in (given, wanted)]):
        return False
    path = direct(wanted, own, root)
    if not path or direct(given, folder, root) != path:
        return False
    return os.path.lexists(os.path.join(folder, given)) == os.path.lexists(os.path.join(root, path))
