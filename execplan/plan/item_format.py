"""How the items around a place are written, and words written the same way without a chance to become structure."""

from __future__ import annotations

from itertools import pairwise

from execplan.named_tuple import NamedTuple
from execplan.plan.line_grammar import read_label
from execplan.text.text_lines import is_blank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_RULE_CHARS = "-=*_"
_BLOCK_STARTS = ("#", ">", "<", "```", "~~~")

MIN_WIDTH = 40
"""Columns that a text wrapped by hand has at least; narrower lines were broken for what they say."""


class ItemFormat(NamedTuple):
    """What a new item copies."""

    width: int
    """Columns at which its words wrap, or 0 for one line."""
    indent: str
    """What its further lines begin with."""
    is_loose: bool
    """Whether a blank line stands between items."""


def detect_format(
    lines: Sequence[str], spans: Sequence[tuple[int, int]], *, indent: str, is_loose_default: bool
) -> ItemFormat:
    """The shape of neighbours, each from its first line to one past its last; `indent` and `is_loose_default` are for none."""
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
    """The columns at which items wrap whose lines have these widths, or 0."""
    widest = max(widths, default=0)
    return widest if widest >= MIN_WIDTH else 0


def is_loose(lines: Sequence[str], spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a blank line, and nothing else, stands between items that follow each other."""
    return any([end < start and is_blank("".join(lines[end:start])) for (_, end), (start, _) in pairwise(spans)])


def wrap_text(first_prefix: str, text: str, item_format: ItemFormat) -> list[str]:
    """Lines that begin with `first_prefix` and say the words; none but the first begins with what opens a block or a label."""
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
    """Words at the start of a line, with a backslash in what would open a block or be a label there."""
    head, _, tail = text.partition(":")
    if read_label(text) is not None and read_label(f"{head}\\:{tail}") is None:
        return f"{head}\\:{tail}"
    first_word = text.split(" ", 1)[0]
    if first_word[:-1].isdigit() and first_word[-1] in ".)":
        return f"{first_word[:-1]}\\{text[len(first_word) - 1 :]}"
    return (
        "\\" + text if _may_open_block(first_word, text.split(" ")[:3]) or first_word.startswith(("[", "|")) else text
    )


def escape_heading(title: str) -> str:
    """A title as a heading holds it: number signs at its end would close the heading."""
    bare_title = title.rstrip("#")
    return f"{bare_title}\\{title[len(bare_title) :]}" if bare_title != title else title


def _may_open_block(word: str, following: Sequence[str]) -> bool:
    """Whether a line that begins with the word might be something else than text."""
    if word in ("-", "+", "*") or word.startswith(_BLOCK_STARTS):
        return True
    if word[0] in _RULE_CHARS and not word.strip(word[0]):
        return True
    if word[:-1].isdigit() and word[-1] in ".)":
        return True
    return read_label(" ".join(following)) is not None
