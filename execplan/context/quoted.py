"""Words of the repository as a model may be shown them: on lines of their own, without secrets, nothing hidden in them."""

from __future__ import annotations

from execplan.text.hidden import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Redact = Callable[[str], str]

MARK = "> "
"""What a line of them begins with."""
_CUT = "…"


def line(words: str, redact: Redact, most: int = 0) -> str:
    """Words as one line of at most so many bytes; of any length for 0."""
    found = visible(" ".join(redact(words).split()))
    return cut(found, most) if most else found


def lines(body: Sequence[str], redact: Redact) -> list[str]:
    """Lines as they are, without the blank ones around them."""
    found = [visible(each.rstrip()) for each in redact("\n".join(body)).split("\n")]
    while found and not found[0]:
        found.pop(0)
    while found and not found[-1]:
        found.pop()
    return found


def cut(text: str, most: int) -> str:
    """A line of at most so many bytes, cut where a word ends if one ends in its second half."""
    data = text.encode()
    if len(data) <= most:
        return text
    short = data[: max(0, most - len(_CUT.encode()))].decode("utf-8", "ignore")
    at = short.rfind(" ")
    return (short[:at] if at > len(short) // 2 else short).rstrip() + _CUT
