"""How many lines a change adds and removes."""

from __future__ import annotations

from execplan.text.align import aligned
from execplan.text.lines import Text

LONGEST = 1 << 20
"""Bytes of the longest text whose lines are counted."""


def counted(before: bytes, after: bytes) -> tuple[int, int]:
    """Lines added and removed; none of what is no text, or a very long one."""
    one, two = _lines(before), _lines(after)
    if one is None or two is None:
        return 0, 0
    same = len(aligned(one, two))
    return len(two) - same, len(one) - same


def _lines(data: bytes) -> list[str] | None:
    """The lines with their ends."""
    if len(data) > LONGEST or b"\0" in data:
        return None
    try:
        text = Text.from_bytes(data)
    except UnicodeDecodeError:
        return None
    return [line + end for line, end in zip(text.lines, text.ends, strict=True)]
