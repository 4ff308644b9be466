"""An entry of a plan's journal, and how it is read from the journal's lines."""

from __future__ import annotations

from execplan.record import NamedTuple
from execplan.repo.edits import texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

EDIT, FOLLOW, MOVE, CREATE, REMOVE = "edit", "follow", "move", "create", "remove"
"""What an operation does: change a plan's text; let it follow the move of another plan; move, create or remove it."""

UNDO, REDO = "undo", "redo"
"""The commands whose operations undo others."""

_MOVES = ("archive", "restore", "rename")
"""The commands of which journals of older versions tell that the plan was moved, and not from where."""
_OLD_MOVE = "old-move"
_FOLLOWED = "paths"
"""The summary of an edit that let a plan follow the move of another one."""


class Journaled(NamedTuple):
    """An entry of the journal: an operation that began."""

    number: int
    moment: str
    """When, as a stamp in UTC."""
    verb: str
    words: str
    """What was done, packed."""
    texts: str
    """Before and after, packed; see `texts`."""
    made: bool
    """Whether it is known to have come to the disk."""
    undone: bool
    """Whether it no longer counts; what an operation undid is for `stack` to say."""
    by: str = ""
    """Who made it, see `repo.author.actor`; empty in journals of older versions."""
    id: str = ""
    kind: str = EDIT
    undoes: str = ""
    details: str = "-"
    before: str = ""
    """The SHA-256 of the text before it; empty in journals of older versions."""
    after: str = ""
    base: Journaled | None = None
    """The entry before it, where the texts are stored as a difference."""

    @property
    def summary(self) -> str:
        """What was done, as a commit message says it."""
        return texts.unquote(self.words) or self.verb

    @property
    def is_old_move(self) -> bool:
        """Whether an older version moved the plan, so that nothing tells how to undo it."""
        return self.kind == _OLD_MOVE

    def unpack(self) -> tuple[bytes, bytes]:
        """The texts before and after it; raises ValueError when they were damaged."""
        chain = [self]
        while chain[-1].base is not None:
            chain.append(chain[-1].base)
        both = (b"", b"")
        for entry in reversed(chain):
            both = texts.read(entry.texts, both[1])
        return both


def read_all(entries: Iterable[Journaled]) -> dict[int, tuple[bytes, bytes]]:
    """The texts of each entry whose texts can be read, by its number."""
    found: dict[int, tuple[bytes, bytes]] = {}
    base: bytes | None = None
    for entry in entries:
        try:
            found[entry.number] = texts.read(entry.texts, base)
            base = found[entry.number][1]
        except ValueError:
            base = None
    return found


def parse(lines: Sequence[str]) -> list[Journaled]:
    """The entries of a journal's lines; damaged lines are passed over."""
    entries: dict[int, Journaled] = {}
    last: Journaled | None = None
    for line in lines:
        number, (kind, *rest) = number_of(line), line.split(" ")
        if kind in ("op", "edit") and number:
            entry = _read_op(number, rest, last) if kind == "op" else _read_edit(number, rest)
            if last is not None and entry is not None and not last.made and last.before != last.after == entry.before:
                entries[last.number] = last._replace(made=True)
            last = entry
            if entry is not None:
                entries[number] = entry
        elif kind == "made" and number in entries:
            entries[number] = entries[number]._replace(made=True)
        elif kind == "undone" and number in entries:
            entries[number] = entries[number]._replace(undone=True)
    return list(entries.values())


def _read_op(number: int, rest: list[str], last: Journaled | None) -> Journaled | None:
    if not 8 <= len(rest) <= 13:
        return None
    if len(rest) < 13 or not rest[10].isdecimal():  # damaged: what it did is known, and not the texts
        rest = [*rest[:8], "", "", "0", "", "-"]
    _, moment, verb, kind, name, undoes, by, words, before, after, _, stored, details = rest
    base = last if stored.startswith(texts.DIFFERENCE) else None
    undoes, by = undoes.removeprefix("-"), texts.unquote(by)
    return Journaled(
        number, moment, verb, words, stored, False, False, by, name, kind, undoes, details, before, after, base
    )


def _read_edit(number: int, rest: list[str]) -> Journaled | None:
    """An entry as older versions wrote it."""
    if len(rest) != 5:
        return None
    _, moment, verb, words, stored = rest
    moved = verb in _MOVES
    kind = FOLLOW if moved and texts.unquote(words) == _FOLLOWED else _OLD_MOVE if moved else EDIT
    return Journaled(number, moment, verb, words, stored, False, False, id=f"{number}", kind=kind)


def number_of(line: str) -> int:
    """The number of the entry that a line is about; 0 for a line that is damaged."""
    words = line.split(" ", 2)
    return int(words[1]) if len(words) > 1 and words[1].isdecimal() and len(words[1]) < 19 else 0
