"""Widths of text on a terminal, where some characters take two columns and some none."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from unicodedata import category, east_asian_width

_NO_COLUMN = frozenset(("Mn", "Me", "Cf"))
"""Categories of characters that change the one before them, or show nothing."""


def text_width(text: str) -> int:
    """Return the number of columns that a printable text takes."""
    return len(text) if text.isascii() else sum(map(_character_width, text))


def ellipsis() -> str:
    """Return what stands for text that is cut, in the encoding of standard output."""
    return "…" if (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf") else "..."


def cut_segments(segments: Sequence[tuple[str, str]], width: int) -> list[tuple[str, str]]:
    """Cut a line of texts with their styles to a width, with an ellipsis if something is cut off."""
    if sum([text_width(text) for text, _ in segments]) <= width:
        return list(segments)
    sign = ellipsis()
    remaining = max(width - len(sign), 0)
    parts: list[tuple[str, str]] = []
    for text, style in segments:
        part = cut_to_width(text, remaining)
        remaining -= text_width(part)
        if part != text or not remaining:
            return [*parts, (part + sign[:width], style)]
        parts.append((part, style))
    return parts


def cut_to_width(text: str, width: int) -> str:
    """Return the start of a text that fits a width."""
    if text.isascii():
        return text[:width]
    used = 0
    for index, character in enumerate(text):
        used += _character_width(character)
        if used > width:
            return text[:index]
    return text


def _character_width(character: str) -> int:
    if character < "\u0300":
        return 0 if character == "\u00ad" else 1
    if category(character) in _NO_COLUMN:
        return 0
    return 2 if east_asian_width(character) in "WF" else 1
