"""Patterns of files behind programs that only read, and the names that a shell puts in their place."""

from __future__ import annotations

from execplan.text.secret_files import is_secret_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Final

    from execplan.execution.command.words import ShellWord

_READ_ONLY_PROGRAMS: Final = frozenset("cat grep egrep fgrep head ls md5sum nl sha1sum sha256sum sha512sum stat tail wc".split())
"""Programs that no flag lets write or start anything: the name of a file may be taken for one."""
_MAX_NAMES: Final = 1000
_MAX_WILD_DIRECTORIES: Final = 2
"""Folders in a pattern that are patterns themselves."""
_WILD: Final = frozenset("*?")


def is_safe_glob(word: ShellWord) -> bool:
    """Whether a word is a pattern that every shell reads alike, and that finds no name that begins with a hyphen.

    It begins with a name, or it says how all the names end.
    """
    text, suffix = word.text, word.text.rpartition(".")[2]
    if not word.is_plain or _WILD.isdisjoint(text) or "**" in text:
        return False
    if not all([char.isalnum() or char in "*?./_-+@%," for char in text]) or not text.isascii() or text.startswith("-"):
        return False
    if text[0] in _WILD:
        return "/" not in text and "." in text and _WILD.isdisjoint(suffix) and bool(suffix)
    return len([part for part in text.split("/")[:-1] if not _WILD.isdisjoint(part)]) <= _MAX_WILD_DIRECTORIES


def expand_globs(argv: Sequence[str], patterns: Collection[str], folders: Sequence[str]) -> tuple[str, ...] | None:
    """The words of a command with the names of files in place of patterns, those that are hidden too; None where that is not known."""
    if not any([arg in patterns for arg in argv]):
        return tuple(argv)
    if argv[0] not in _READ_ONLY_PROGRAMS:
        return None
    from glob import iglob
    from itertools import islice

    expanded_argv: list[str] = []
    for arg in argv:
        if arg not in patterns:
            expanded_argv.append(arg)
            continue
        names: dict[str, None] = {}
        for folder in folders:
            for name in islice(iglob(arg, root_dir=folder, include_hidden=True), _MAX_NAMES + 1):
                names[name] = None
        if len(names) > _MAX_NAMES or any([name.startswith("-") for name in names]):
            return None
        expanded_argv += list(names) or [arg]
        literal = "".join([char for char in arg if char not in _WILD])
        if is_secret_file(literal):  # what is not there yet, or not found
            expanded_argv.append(literal)
    return tuple(expanded_argv)
