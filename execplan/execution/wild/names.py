"""Ids for steps that have none: made of the words of their command, and each once."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST = 40
_WORDS = 4


class Names:
    """The ids that are given away."""

    def __init__(self, used: Iterable[str] = ()) -> None:
        self._used = set(used)

    def new(self, command: str) -> str:
        """An id that no other step has: `cargo-test`, then `cargo-test-2`."""
        base = _slug(command)
        name, at = base, 1
        while name in self._used:
            at += 1
            name = f"{base}-{at}"
        self._used.add(name)
        return name


def _slug(command: str) -> str:
    """The first words of a command, those that set variables and flags left out."""
    words: list[str] = []
    for word in command.split():
        if word[0] == "-" or "=" in word.partition("/")[0] or (not word[0].isalnum() and word[0] not in "./@"):
            continue
        part = word.rstrip("/").rpartition("/")[2] if not words else word
        words += ["".join([char if char.isascii() and char.isalnum() else "-" for char in part]).strip("-").lower()]
        if len([each for each in words if each]) == _WORDS:
            break
    name = ""
    for word in words:
        longer = "-".join([each for each in f"{name}-{word}".split("-") if each])
        name = longer
    if len(name) > _LONGEST:
        name = name[: _LONGEST + 1].rpartition("-")[0] or name[:_LONGEST]
    return name if name[:1].isalpha() else f"step-{name}".strip("-")
