"""How the items around a place are written, and words written the same way without a chance to become structure."""

from __future__ import annotations

from itertools import pairwise

from execplan.plan.grammar import read_label
from execplan.record import NamedTuple
from execplan.text.lines import is_blank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_RULES = "-=*_"
_OPENERS = ("#", ">", "<", "```", "~~~")

NARROWEST = 40
"""Columns that a text wrapped by hand has at least; narrower lines were broken for what they say."""


class Shape(NamedTuple):
    """What a new item copies."""

    width: int
    """Columns at which its words wrap, or 0 for one line."""
    indent: str
    """What its further lines begin with."""
    loose: bool
    """Whether a blank line stands between items."""


def shape_of(lines: Sequence[str], spans: Sequence[tuple[int, int]], *, indent: str, loose: bool) -> Shape:
    """The shape of neighbours, each from its first line to one past its last; `indent` and `loose` are for none."""
    widths = [max(len(line) for line in lines[start:end]) for start, end in spans if end - start > 1]
    if len(spans) > 1:
        loose = is_loose(lines, spans)
    for start, end in reversed(spans):
        if end - start > 1:
            second = lines[start + 1]
            found = second[: len(second) - len(second.lstrip(" \t"))]
            indent = found or indent
            break
    return Shape(wrap_width(widths), indent, loose)


def wrap_width(widths: Sequence[int]) -> int:
    """The columns at which items wrap whose lines have these widths, or 0."""
    widest = max(widths, default=0)
    return widest if widest >= NARROWEST else 0


def is_loose(lines: Sequence[str], spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a blank line, and nothing else, stands between items that follow each other."""
    return any([end < start and is_blank("".join(lines[end:start])) for (_, end), (start, _) in pairwise(spans)])


def wrap(first: str, words: str, shape: Shape) -> list[str]:
    """Lines that begin with `first` and say the words; none but the first begins with what opens a block or a label."""
    lines = [first]
    parts = words.split()
    for at, word in enumerate(parts):
        space = "" if lines[-1].endswith(" ") or not lines[-1] else " "
        fits = not shape.width or len(lines[-1]) + len(space) + len(word) <= shape.width
        if fits or lines[-1] == first or _opens(word, parts[at : at + 3]):
            lines[-1] += space + word
        else:
            lines.append(shape.indent + word)
    return lines


def escape(words: str) -> str:
    """Words at the start of a line, with a backslash in what would open a block or be a label there."""
    name, _, rest = words.partition(":")
    if read_label(words) is not None and read_label(f"{name}\\:{rest}") is None:
        return f"{name}\\:{rest}"
    word = words.split(" ", 1)[0]
    if word[:-1].isdigit() and word[-1] in ".)":
        return f"{word[:-1]}\\{words[len(word) - 1 :]}"
    return "\\" + words if _opens(word, words.split(" ")[:3]) or word.startswith(("[", "|")) else words


def heading(title: str) -> str:
    """A title as a heading holds it: number signs at its end would close the heading."""
    words = title.rstrip("#")
    return f"{words}\\{title[len(words) :]}" if words != title else title


def _opens(word: str, following: Sequence[str]) -> bool:
    """Whether a line that begins with the word might be something else than text."""
    if word in ("-", "+", "*") or word.startswith(_OPENERS):
        return True
    if word[0] in _RULES and not word.strip(word[0]):
        return True
    if word[:-1].isdigit() and word[-1] in ".)":
        return True
    return read_label(" ".join(following)) is not None
