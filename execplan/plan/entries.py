"""The entries of a living section and its revision notes, in all the forms in which people write them."""

from __future__ import annotations

from execplan.clock import read_stamp
from execplan.plan import grammar, outline
from execplan.plan.model import Entry, Section
from execplan.plan.placeholder import is_guidance
from execplan.record import NamedTuple
from execplan.text.blocks import HEADING, ITEM, PARAGRAPH, Block


class _Piece(NamedTuple):
    """The lines of one entry before its labels are read."""

    start: int
    end: int
    kind: str
    label: str | None
    """The label that it begins with."""


def read_entries(lines: list[str], blocks: list[Block], section: Section) -> list[Entry]:
    """The entries of a section in file order; what only holds a place is none."""
    pieces = _pieces(lines, blocks, section)
    if section.name != outline.OUTCOMES:
        prose = section.name == outline.SURPRISES and not any([piece.kind != PARAGRAPH for piece in pieces])
        pieces = [piece for piece in pieces if prose or piece.label or piece.kind != PARAGRAPH]
    entries = []
    for piece in pieces:
        entry = _entry(lines, piece, labels=section.name != outline.OUTCOMES)
        if not grammar.is_nothing(entry.text):
            entries.append(entry)
    return entries


def read_notes(lines: list[str], blocks: list[Block], section: Section) -> list[Entry]:
    """The revision notes at the end of a section, or in a section of their own."""
    own = grammar.is_note(section.title)
    begin = section.body if own else section.notes
    notes = []
    for at in range(section.first, section.last):
        block = blocks[at]
        if block.depth or block.start < begin or block.kind not in (ITEM, PARAGRAPH):
            continue
        words = _joined(lines[block.start : block.end]) if block.kind == PARAGRAPH else _item_words(lines, block)
        if not is_guidance(words) and not grammar.is_nothing(words):
            date, text = _note(words)
            if text:
                notes.append(Entry(text, block.start, block.end, date=date))
    return notes


def _note(words: str) -> tuple[str | None, str]:
    """Date and words of a revision note, behind its label."""
    text = words
    if grammar.is_note(words):
        lower = words.lower()
        start = lower.find("note") + 4
        text = words[start:].lstrip("s*_")
    bare = text.lstrip(" :,;-–—*_")
    if bare.startswith("(") and ")" in bare and read_stamp(bare) is None:
        inner, _, bare = bare[1:].partition(")")
        return grammar.read_date_author(inner)[0], bare.lstrip(" :,;-–—*_")
    stamp = read_stamp(bare)
    if stamp is not None:
        after = bare[len(stamp.text) :].lstrip(" :,;.-–—*_")
        return stamp.text.strip("()"), after
    return None, bare


def _pieces(lines: list[str], blocks: list[Block], section: Section) -> list[_Piece]:
    """The top-level blocks of a section, put together into entries."""
    pieces: list[_Piece] = []
    pending: Block | None = None  # a sub-heading that may turn out to be an entry
    for at in range(section.first, section.last):
        block = blocks[at]
        if block.depth:
            continue
        if block.start >= section.notes:
            break
        if block.kind == HEADING:
            pending = block
            continue
        if block.kind not in (ITEM, PARAGRAPH):
            if pieces and not pending and pieces[-1].end <= block.start:
                pieces[-1] = pieces[-1]._replace(end=block.end)
            continue
        if is_guidance(block.text if block.kind == PARAGRAPH else lines[block.start]):
            if block.end - block.start == 1 or all([is_guidance(line) for line in lines[block.start : block.end]]):
                continue
        found = grammar.read_label(block.text)
        label = found[0] if found else None
        if label and label not in grammar.HEADS:
            if pending is not None:
                pieces.append(_Piece(pending.start, block.end, HEADING, None))
                pending = None
                continue
            if pieces:
                pieces[-1] = pieces[-1]._replace(end=block.end)
                continue
        pending = None
        pieces.append(_Piece(block.start, block.end, block.kind, label))
    return pieces


def _entry(lines: list[str], piece: _Piece, *, labels: bool) -> Entry:
    """The fields of one entry, from lines that begin with a label or from labels in the middle of its line."""
    fields: dict[str, list[str]] = {"": []}
    into = fields[""]
    labelled = False
    for at in range(piece.start, piece.end):
        line = lines[at].strip()
        if at == piece.start and piece.kind != PARAGRAPH:
            line = _unmarked(line)
        found = grammar.read_label(line) if labels and line else None
        if found is not None:
            label, line = found
            if label in grammar.HEADS:
                label = ""
                labelled = labelled or at == piece.start
            into = fields.setdefault(label, [])
        if line and not is_guidance(line):
            into.append(line)
    values = {label: " ".join(parts) for label, parts in fields.items()}
    if labels:
        for label in (grammar.SUPERSEDES, grammar.DATE_AUTHOR, grammar.RATIONALE, grammar.EVIDENCE):
            if label not in values:
                head, found_label, tail = values[""].partition(f" {label}:")
                if found_label:
                    values[""], values[label] = head.rstrip(), tail.strip()
                else:
                    for other in values:
                        head, found_label, tail = values[other].partition(f" {label}:")
                        if found_label:
                            values[other] = head.rstrip()
                            values[label] = tail.strip()
                            break
    date, author = None, None
    text = values[""]
    if grammar.DATE_AUTHOR in values:
        date, author = grammar.read_date_author(values[grammar.DATE_AUTHOR])
    else:
        stamp = read_stamp(text)
        if stamp is not None:
            date = stamp.text.strip("()")
            text = text[len(stamp.text) + len(stamp.after) :]
    return Entry(
        text,
        piece.start,
        piece.end,
        _said(values.get(grammar.RATIONALE)),
        date,
        author,
        _said(values.get(grammar.SUPERSEDES)),
        _said(values.get(grammar.EVIDENCE)),
        labelled,
    )


def _said(words: str | None) -> str | None:
    """The words, or None when they say nothing."""
    return None if words is None or grammar.is_nothing(words) else words


def _unmarked(line: str) -> str:
    """The first line of an item or a sub-heading without its mark."""
    bare = line.lstrip("#")
    if bare != line:
        return bare.strip(" #")
    head, _, rest = line.partition(" ")
    return rest.lstrip()


def _item_words(lines: list[str], block: Block) -> str:
    return _joined([block.text, *lines[block.start + 1 : block.end]])


def _joined(parts: list[str]) -> str:
    return " ".join([part.strip() for part in parts if part.strip()])
