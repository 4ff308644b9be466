"""What is wrong with a document, and where: a JSON pointer and words; light enough for whoever checks plain data."""

from __future__ import annotations

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_TOKEN_LENGTH = 200


class Violation(NamedTuple):
    """What is wrong, and where."""

    pointer: str
    """A JSON pointer as RFC 6901 has it; empty for all of the document."""
    message: str

    def __str__(self) -> str:
        return f"{self.pointer or 'the document'}: {self.message}"


def pointer(parts: Iterable[str | int]) -> str:
    """The pointer that names and indices from the top make; a name that is very long is cut."""
    return "".join([f"/{_token(part)}" for part in parts])


def _token(part: str | int) -> str:
    if isinstance(part, int):
        return str(part)
    name = part if len(part) <= _TOKEN_LENGTH else part[:_TOKEN_LENGTH] + "…"
    return name.replace("~", "~0").replace("/", "~1")
