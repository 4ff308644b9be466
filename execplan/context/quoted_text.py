"""Repository text that is safe to show to a model: on separate lines, redacted, and without hidden characters."""

from __future__ import annotations

from execplan.core.text.invisible_characters import escape_unprintable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

Redact: TypeAlias = "Callable[[str], str]"
QUOTE_PREFIX = "> "
"""Prefix of each quoted line."""
_ELLIPSIS = "…"


def quote_line(text: str, redact: Redact, max_bytes: int = 0) -> str:
    """Quote a text as one line of at most `max_bytes` bytes; 0 means no limit."""
    quoted_text = escape_unprintable(" ".join(redact(text).split()))
    return truncate_bytes(quoted_text, max_bytes) if max_bytes else quoted_text


def quote_lines(body: Sequence[str], redact: Redact) -> list[str]:
    """Quote lines unchanged, without the blank lines around them."""
    quoted_lines = [escape_unprintable(source_line.rstrip()) for source_line in redact("\n".join(body)).split("\n")]
    while quoted_lines and not quoted_lines[0]:
        quoted_lines.pop(0)
    while quoted_lines and not quoted_lines[-1]:
        quoted_lines.pop()
    return quoted_lines


def truncate_bytes(text: str, max_bytes: int) -> str:
    """Cut a line to at most `max_bytes` bytes, at the end of a word if one ends in the second half."""
    encoded = text.encode()
    if len(encoded) <= max_bytes:
        return text
    head = encoded[: max(0, max_bytes - len(_ELLIPSIS.encode()))].decode("utf-8", "ignore")
    space_index = head.rfind(" ")
    return (head[:space_index] if space_index > len(head) // 2 else head).rstrip() + _ELLIPSIS
