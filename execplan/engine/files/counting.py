"""How many lines a change adds and removes."""

from __future__ import annotations

from execplan.text.align import align_sequences
from execplan.text.lines import Text

MAX_COUNTED_BYTES = 1 << 20
"""Bytes of the longest text whose lines are counted."""


def count_changed_lines(before: bytes, after: bytes) -> tuple[int, int]:
    """Lines added and removed; none of what is no text, or a very long one."""
    old_lines, new_lines = _split_lines(before), _split_lines(after)
    if old_lines is None or new_lines is None:
        return 0, 0
    unchanged = len(align_sequences(old_lines, new_lines))
    return len(new_lines) - unchanged, len(old_lines) - unchanged


def _split_lines(data: bytes) -> list[str] | None:
    """The lines with their ends."""
    if len(data) > MAX_COUNTED_BYTES or b"\0" in data:
        return None
    try:
        text = Text.from_bytes(data)
    except UnicodeDecodeError:
        return None
    return [line + end for line, end in zip(text.lines, text.ends, strict=True)]
