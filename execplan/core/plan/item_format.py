"""Detection of the format of neighboring items, and wrapping and escaping of new text in that format."""

from __future__ import annotations

from itertools import pairwise

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.line_grammar import read_label
from execplan.core.text.text_lines import is_blank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_RULE_CHARS = "-=*_"
_BLOCK_STARTS = ("#", ">", "<", "```", "~~~")

MIN_WIDTH = 40
"""Minimum width in columns of hand-wrapped text; narrower lines were broken because of their content."""


class ItemFormat(NamedTuple):
    """The format that a new item copies from its neighbors."""

    width: int
    """Column at which the text wraps, or 0 for one line."""
    indent: str
    """Indentation of continuation lines."""
    is_loose: bool
    """Whether blank lines separate the items."""


def detect_format(
    lines: Sequence[str], spans: Sequence[tuple[int, int]], *, indent: str, is_loose_default: bool
) -> ItemFormat:
    """Return the format of the items at the given spans, from the first line to one past the last.

    `indent` and `is_loose_default` apply where the items do not show one.
    """
    widths = [max(len(line) for line in lines[start:end]) for start, end in spans if end - start > 1]
    if len(spans) > 1:
        is_loose_default = is_loose(lines, spans)
    for start, end in reversed(spans):
        if end - start > 1:
            second_line = lines[start + 1]
            second_indent = second_line[: len(second_line) - len(second_line.lstrip(" \t"))]
            indent = second_indent or indent
            break
    return ItemFormat(wrap_width(widths), indent, is_loose_default)


def wrap_width(widths: Sequence[int]) -> int:
    """Return the column at which items with these line widths wrap, or 0."""
    widest = max(widths, default=0)
    return widest if widest >= MIN_WIDTH else 0


def is_loose(lines: Sequence[str], spans: Sequence[tuple[int, int]]) -> bool:
    """Return whether any two consecutive items are separated by blank lines only."""
    return any([end < start and is_blank("".join(lines[end:start])) for (_, end), (start, _) in pairwise(spans)])


def wrap_text(first_prefix: str, text: str, item_format: ItemFormat) -> list[str]:
    """Wrap a text into lines, the first of which starts with `first_prefix`.

    No continuation line starts with a word that would open a block or be a label.
    """
    lines = [first_prefix]
    words = text.split()
    for index, word in enumerate(words):
        space = "" if lines[-1].endswith(" ") or not lines[-1] else " "
        is_fitting = not item_format.width or len(lines[-1]) + len(space) + len(word) <= item_format.width
        if is_fitting or lines[-1] == first_prefix or _may_open_block(word, words[index : index + 3]):
            lines[-1] += space + word
        else:
            lines.append(item_format.indent + word)
    return lines


def escape_text(text: str) -> str:
    """Escape the start of a text with a backslash if it would open a block or be a label at the start of a line."""
    head, _, tail = text.partition(":")
    if read_label(text) is not None and read_label(f"{head}\\:{tail}") is None:
        text = f"{head}\\:{tail}"
    first_word = text.split(" ", 1)[0]
    if first_word[:-1].isdigit() and first_word[-1] in ".)":
        return f"{first_word[:-1]}\\{text[len(first_word) - 1 :]}"
    if _may_open_block(first_word, text.split(" ")[:3]) or first_word.startswith(("[", "|")):
        return "\\" + text
    return text


def escape_heading(title: str) -> str:
    """Escape the number signs at the end of a title, which would otherwise close the heading."""
    bare_title = title.rstrip("#")
    return f"{bare_title}\\{title[len(bare_title) :]}" if bare_title != title else title


def _may_open_block(word: str, following: Sequence[str]) -> bool:
    """Return whether a line that starts with the word might be something other than text."""
    if word in ("-", "+", "*") or word.startswith(_BLOCK_STARTS):
        return True
    if word[0] in _RULE_CHARS and not word.strip(word[0]):
        return True
    if word[:-1].isdigit() and word[-1] in ".)":
        return True
    return read_label(" ".join(following)) is not None
