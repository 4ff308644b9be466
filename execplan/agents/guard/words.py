"""The words behind a program, where every flag among them is known."""

from __future__ import annotations

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


class Apart(NamedTuple):
    """Words taken apart."""

    words: tuple[str, ...]
    """What is neither a flag nor the value of one."""
    flags: frozenset[str]
    values: tuple[tuple[str, str], ...]
    """Flags with a value, and the value."""


def apart(
    argv: Sequence[str], flags: Collection[str], values: Collection[str], *, numbers: bool = False
) -> Apart | None:
    """The words behind a program; None where a flag is not among those that are known, or is used otherwise.

    A flag of `flags` that ends in `?` may have a value behind its `=`. Where a word or a value looks like a flag, programs
    differ in what it is, and so it is none that is known.
    """
    words: list[str] = []
    used: set[str] = set()
    given: list[tuple[str, str]] = []
    at = 0
    while at < len(argv):
        word = argv[at]
        at += 1
        if word == "--" and any([each.startswith("-") for each in argv[at:]]):
            return None
        if word == "--":
            words += argv[at:]
            break
        if word == "-" or not word.startswith("-"):
            words.append(word)
            continue
        taken = _flag(word, flags, values, numbers=numbers)
        if taken is None:
            return None
        used |= taken.flags
        for flag, value in taken.values:
            if value is None and (at == len(argv) or argv[at].startswith("-")):
                return None
            given.append((flag, argv[at] if value is None else value))
            at += value is None
            used.add(flag)
    return Apart(tuple(words), frozenset(used), tuple(given))


class _Taken(NamedTuple):
    """What a word with hyphens says."""

    flags: frozenset[str]
    values: tuple[tuple[str, str | None], ...] = ()
    """None for a value that is the next word."""


def _flag(word: str, flags: Collection[str], values: Collection[str], *, numbers: bool) -> _Taken | None:
    name, equals, value = word.partition("=")
    if word in flags or (word.startswith("--") and f"{name}?" in flags):
        return _Taken(frozenset((name,)))
    if word.startswith("--"):
        return _Taken(frozenset(), ((name, value if equals else None),)) if name in values else None
    if numbers and word[1:].isascii() and word[1:].isdigit():
        return _Taken(frozenset())
    used: set[str] = set()
    for at, letter in enumerate(word[1:], 1):
        flag = f"-{letter}"
        if flag in values:
            return _Taken(frozenset(used), ((flag, word[at + 1 :] or None),))
        if flag not in flags:
            return None
        used.add(flag)
    return _Taken(frozenset(used))
