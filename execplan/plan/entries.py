"""The entries of a living section and its revision notes, in all the forms in which people write them."""

from __future__ import annotations

from execplan.clock import read_stamp
from execplan.plan import grammar, outline
from execplan.plan.model import Entry, Section
from execplan.record import NamedTuple
from execplan.text.blocks import HEADING, ITEM, PARAGRAPH, Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_AROUND = " :,;.-–—*_"


class _Piece(NamedTuple):
    """The lines of one entry before its labels are read."""

    start: int
    end: int
    kind: str
    label: str | None
    """The label that it begins with."""


def read_entries(lines: list[str], blocks: list[Block], section: Section, guidance: Sequence[int]) -> list[Entry]:
    """The entries of a section in file order; what only holds a place is none."""
    pieces = _pieces(blocks, section, guidance)
    labels = section.name != outline.OUTCOMES
    if section.name == outline.DECISIONS or (labels and any([piece.kind != PARAGRAPH for piece in pieces])):
        pieces = [piece for piece in pieces if piece.label or piece.kind != PARAGRAPH]  # prose around a log
    entries = [_entry(lines, piece, guidance, labels=labels) for piece in pieces]
    return [entry for entry in entries if not grammar.is_nothing(entry.text)]


def read_notes(lines: list[str], blocks: list[Block], section: Section, guidance: Sequence[int]) -> list[Entry]:
    """The revision notes at the end of a section, or in a section of their own."""
    begin = section.body if grammar.is_note(section.title) else section.notes
    notes = []
    for block in blocks[section.first : section.last]:
        if block.depth or block.start < begin or block.start in guidance or block.kind not in (ITEM, PARAGRAPH):
            continue
        words = " ".join([part.strip() for part in [block.text, *lines[block.start + 1 : block.end]] if part.strip()])
        date, text = _note(words)
        if not grammar.is_nothing(text):
            notes.append(Entry(text, block.start, block.end, date=date))
    return notes


def _note(words: str) -> tuple[str | None, str]:
    """Date and words of a revision note, behind its label."""
    if grammar.is_note(words):
        words = words[words.lower().find("note") + 4 :].lstrip("s*_")
    bare = words.lstrip(_AROUND)
    if bare.startswith("(") and ")" in bare and read_stamp(bare) is None:
        inner, _, bare = bare[1:].partition(")")
        return grammar.read_date_author(inner)[0], bare.lstrip(_AROUND)
    stamp = read_stamp(bare)
    if stamp is None:
        return None, bare
    rest = bare[len(stamp.text) :]
    return stamp.moment, rest[3:] if rest.startswith(" - ") else rest.lstrip(_AROUND)


def _pieces(blocks: list[Block], section: Section, guidance: Sequence[int]) -> list[_Piece]:
    """The top-level blocks of a section, put together into entries."""
    pieces: list[_Piece] = []
    heading: Block | None = None  # a sub-heading is an entry when labels follow it, else it only groups
    for block in blocks[section.first : section.last]:
        if block.start >= section.room:
            break
        if block.depth or all([at in guidance for at in range(block.start, block.end)]):
            continue
        if block.kind == HEADING:
            heading = block
            continue
        label = grammar.read_label(block.text) if block.kind in (ITEM, PARAGRAPH) else None
        if block.kind in (ITEM, PARAGRAPH) and (label is None or label[0] in grammar.HEADS):
            pieces.append(_Piece(block.start, block.end, block.kind, label[0] if label else None))
            heading = None
        elif heading is not None and label is not None:
            pieces.append(_Piece(heading.start, block.end, HEADING, None))
            heading = None
        elif heading is None and pieces:
            before = pieces[-1]
            pieces[-1] = _Piece(before.start, block.end, before.kind, before.label)
    return pieces


def _entry(lines: list[str], piece: _Piece, guidance: Sequence[int], *, labels: bool) -> Entry:
    """The fields of one entry, from lines that begin with a label or from labels in the middle of its line."""
    fields: dict[str, list[str]] = {"": []}
    into = fields[""]
    for at in range(piece.start, piece.end):
        line = lines[at].strip()
        if not line or at in guidance:
            continue
        if at == piece.start and piece.kind != PARAGRAPH:
            line = _unmarked(line)
        found = grammar.read_label(line) if labels else None
        if found is not None:
            label, line = found
            into = fields.setdefault("" if label in grammar.HEADS else label, [])
        if line:
            into.append(line)
    values = {label: " ".join(parts) for label, parts in fields.items()}
    if labels and len(values) == 1:
        _split_line(values)
    text = values[""]
    date, author = grammar.read_date_author(values.get(grammar.DATE_AUTHOR, ""))
    if date is None and piece.label is None:
        stamp = read_stamp(text)
        if stamp is not None:
            date = stamp.moment
            text = text[len(stamp.text) + len(stamp.after) :]
    said = [_said(values.get(label)) for label in (grammar.RATIONALE, grammar.SUPERSEDES, grammar.EVIDENCE)]
    labelled = piece.label is not None
    return Entry(text, piece.start, piece.end, said[0], date, author, said[1], said[2], labelled)


def _split_line(values: dict[str, str]) -> None:
    """Take the labels of an entry that stands on one line out of its words."""
    for label in (grammar.SUPERSEDES, grammar.DATE_AUTHOR, grammar.RATIONALE, grammar.EVIDENCE):
        for name, words in values.items():
            head, found, tail = words.partition(f" {label}:")
            if found:
                values[name] = head.rstrip()
                values[label] = tail.strip()
                break


def _said(words: str | None) -> str | None:
    """The words, or None when they say nothing."""
    return None if words is None or grammar.is_nothing(words) else words


def _unmarked(line: str) -> str:
    """The first line of an item or a sub-heading without its mark."""
    bare = line.lstrip("#")
    return bare.strip(" #") if bare != line else line.partition(" ")[2].lstrip()
