"""Parser for the entries of living sections and for revision notes, in all forms in which people write them."""

from __future__ import annotations

from bisect import bisect_left

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import line_grammar, outline
from execplan.core.plan.model import Entry, Section
from execplan.core.text.markdown_blocks import HEADING, ITEM, PARAGRAPH, Block
from execplan.core.timestamps import read_timestamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_PUNCTUATION = " :,;.-–—*_"
_MAX_AUTHOR_LENGTH = 60
"""Maximum length of the author between the date of a revision note and ` - `; longer text is part of the note."""


class _EntrySpan(NamedTuple):
    """The line range of an entry before its labels are read."""

    start: int
    end: int
    kind: str
    label: str | None
    """Label at the start of the entry, if any."""


def read_entries(
    lines: list[str], blocks: list[Block], section: Section, placeholder_lines: Sequence[int]
) -> list[Entry]:
    """Return the entries of a section in file order, without placeholders."""
    spans = _entry_spans(blocks, section, placeholder_lines)
    has_labels = section.name != outline.OUTCOMES
    if section.name == outline.DECISIONS or (has_labels and any([span.kind != PARAGRAPH for span in spans])):
        spans = [span for span in spans if span.label or span.kind != PARAGRAPH]  # skip prose around a log
    section_blocks = blocks[section.first_block : section.block_end]
    entries = [_read_entry(lines, span, section_blocks, placeholder_lines, has_labels=has_labels) for span in spans]
    return [entry for entry in entries if not line_grammar.is_empty_text(entry.text)]


def read_revision_notes(
    lines: list[str], blocks: list[Block], section: Section, placeholder_lines: Sequence[int]
) -> list[Entry]:
    """Return the revision notes at the end of a section, or in a section of their own."""
    first_line = section.body_start if line_grammar.is_revision_note(section.title) else section.notes_start
    notes = []
    section_blocks = blocks[section.first_block : section.block_end]
    for number, block in enumerate(section_blocks):
        if (
            block.depth
            or block.start < first_line
            or block.start in placeholder_lines
            or block.kind not in (ITEM, PARAGRAPH)
        ):
            continue
        source = " ".join([line.strip() for line in [block.text, *lines[block.start + 1 : block.end]] if line.strip()])
        date, author, text = _split_note(source)
        if not line_grammar.is_empty_text(text):
            body, last = text, bisect_left(section_blocks, block.end, lo=number, key=lambda other: other.start) - 1
            if section_blocks[last].start > block.start:
                from execplan.core.plan.text_blocks import canonical_field, fold_text

                lead, other_lines = _split_note(block.text)[2], lines[block.start + 1 : block.end]
                body = canonical_field(lead, other_lines, block.content_column)
                text = fold_text(body)
            notes.append(Entry(text, block.start, block.end, date=date, author=author, body=body))
    return notes


def _split_note(source: str) -> tuple[str | None, str | None, str]:
    """Split a revision note into its date, its author and its text, without the label."""
    if line_grammar.is_revision_note(source):
        source = source[source.lower().find("note") + 4 :].lstrip("s*_")
    note_text = source.lstrip(_PUNCTUATION)
    if note_text.startswith("(") and ")" in note_text and read_timestamp(note_text) is None:
        inner, _, note_text = note_text[1:].partition(")")
        return *line_grammar.read_date_author(inner), note_text.lstrip(_PUNCTUATION)
    timestamp = read_timestamp(note_text)
    if timestamp is None:
        return None, None, note_text
    following_text = note_text[len(timestamp.text) :]
    author, separator, text = following_text.lstrip().removeprefix("/ ").partition(" - ")
    if following_text.lstrip().startswith("/ ") and separator and len(author) <= _MAX_AUTHOR_LENGTH:
        return timestamp.date_time, author.strip() or None, text
    text = following_text[3:] if following_text.startswith(" - ") else following_text.lstrip(_PUNCTUATION)
    return timestamp.date_time, None, text


def _entry_spans(blocks: list[Block], section: Section, placeholder_lines: Sequence[int]) -> list[_EntrySpan]:
    """Group the top-level blocks of a section into entries."""
    spans: list[_EntrySpan] = []
    heading: Block | None = None  # a sub-heading is an entry if labels follow it; otherwise it only groups entries
    for block in blocks[section.first_block : section.block_end]:
        if block.start >= section.content_end:
            break
        if block.depth or all([index in placeholder_lines for index in range(block.start, block.end)]):
            continue
        if block.kind == HEADING:
            heading = block
            continue
        label = line_grammar.read_label(block.text) if block.kind in (ITEM, PARAGRAPH) else None
        if block.kind in (ITEM, PARAGRAPH) and (label is None or label[0] in line_grammar.HEAD_LABELS):
            spans.append(_EntrySpan(block.start, block.end, block.kind, label[0] if label else None))
            heading = None
        elif heading is not None and label is not None:
            spans.append(_EntrySpan(heading.start, block.end, HEADING, None))
            heading = None
        elif heading is None and spans:
            last_span = spans[-1]
            spans[-1] = _EntrySpan(last_span.start, block.end, last_span.kind, last_span.label)
    return spans


def _read_entry(
    lines: list[str], span: _EntrySpan, blocks: list[Block], placeholder_lines: Sequence[int], *, has_labels: bool
) -> Entry:
    """Parse an entry's fields from lines that start with a label, or from labels in the middle of its line."""
    first, last = [bisect_left(blocks, line, key=lambda block: block.start) for line in (span.start, span.end)]
    blocks = blocks[first:last]
    is_long = any([block.start > span.start for block in blocks])
    if is_long:
        from execplan.core.plan.text_blocks import canonical_field, verbatim_lines

        verbatim = verbatim_lines(blocks)
    else:
        verbatim = set()
    fields: dict[str, list[str]] = {"": []}
    current_lines = fields[""]
    for index in range(span.start, span.end):
        if index in placeholder_lines:
            continue
        line = lines[index].strip()
        if index == span.start:
            line = _strip_marker(line) if span.kind != PARAGRAPH else line
        label_match = line_grammar.read_label(line) if has_labels and index not in verbatim else None
        if label_match is not None:
            label, line = label_match
            current_lines = fields.setdefault("" if label in line_grammar.HEAD_LABELS else label, [])
            current_lines.append(line)
        else:
            current_lines.append(line if index == span.start else lines[index])
    if is_long:
        column = blocks[0].content_column if span.kind == ITEM else 0
        values = {
            label: canonical_field(value_lines[0].strip(), value_lines[1:], column) if value_lines else ""
            for label, value_lines in fields.items()
        }
    else:
        values = {
            label: " ".join([line.strip() for line in value_lines if line.strip()])
            for label, value_lines in fields.items()
        }
    if has_labels and len(values) == 1:
        inline_values = {"": _fold(values[""])}
        _split_inline_labels(inline_values)
        values = inline_values if len(inline_values) > 1 else values
    body = values[""]
    date, author = line_grammar.read_date_author(_fold(values.get(line_grammar.DATE_AUTHOR, "")))
    if date is None and span.label is None:
        timestamp = read_timestamp(body)
        if timestamp is not None:
            date = timestamp.date_time
            body = body[len(timestamp.text) + len(timestamp.separator) :]
    optional_fields = [
        _non_empty(values.get(label))
        for label in (line_grammar.RATIONALE, line_grammar.SUPERSEDES, line_grammar.EVIDENCE)
    ]
    is_labeled = span.label is not None
    return Entry(
        _fold(body),
        span.start,
        span.end,
        optional_fields[0],
        date,
        author,
        optional_fields[1],
        optional_fields[2],
        is_labeled,
        body,
    )


def _fold(text: str) -> str:
    """Return a text of several blocks as one line, and others as they are."""
    return " ".join(text.split()) if "\n" in text else text


def _split_inline_labels(values: dict[str, str]) -> None:
    """Move the labeled fields of a one-line entry out of its text."""
    for label in (line_grammar.SUPERSEDES, line_grammar.DATE_AUTHOR, line_grammar.RATIONALE, line_grammar.EVIDENCE):
        for name, text in values.items():
            head, separator, tail = text.partition(f" {label}:")
            if separator:
                values[name] = head.rstrip()
                values[label] = tail.strip()
                break


def _non_empty(text: str | None) -> str | None:
    """Return the text, or None if it is missing or a placeholder."""
    return None if text is None or line_grammar.is_empty_text(text) else text


def _strip_marker(line: str) -> str:
    """Return the first line of an item or a sub-heading without its bullet or `#` marks."""
    unmarked = line.lstrip("#")
    return unmarked.strip(" #") if unmarked != line else line.partition(" ")[2].lstrip()
