"""Identity of a run's trace, and the environment variables that turn on traces and pass their context.

The context comes from the program that starts a run, and is passed to the commands of its steps as the W3C trace
context in `TRACEPARENT`. Nothing but the user's environment turns on traces: no file in a repository names an endpoint.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from execplan.core.text.text_lines import digest

HTTP: Final = "http/protobuf"
GRPC: Final = "grpc"
DEFAULT_SECONDS: Final = 3.0
"""Time limit for sending the spans of a session, in seconds; OpenTelemetry's default of 10 would be noticed."""
CERTIFICATE_VARIABLE: Final = "OTEL_EXPORTER_OTLP_CERTIFICATE"
"""Environment variable with the certificates that the collector's must be signed by."""
_MAX_SECONDS: Final = 10.0
_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_PROVIDER_PREFIX: Final = "OTEL_PYTHON_EXPORTER_OTLP_HTTP_"
_TIMEOUTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT")
VARIABLE: Final = "TRACEPARENT"
"""Environment variable with the trace context of the program that started this one, or of a step's attempt."""
_HEX_DIGITS: Final = "0123456789abcdef"


class ExporterSettings(NamedTuple):
    """How spans are sent."""

    protocol: str
    """One of HTTP and GRPC."""
    seconds: float
    """Time limit for sending the spans of a session."""
    problem: str = ""
    """Why nothing can be sent although the variables ask for it; empty if it can."""

    @property
    def timeout_problem(self) -> str:
        """Return what went wrong if the time limit is over."""
        return f"the collector did not answer within {self.seconds:g} seconds"


def find_exporter_settings(environ: Mapping[str, str] = os.environ) -> ExporterSettings | None:
    """Return how the environment says to send spans, or None if it doesn't: then nothing is imported or sent."""
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    exporters = [name.strip().lower() for name in environ.get("OTEL_TRACES_EXPORTER", "").split(",") if name.strip()]
    if "none" in exporters or not (exporters or _first_value(environ, _ENDPOINTS)):
        return None
    protocol = (_first_value(environ, _PROTOCOLS) or HTTP).lower()
    problem = ""
    if exporters and "otlp" not in exporters:
        problem = "execplan has only one exporter: set OTEL_TRACES_EXPORTER to otlp or none"
    elif protocol not in (HTTP, GRPC):
        problem = f"execplan has only two protocols: set OTEL_EXPORTER_OTLP_PROTOCOL to {HTTP} or {GRPC}"
    return ExporterSettings(protocol, _read_seconds(_first_value(environ, _TIMEOUTS)), problem)


def endpoint_variable(environ: Mapping[str, str] = os.environ) -> str:
    """Return the name of the variable with the collector's URL: the one that is set, or else the general one."""
    return next((name for name in _ENDPOINTS if environ.get(name, "").strip()), _ENDPOINTS[-1])


def names_credential_provider(environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether a plugin of the SDK provides the HTTP session, with its own credentials."""
    return any([name.startswith(_PROVIDER_PREFIX) and name.endswith("CREDENTIAL_PROVIDER") for name in environ])


def _first_value(environ: Mapping[str, str], names: tuple[str, ...]) -> str:
    """Return the value of the first variable that is set; an empty variable counts as unset."""
    return next((value for name in names if (value := environ.get(name, "").strip())), "")


def _read_seconds(text: str) -> float:
    """Return a time limit in seconds, the unit in which OpenTelemetry for Python reads the variable."""
    try:
        seconds = float(text)
    except ValueError:
        return DEFAULT_SECONDS
    return min(seconds, _MAX_SECONDS) if seconds > 0 else DEFAULT_SECONDS


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
