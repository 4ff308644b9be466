"""An entry of a plan's journal, and how it is read from the journal's lines."""

from __future__ import annotations

from execplan.edits import text_codec
from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

EDIT, FOLLOW, MOVE, CREATE, REMOVE = "edit", "follow", "move", "create", "remove"
"""What an operation does: change a plan's text; let it follow the move of another plan; move, create or remove it."""

UNDO, REDO = "undo", "redo"
"""The commands whose operations undo others."""

_OLD_MOVE_COMMANDS = ("archive", "restore", "rename")
"""The commands of which journals of older versions tell that the plan was moved, and not from where."""
_OLD_MOVE = "old-move"
_FOLLOW_SUMMARY = "paths"
"""The summary of an edit that let a plan follow the move of another one."""


class JournalEntry(NamedTuple):
    """An entry of the journal: an operation that began."""

    number: int
    timestamp: str
    """When, as a stamp in UTC."""
    command: str
    quoted_summary: str
    """What was done, packed."""
    stored_texts: str
    """Before and after, packed; see `texts`."""
    is_written: bool
    """Whether it is known to have come to the disk."""
    is_undone: bool
    """Whether it no longer counts; what an operation undid is for `stack` to say."""
    author: str = ""
    """Who made it, see `repo.author.actor`; empty in journals of older versions."""
    id: str = ""
    kind: str = EDIT
    undoes: str = ""
    details: str = "-"
    old_digest: str = ""
    """The SHA-256 of the text before it; empty in journals of older versions."""
    new_digest: str = ""
    previous: JournalEntry | None = None
    """The entry before it, where the texts are stored as a difference."""

    @property
    def summary(self) -> str:
        """What was done, as a commit message says it."""
        return text_codec.unquote(self.quoted_summary) or self.command

    @property
    def is_old_move(self) -> bool:
        """Whether an older version moved the plan, so that nothing tells how to undo it."""
        return self.kind == _OLD_MOVE

    def unpack(self) -> tuple[bytes, bytes]:
        """The texts before and after it; raises ValueError when they were damaged."""
        chain = [self]
        while chain[-1].previous is not None:
            chain.append(chain[-1].previous)
        old_and_new = (b"", b"")
        for entry in reversed(chain):
            old_and_new = text_codec.decode_texts(entry.stored_texts, old_and_new[1])
        return old_and_new


def read_texts(entries: Iterable[JournalEntry]) -> dict[int, tuple[bytes, bytes]]:
    """The texts of each entry whose texts can be read, by its number."""
    texts_by_number: dict[int, tuple[bytes, bytes]] = {}
    base: bytes | None = None
    for entry in entries:
        try:
            texts_by_number[entry.number] = text_codec.decode_texts(entry.stored_texts, base)
            base = texts_by_number[entry.number][1]
        except ValueError:
            base = None
    return texts_by_number


def parse_entries(lines: Sequence[str]) -> list[JournalEntry]:
    """The entries of a journal's lines; damaged lines are passed over."""
    entries: dict[int, JournalEntry] = {}
    previous: JournalEntry | None = None
    for line in lines:
        number, (kind, *fields) = entry_number(line), line.split(" ")
        if kind in ("op", "edit") and number:
            entry = _parse_operation(number, fields, previous) if kind == "op" else _parse_old_edit(number, fields)
            if (
                previous is not None
                and entry is not None
                and not previous.is_written
                and previous.old_digest != previous.new_digest == entry.old_digest
            ):
                entries[previous.number] = previous._replace(is_written=True)
            previous = entry
            if entry is not None:
                entries[number] = entry
        elif kind == "made" and number in entries:
            entries[number] = entries[number]._replace(is_written=True)
        elif kind == "undone" and number in entries:
            entries[number] = entries[number]._replace(is_undone=True)
    return list(entries.values())


def _parse_operation(number: int, fields: list[str], previous: JournalEntry | None) -> JournalEntry | None:
    if not 8 <= len(fields) <= 13:
        return None
    if len(fields) < 13 or not fields[10].isdecimal():  # damaged: what it did is known, and not the texts
        fields = [*fields[:8], "", "", "0", "", "-"]
    (
        _,
        timestamp,
        command,
        kind,
        operation_id,
        undoes,
        author,
        quoted_summary,
        old_digest,
        new_digest,
        _,
        stored_texts,
        details,
    ) = fields
    base = previous if stored_texts.startswith(text_codec.DELTA) else None
    undoes, author = undoes.removeprefix("-"), text_codec.unquote(author)
    return JournalEntry(
        number,
        timestamp,
        command,
        quoted_summary,
        stored_texts,
        False,
        False,
        author,
        operation_id,
        kind,
        undoes,
        details,
        old_digest,
        new_digest,
        base,
    )


def _parse_old_edit(number: int, fields: list[str]) -> JournalEntry | None:
    """An entry as older versions wrote it."""
    if len(fields) != 5:
        return None
    _, timestamp, command, quoted_summary, stored_texts = fields
    is_move = command in _OLD_MOVE_COMMANDS
    kind = (
        FOLLOW if is_move and text_codec.unquote(quoted_summary) == _FOLLOW_SUMMARY else _OLD_MOVE if is_move else EDIT
    )
    return JournalEntry(
        number, timestamp, command, quoted_summary, stored_texts, False, False, id=f"{number}", kind=kind
    )


def entry_number(line: str) -> int:
    """The number of the entry that a line is about; 0 for a line that is damaged."""
    fields = line.split(" ", 2)
    return int(fields[1]) if len(fields) > 1 and fields[1].isdecimal() and len(fields[1]) < 19 else 0
