"""What commands print: text of others made harmless, wherever it goes, and our own colours kept."""

from __future__ import annotations

import os

from execplan.text.invisible_characters import escape_unprintable, escape_unprintable_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_COLOR_PREFIX = f"\x1b[{os.urandom(8).hex()};"
"""How a colour of ours begins until it is printed: nothing in a repository can know it."""


def color(code: str) -> str:
    """A colour, or another form of letters, by its number on a terminal."""
    return f"{_COLOR_PREFIX}{code}m"


def mark_colors(text: str) -> str:
    """A text whose colours are ours, as of rich, and in which all else can be printed already."""
    return text.replace("\x1b[", _COLOR_PREFIX)


def printable_lines(lines: Iterable[str], header: str = "") -> str:
    """Texts with a line for each, whatever is in them; below a text of several lines, such as a diff, if there is one."""
    return "\n".join([*([header] if header else []), *map(escape_unprintable, lines)])


def printable_text(text: str) -> str:
    """Text of several lines as it may be printed on a terminal and elsewhere: no escapes in it but our own colours."""
    first, *rest = text.split(_COLOR_PREFIX)
    segments = [escape_unprintable_lines(first)]
    for segment in rest:
        code, _, content = segment.partition("m")
        segments += [f"\x1b[{code}m", escape_unprintable_lines(content)]
    return "".join(segments)
