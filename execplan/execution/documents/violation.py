"""What is wrong with a document, and where: a JSON pointer and words; light enough for whoever checks plain data."""

from __future__ import annotations

from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_TOKEN_LENGTH = 200


class Violation(NamedTuple):
    """What is wrong, and where."""

    pointer: str
    """A JSON pointer as RFC 6901 has it; empty for all of the document."""
    message: str

    def __str__(self) -> str:
        return f"{self.pointer or 'the document'}: {self.message}"


def json_pointer(keys: Iterable[str | int]) -> str:
    """The pointer that names and indices from the top make; a name that is very long is cut."""
    return "".join([f"/{_escape_token(key)}" for key in keys])


def _escape_token(key: str | int) -> str:
    if isinstance(key, int):
        return str(key)
    name = key if len(key) <= _MAX_TOKEN_LENGTH else key[:_MAX_TOKEN_LENGTH] + "…"
    return name.replace("~", "~0").replace("/", "~1")
