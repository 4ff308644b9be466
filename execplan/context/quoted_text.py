"""Words of the repository as a model may be shown them: on lines of their own, without secrets, nothing hidden in them."""

from __future__ import annotations

from execplan.text.invisible_characters import escape_unprintable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Redact = Callable[[str], str]

QUOTE_PREFIX = "> "
"""What a line of them begins with."""
_ELLIPSIS = "…"


def quote_line(text: str, redact: Redact, max_bytes: int = 0) -> str:
    """Words as one line of at most so many bytes; of any length for 0."""
    quoted_text = escape_unprintable(" ".join(redact(text).split()))
    return truncate_bytes(quoted_text, max_bytes) if max_bytes else quoted_text


def quote_lines(body: Sequence[str], redact: Redact) -> list[str]:
    """Lines as they are, without the blank ones around them."""
    quoted_lines = [escape_unprintable(source_line.rstrip()) for source_line in redact("\n".join(body)).split("\n")]
    while quoted_lines and not quoted_lines[0]:
        quoted_lines.pop(0)
    while quoted_lines and not quoted_lines[-1]:
        quoted_lines.pop()
    return quoted_lines


def truncate_bytes(text: str, max_bytes: int) -> str:
    """A line of at most so many bytes, cut where a word ends if one ends in its second half."""
    encoded = text.encode()
    if len(encoded) <= max_bytes:
        return text
    head = encoded[: max(0, max_bytes - len(_ELLIPSIS.encode()))].decode("utf-8", "ignore")
    space_index = head.rfind(" ")
    return (head[:space_index] if space_index > len(head) // 2 else head).rstrip() + _ELLIPSIS
