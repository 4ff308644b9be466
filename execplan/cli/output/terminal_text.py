"""Safe printing of foreign text, wherever the output goes, with execplan's own colors kept."""

from __future__ import annotations

import os

from execplan.core.text.invisible_characters import escape_unprintable, escape_unprintable_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_COLOR_PREFIX = f"\x1b[{os.urandom(8).hex()};"
"""Prefix of execplan's own color codes until printing; random, so that no repository text can contain it."""


def color(code: str) -> str:
    """Return the marked code of a color or style, given its terminal code."""
    return f"{_COLOR_PREFIX}{code}m"


def mark_colors(text: str) -> str:
    """Mark the colors in a trusted text, such as a chart, whose other characters are already printable."""
    return text.replace("\x1b[", _COLOR_PREFIX)


def printable_lines(lines: Iterable[str], header: str = "") -> str:
    """Escape texts to one line each, after an optional multi-line header such as a diff."""
    return "\n".join([*([header] if header else []), *map(escape_unprintable, lines)])


def printable_text(text: str) -> str:
    """Escape multi-line text for printing, keeping only execplan's own colors."""
    first, *rest = text.split(_COLOR_PREFIX)
    segments = [escape_unprintable_lines(first)]
    for segment in rest:
        code, _, content = segment.partition("m")
        segments += [f"\x1b[{code}m", escape_unprintable_lines(content)]
    return "".join(segments)
