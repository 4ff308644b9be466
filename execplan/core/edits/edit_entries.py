"""Entries of a plan's journal, and the parser for the journal's lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from execplan.core.named_tuple import NamedTuple
from execplan.core.text import text_codec

EDIT, FOLLOW, MOVE, CREATE, REMOVE = "edit", "follow", "move", "create", "remove"
"""Kinds of operations: edit a plan's text; update it after another plan moved; move, create or remove it."""

UNDO, REDO = "undo", "redo"
"""Commands whose operations reverse other operations."""

_OLD_MOVE_COMMANDS = ("archive", "restore", "rename")
"""Commands that older versions journaled as a move without the original path."""
_OLD_MOVE = "old-move"
_FOLLOW_SUMMARY = "paths"
"""Summary of an edit that updated a plan after another plan moved."""


class JournalEntry(NamedTuple):
    """A journal entry for an operation that began."""

    number: int
    timestamp: str
    """Start time, as a UTC timestamp."""
    command: str
    quoted_summary: str
    """Description of the operation, encoded."""
    stored_texts: str
    """Texts before and after the operation, encoded; see `text_codec`."""
    is_written: bool
    """Whether the operation is known to be on disk."""
    is_undone: bool
    """Whether the entry no longer counts. The effect of undo operations is computed in `undo_stack`."""
    author: str = ""
    """Who ran the operation, as returned by `actor`; empty in journals of older versions."""
    id: str = ""
    kind: str = EDIT
    undoes: str = ""
    details: str = "-"
    old_digest: str = ""
    """SHA-256 of the text before the operation; empty in journals of older versions."""
    new_digest: str = ""
    previous: JournalEntry | None = None
    """The preceding entry, if the texts are stored as a difference from it."""

    @property
    def summary(self) -> str:
        """Description of the operation, as in a commit message."""
        return text_codec.unquote(self.quoted_summary) or self.command

    @property
    def is_old_move(self) -> bool:
        """Whether an older version moved the plan, so the journal does not record how to undo the move."""
        return self.kind == _OLD_MOVE

    def unpack(self) -> tuple[bytes, bytes]:
        """Return the texts before and after the operation. Raises ValueError if they are damaged."""
        chain = [self]
        while chain[-1].previous is not None:
            chain.append(chain[-1].previous)
        old_and_new = (b"", b"")
        for entry in reversed(chain):
            old_and_new = text_codec.decode_texts(entry.stored_texts, old_and_new[1])
        return old_and_new


def read_texts(entries: Iterable[JournalEntry]) -> dict[int, tuple[bytes, bytes]]:
    """Return the texts before and after each entry, by entry number, leaving out unreadable ones."""
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
    """Parse the entries from a journal's lines, skipping damaged lines."""
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
    if len(fields) < 13 or not fields[10].isdecimal():  # damaged: the operation is known, but its texts are lost
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
    """Parse an entry in the format of older versions; None if the line is damaged."""
    if len(fields) != 5:
        return None
    _, timestamp, command, quoted_summary, stored_texts = fields
    is_move = command in _OLD_MOVE_COMMANDS
    kind = EDIT
    if is_move:
        kind = FOLLOW if text_codec.unquote(quoted_summary) == _FOLLOW_SUMMARY else _OLD_MOVE
    return JournalEntry(
        number, timestamp, command, quoted_summary, stored_texts, False, False, id=f"{number}", kind=kind
    )


def entry_number(line: str) -> int:
    """Return the entry number in a journal line, or 0 if the line is damaged."""
    fields = line.split(" ", 2)
    return int(fields[1]) if len(fields) > 1 and fields[1].isdecimal() and len(fields[1]) < 19 else 0
