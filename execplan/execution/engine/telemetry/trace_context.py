"""Identity of a run's trace: the IDs of its trace and spans, and the W3C trace context in `TRACEPARENT`.

The context comes from the program that starts a run, and is passed to the commands of its steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from execplan.core.text.text_lines import digest
from execplan.execution.engine.telemetry.exporter_settings import find_exporter_settings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

VARIABLE: Final = "TRACEPARENT"
"""Environment variable with the trace context of the program that started this one, or of a step's attempt."""
_HEX_DIGITS: Final = "0123456789abcdef"


class TraceContext(NamedTuple):
    """A span in a trace, as W3C Trace Context identifies it."""

    trace_id: str
    """32 lower-case hex digits."""
    span_id: str
    """16 lower-case hex digits."""
    is_sampled: bool = True

    @property
    def traceparent(self) -> str:
        """The text form, as in `TRACEPARENT`."""
        return f"00-{self.trace_id}-{self.span_id}-{int(self.is_sampled):02x}"


def parse_traceparent(text: str) -> TraceContext | None:
    """Return the span that a `traceparent` names, or None if the text is not valid.

    Later versions may have further parts, which W3C Trace Context says to ignore.
    """
    parts = text.strip().split("-")
    if len(parts) < 4 or [len(part) for part in parts[:4]] != [2, 32, 16, 2]:
        return None
    version, trace_id, span_id, flags = parts[:4]
    is_hex = not "".join(parts[:4]).strip(_HEX_DIGITS)
    if not is_hex or version == "ff" or (version == "00" and len(parts) > 4) or not trace_id.strip("0"):
        return None
    return TraceContext(trace_id, span_id, bool(int(flags, 16) & 1)) if span_id.strip("0") else None


class RunTrace(NamedTuple):
    """The trace of a run, the same in all its sessions because all IDs are derived from the journal's first entry."""

    seed: str
    parent: TraceContext | None
    """The span of the program that started the run; None if the trace has its own ID."""

    @property
    def trace_id(self) -> str:
        """ID of the trace: that of the parent, if there is one."""
        return self.parent.trace_id if self.parent is not None else digest(self.seed.encode())[:32]

    def span_id(self, *names: object) -> str:
        """Return the ID of a span of the run, which `names` identify within it."""
        return digest("\0".join([self.seed, *map(str, names)]).encode("utf-8", "backslashreplace"))[:16]

    def session(self, number: int) -> TraceContext:
        """Return the span of a session of the run; `number` counts from 1."""
        return self._context("session", number)

    def attempt(self, step: str, number: int) -> TraceContext:
        """Return the span of an attempt of a step."""
        return self._context("attempt", step, number)

    def _context(self, *names: object) -> TraceContext:
        is_sampled = self.parent is None or self.parent.is_sampled
        return TraceContext(self.trace_id, self.span_id(*names), is_sampled)


def trace_of_run(begin_fields: Mapping[str, Any]) -> RunTrace:
    """Return the trace of a run from the fields of its journal's first entry.

    The ID of an approval is random, so two runs with the same ID in different repositories have different traces.
    """
    seed = "\0".join([begin_fields[name] for name in ("plan_id", "run", "approval_id")])
    return RunTrace(seed, parse_traceparent(begin_fields.get("traceparent", "")))


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
