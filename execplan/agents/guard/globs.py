"""Patterns of files behind programs that only read, and the names that a shell puts in their place."""

from __future__ import annotations

from execplan.text.secret_files import is_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Final

    from execplan.execution.command.words import Word

_READERS: Final = frozenset("cat grep egrep fgrep head ls md5sum nl sha1sum sha256sum sha512sum stat tail wc".split())
"""Programs that no flag lets write or start anything: the name of a file may be taken for one."""
_MOST: Final = 1000
_DEEPEST: Final = 2
"""Folders in a pattern that are patterns themselves."""
_WILD: Final = frozenset("*?")


def is_tame(word: Word) -> bool:
    """Whether a word is a pattern that every shell reads alike, and that finds no name that begins with a hyphen.

    It begins with a name, or it says how all the names end.
    """
    text, ends = word.text, word.text.rpartition(".")[2]
    if not word.plain or _WILD.isdisjoint(text) or "**" in text:
        return False
    if not all([char.isalnum() or char in "*?./_-+@%," for char in text]) or not text.isascii() or text.startswith("-"):
        return False
    if text[0] in _WILD:
        return "/" not in text and "." in text and _WILD.isdisjoint(ends) and bool(ends)
    return len([part for part in text.split("/")[:-1] if not _WILD.isdisjoint(part)]) <= _DEEPEST


def expanded(argv: Sequence[str], patterns: Collection[str], folders: Sequence[str]) -> tuple[str, ...] | None:
    """The words of a command with the names of files in place of patterns, those that are hidden too; None where that is not known."""
    if not any([word in patterns for word in argv]):
        return tuple(argv)
    if argv[0] not in _READERS:
        return None
    from glob import iglob
    from itertools import islice

    found: list[str] = []
    for word in argv:
        if word not in patterns:
            found.append(word)
            continue
        names: dict[str, None] = {}
        for folder in folders:
            for name in islice(iglob(word, root_dir=folder, include_hidden=True), _MOST + 1):
                names[name] = None
        if len(names) > _MOST or any([name.startswith("-") for name in names]):
            return None
        found += list(names) or [word]
        bare = "".join([char for char in word if char not in _WILD])
        if is_secret(bare):  # what is not there yet, or not found
            found.append(bare)
    return tuple(found)
