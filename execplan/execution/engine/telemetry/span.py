"""Spans as plain data, before OpenTelemetry encodes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

    from execplan.execution.engine.telemetry.trace_context import TraceContext

    Attributes = Mapping[str, str | int | float | bool]

SERVER: Final = "SERVER"
CLIENT: Final = "CLIENT"
INTERNAL: Final = "INTERNAL"
OK: Final = "OK"
ERROR: Final = "ERROR"
UNSET: Final = "UNSET"


class Status(NamedTuple):
    """The status of a span."""

    code: str = UNSET
    """One of OK, ERROR and UNSET."""
    description: str = ""
    """Why it is an error; empty otherwise."""


class SpanEvent(NamedTuple):
    """Something that happened during a span."""

    name: str
    time: int
    """In nanoseconds since 1970."""
    attributes: Attributes


class Span(NamedTuple):
    """A span of a run."""

    name: str
    kind: str
    """One of SERVER, CLIENT and INTERNAL."""
    context: TraceContext
    parent: TraceContext | None
    start: int
    """In nanoseconds since 1970, as `end`."""
    end: int
    attributes: Attributes
    status: Status = Status()
    events: tuple[SpanEvent, ...] = ()
    links: tuple[TraceContext, ...] = ()
    last_entry: int = 0
    """Number of the journal entry with which the span is complete."""
