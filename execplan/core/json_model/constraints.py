"""Constraints of the fields of JSON documents, given as `Annotated[str, Text(max_length=128)]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from execplan.core.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class TextConstraint(NamedTuple):
    """Constraint of a text: its length in characters, and a pattern for all of it."""

    pattern: str = ""
    """Regular expression from `^` to `$`, in the syntax that Python and JSON Schema share."""
    min_length: int | None = None
    max_length: int | None = None


class Range(NamedTuple):
    """Constraint of a number: its limits, both included."""

    minimum: int | None = None
    maximum: int | None = None


class Entries(NamedTuple):
    """Constraint of an array: the number of its entries."""

    minimum: int = 0
    maximum: int | None = None


class ValueCheck(NamedTuple):
    """A function that raises ValueError for an invalid value, and the `format` of the value in JSON Schema."""

    function: Callable[[Any], object]
    format: str = ""


class _JsonValue:
    """Marks a value that is any JSON."""


JsonValue = Annotated[Any, _JsonValue]
"""Any JSON value, copied: later changes of the original don't change a document."""


def ensure_real_date(timestamp: str) -> None:
    """Raise ValueError for the timestamp of a date that does not exist."""
    from datetime import datetime

    datetime.fromisoformat(timestamp)


def is_json_value(marker: object) -> bool:
    """Return whether a marker of an annotation is that of `JsonValue`."""
    return marker is _JsonValue
