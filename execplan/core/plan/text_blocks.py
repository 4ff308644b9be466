"""Texts of several markdown blocks in log entries: their canonical form, and their lines below the entry's first one.

In the canonical form, a paragraph is one line, leading tabs are spaces, and single blank lines separate blocks that were
separated. Lists keep their lines; code, quotes and tables are unchanged. A text of one paragraph is one line.
"""

from __future__ import annotations

from execplan.core.plan.item_format import escape_text, wrap_text
from execplan.core.plan.line_grammar import read_checkbox, read_label
from execplan.core.text.markdown_blocks import CODE, FENCE, HTML, ITEM, PARAGRAPH, QUOTE, scan_blocks
from execplan.core.text.text_lines import Text, is_blank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan.item_format import ItemFormat
    from execplan.core.text.markdown_blocks import Block

_VERBATIM = (FENCE, CODE, HTML, QUOTE)
"""Kinds of blocks whose lines stay as they are."""
_BULLETS = ("-", "*", "+")
_TABLE = "|"
"""Start of a table's lines, which are paragraphs to the scanner."""


def has_blocks(text: str) -> bool:
    """Return whether a canonical text has more than one paragraph."""
    return "\n" in text


def fold_text(text: str) -> str:
    """Return a text as one line."""
    return " ".join(text.split())


def canonical_text(source: str) -> str:
    """Return a text in canonical form, with a backslash before what would end an entry or be a field of it."""
    text, previous_text = source, ""
    while text != previous_text:  # lines that are joined or escaped may change what the others are
        previous_text = text
        lines = Text.from_str(text.lstrip("\r\n")).lines
        if sum([not is_blank(line) for line in lines]) < 2:
            return fold_text(text)
        column = min([_indentation(line) for line in lines if not is_blank(line)])
        lead, other_lines = split_lead("\n".join([_strip_columns(line, column) for line in lines]).lstrip("\n"))
        lead, other_lines = split_lead(canonical_field(lead, other_lines, 0))
        text = canonical_field(lead, _escape_lines([lead, *other_lines], has_lead=bool(lead))[1:], 0)
    return text


def canonical_field(lead: str, other_lines: Sequence[str], base_column: int) -> str:
    """Return the text of a field in canonical form.

    `lead` is the text after its label; the other lines are indented by `base_column`, or, if they begin with a list, as
    its first item is.
    """
    below = next((line for line in other_lines if line.strip()), "")
    if _indentation(below) > base_column:
        blocks = scan_blocks([_strip_columns(below, base_column)], allow_front_matter=False)
        base_column = _indentation(below) if blocks and blocks[0].kind == ITEM else base_column
    lines = [lead, *[_strip_columns(line, base_column) for line in other_lines]]
    return "\n".join(_join_lines(lines, has_lead=bool(lead)))


def split_lead(text: str) -> tuple[str, list[str]]:
    """Return the first line of a text, or nothing if it does not begin with a paragraph, and the other lines."""
    lines = text.split("\n")
    if len(lines) > 1:
        blocks = scan_blocks(lines, allow_front_matter=False)
        if not blocks or blocks[0].kind != PARAGRAPH or lines[0].lstrip().startswith(_TABLE):
            return "", ["", *lines]
    return lines[0], lines[1:]


def escape_lead(text: str) -> str:
    """Escape the start of a canonical text that begins with a paragraph, for a place where no label precedes it."""
    return escape_text(text) if split_lead(text)[0] else text


def format_blocks(first_prefix: str, text: str, item_format: ItemFormat) -> list[str]:
    """Return the lines of a canonical text after a prefix; further blocks are indented as the format says.

    Paragraphs are wrapped at the format's width.
    """
    lead, other_lines = split_lead(text)
    lines = wrap_text(first_prefix, lead, item_format) if lead else [first_prefix.rstrip()]
    if lines[0].strip() in _BULLETS:
        del other_lines[0]  # a blank line would end an item without text
    blocks = _scan([lead, *other_lines], has_lead=bool(lead))
    paragraphs = {block.start for block in blocks if block.kind == PARAGRAPH and not block.depth}
    for number, line in enumerate(other_lines, 1):
        if number in paragraphs and not line.startswith(_TABLE):
            lines += wrap_text(item_format.indent, line, item_format)
        else:
            lines.append(item_format.indent + line if line else "")
    return lines


def verbatim_lines(blocks: Sequence[Block]) -> set[int]:
    """Return the lines of code, HTML and quotes."""
    return {index for block in blocks if block.kind in _VERBATIM for index in range(block.start, block.end)}


def _join_lines(lines: Sequence[str], *, has_lead: bool) -> list[str]:
    """Return lines in canonical form; with `has_lead`, the first one is text whatever it looks like."""
    blocks = _scan(lines, has_lead=has_lead)
    starts = {block.start: block for block in blocks}
    item_lines = {index for block in blocks if block.kind == ITEM for index in range(block.start, block.end)}
    verbatim = verbatim_lines(blocks)
    fence_lines = {
        index
        for block in blocks
        if block.kind == FENCE
        for index in range(block.start + 1, block.end - block.is_closed)
    }
    closing_lines = {
        block.end: " " * block.column + block.mark * block.level
        for block in blocks
        if block.kind == FENCE and not block.is_closed
    }
    joined: list[str] = []
    is_after_blank = is_after_table = False
    for index, line in enumerate(lines):
        is_table = line.lstrip().startswith(_TABLE)
        if is_blank(line) and index not in verbatim:
            is_after_blank = True
            continue
        joined += [""] if is_after_blank and joined else []
        if index in fence_lines:
            joined.append("" if is_blank(line) else line)
        elif index in verbatim:
            joined.append(" " * _indentation(line) + line.strip() if line.strip() else "")
        elif index in starts or not joined or is_after_blank or index - 1 in verbatim or (is_table and is_after_table):
            joined.append(" " * (_indentation(line) if index in item_lines else 0) + fold_text(line))
        else:
            joined[-1] += " " + fold_text(line)
        is_after_blank, is_after_table = False, is_table
        if index + 1 in closing_lines:
            joined.append(closing_lines[index + 1])
    while joined and not joined[-1]:
        joined.pop()
    return joined


def _escape_lines(lines: Sequence[str], *, has_lead: bool) -> list[str]:
    """Return lines with a backslash before what would be HTML, a task, or the label of a field."""
    escaped = list(lines)
    blocks = _scan(lines, has_lead=has_lead)
    verbatim = verbatim_lines([block for block in blocks if block.kind != HTML])
    for block in blocks:
        if block.start in verbatim or (has_lead and not block.start):
            continue
        line = escaped[block.start]
        if block.kind == HTML:
            escaped[block.start] = line.replace("<", "\\<", 1)
        elif block.kind == ITEM and read_checkbox(block.text) is not None:
            at = line.rindex(block.text)
            escaped[block.start] = f"{line[:at]}\\{line[at:]}"
        elif read_label(line) is not None:
            at = min([line.index(colon) for colon in ":：" if colon in line])
            escaped[block.start] = f"{line[:at]}\\{line[at:]}"
    return escaped


def _scan(lines: Sequence[str], *, has_lead: bool) -> list[Block]:
    return scan_blocks(["x" if has_lead else "", *lines[1:]], allow_front_matter=False)


def _indentation(line: str) -> int:
    """Return the column of a line's first character other than white space."""
    bare_line = line.lstrip(" \t")
    return len(line[: len(line) - len(bare_line)].expandtabs(4))


def _strip_columns(line: str, columns: int) -> str:
    """Return a line without up to so many columns of white space at its start."""
    index = column = 0
    while column < columns and line[index : index + 1] in (" ", "\t"):
        column = column + 1 if line[index] == " " else column // 4 * 4 + 4
        index += 1
    return " " * (column - columns) + line[index:]
