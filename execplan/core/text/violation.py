"""Violations of a document: a JSON pointer and a message; light enough for checks of plain data."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_TOKEN_LENGTH = 200


class Violation(NamedTuple):
    """A violation in a document, with its location."""

    pointer: str
    """JSON pointer as in RFC 6901; empty for the whole document."""
    message: str

    def __str__(self) -> str:
        return f"{self.pointer or 'the document'}: {self.message}"


def json_pointer(keys: Iterable[str | int]) -> str:
    """Return the pointer for keys and indexes from the root; a very long key is shortened."""
    return "".join([f"/{_escape_token(key)}" for key in keys])


def _escape_token(key: str | int) -> str:
    if isinstance(key, int):
        return str(key)
    name = key if len(key) <= _MAX_TOKEN_LENGTH else key[:_MAX_TOKEN_LENGTH] + "…"
    return name.replace("~", "~0").replace("/", "~1")
