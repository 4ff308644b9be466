"""Trace context in environment variables: from the program that starts a run, and for the commands of its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.execution.engine.telemetry.exporter_settings import find_exporter_settings
from execplan.execution.engine.telemetry.trace_context import VARIABLE, parse_traceparent, trace_of_run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def caller_fields(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the field of a run's first entry with the span that started the run, if traces are sent.

    It is recorded so that later sessions of the run, in other environments, belong to the same trace.
    """
    caller = parse_traceparent(environ.get(VARIABLE, "")) if find_exporter_settings(environ) is not None else None
    return {"traceparent": caller.traceparent} if caller is not None else {}


def attempt_traceparent(begin_fields: Mapping[str, Any], step: str, attempt: int) -> str:
    """Return the trace context for the commands of an attempt; empty if no traces are sent."""
    if find_exporter_settings() is None:
        return ""
    return trace_of_run(begin_fields).attempt(step, attempt).traceparent
