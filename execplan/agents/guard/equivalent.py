"""Words of `rm` and `git add` that differ and come to the same."""

from __future__ import annotations

import os

from execplan.agents.guard.paths import linkless_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

PATHSPEC_COMMANDS: Final = frozenset((("git", "add"), ("git", "rm"), ("git", "mv")))
"""Verbs of git behind which every word is a path, or a pattern of paths."""
_MAGIC: Final = frozenset("*?[\\:")
_NEUTRAL_RM_FLAGS: Final = frozenset("fv")
"""Flags of `rm` that change neither what is removed nor what is left: it asks nobody, and it names what it removes."""
_KNOWN_RM_FLAGS: Final = frozenset("frRdv")


def normalize_argv(call_argv: Sequence[str], planned_argv: Sequence[str]) -> tuple[str, ...]:
    """The words of a command as a step writes them, where they differ in nothing that counts."""
    if call_argv[0] == planned_argv[0] == "rm":
        call_flags, planned_flags = _parse_rm_flags(call_argv), _parse_rm_flags(planned_argv)
        if call_flags is not None and planned_flags is not None and call_flags[0] - _NEUTRAL_RM_FLAGS == planned_flags[0] - _NEUTRAL_RM_FLAGS:
            return (*planned_argv[: planned_flags[1]], *call_argv[call_flags[1] :])
    if tuple(call_argv[:2]) in PATHSPEC_COMMANDS and list(call_argv[2:3]) == ["--"] and list(planned_argv[2:3]) != ["--"]:
        if not any([arg.startswith("-") for arg in call_argv[3:]]):
            return (*call_argv[:2], *call_argv[3:])
    return tuple(call_argv)


def _parse_rm_flags(argv: Sequence[str]) -> tuple[frozenset[str], int] | None:
    """The flags behind `rm`, as letters, and at which word the names begin; None for what is not known."""
    flags: set[str] = set()
    for index, arg in enumerate(argv[1:], 1):
        if arg == "--" or not arg.startswith("-"):
            begin = index + (arg == "--")
            return (frozenset(flags), begin) if not any([operand.startswith("-") for operand in argv[begin:]]) else None
        letters = "f" if arg == "--force" else arg[1:]
        if arg == "-" or not set(letters) <= _KNOWN_RM_FLAGS:
            return None
        flags |= set(letters.replace("R", "r"))
    return None


def is_same_pathspec(call_arg: str, planned_arg: str, folder: str, step_directory: str, root: str) -> bool:
    """Whether two words of git name the same path, and are no pattern."""
    if any([arg.startswith("-") or not _MAGIC.isdisjoint(arg) for arg in (call_arg, planned_arg)]):
        return False
    path = linkless_path(planned_arg, step_directory, root)
    if not path or linkless_path(call_arg, folder, root) != path:
        return False
    return os.path.lexists(os.path.join(folder, call_arg)) == os.path.lexists(os.path.join(root, path))
