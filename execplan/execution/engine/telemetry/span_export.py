"""Export of spans with the OpenTelemetry SDK, which the `otel` extra installs; the only importer of `opentelemetry`."""

from __future__ import annotations

import logging
import os
import socket
import ssl
import warnings
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

import requests
from opentelemetry import trace as trace_api
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider, sampling
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.trace.id_generator import IdGenerator

import execplan
from execplan.execution.engine.telemetry.span_attributes import ERROR, OK, SCHEMA_URL
from execplan.execution.engine.telemetry.trace_context import (
    CERTIFICATE_VARIABLE,
    GRPC,
    endpoint_variable,
    names_credential_provider,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter

    from execplan.execution.engine.telemetry.span_attributes import Attributes, Span
    from execplan.execution.engine.telemetry.trace_context import ExporterSettings, TraceContext

_FIRST_REDIRECT, _FIRST_ERROR = 300, 400
_BATCH_SIZE = 512
"""Maximum number of spans in a request, as in OpenTelemetry's batch processor."""
_STATUS_CODES = {OK: trace_api.StatusCode.OK, ERROR: trace_api.StatusCode.ERROR}


class CollectorSession(requests.Session):
    """A session that keeps the response, or the error, of its last request."""

    def __init__(self) -> None:
        super().__init__()
        self.response: requests.Response | None = None
        self.error: requests.RequestException | None = None

    def request(self, *arguments: Any, **options: Any) -> requests.Response:
        """Send a request, as `requests` does. Raises RequestException."""
        self.response = self.error = None
        if isinstance(self.verify, str):  # REQUESTS_CA_BUNDLE would override the certificate of the exporter
            options.setdefault("verify", self.verify)
        try:
            self.response = super().request(*arguments, **options)
        except requests.RequestException as error:
            self.error = error
            raise
        return self.response

    def describe_rejection(self) -> str:
        """Return which answer of the collector means that it hasn't taken the spans, or an empty string."""
        if self.response is None or self.response.status_code < _FIRST_REDIRECT:
            return ""
        answer = f"the collector answered {self.response.status_code} {self.response.reason}".rstrip()
        is_redirect = self.response.status_code < _FIRST_ERROR
        return f"{answer}; redirects are not followed: check {endpoint_variable()}" if is_redirect else answer

    @property
    def has_timed_out(self) -> bool:
        """Whether the collector didn't answer the last request in time."""
        return isinstance(self.error, requests.Timeout)


def is_url_error(error: BaseException) -> bool:
    """Return whether an error says that a URL is not one of HTTP."""
    return isinstance(
        error, requests.exceptions.InvalidSchema | requests.exceptions.InvalidURL | requests.exceptions.MissingSchema
    )


class MissingExporterError(Exception):
    """The package that speaks gRPC is not installed."""

    def __str__(self) -> str:
        return "gRPC needs another package: pip install opentelemetry-exporter-otlp-proto-grpc"


def export_spans(
    spans: Sequence[Span],
    root: TraceContext,
    parent: TraceContext | None,
    resource: Attributes,
    settings: ExporterSettings,
) -> str:
    """Send spans of one trace and return what went wrong, or an empty string.

    The sampler that the environment names decides about the trace by its root span and the `parent` of that.
    """
    with warnings.catch_warnings(), _captured_log() as log:
        warnings.simplefilter("ignore")  # of the SDK's own dependencies: nobody who runs a plan can act on them
        if not _is_sampled(root, parent):
            return ""
        encoded_spans = _make_spans(spans, _make_resource(resource))
        session = CollectorSession()
        exporter = _make_exporter(settings, session)
        try:
            for start in range(0, len(encoded_spans), _BATCH_SIZE):
                result = exporter.export(encoded_spans[start : start + _BATCH_SIZE])
                if rejection := session.describe_rejection():  # for the SDK, a redirect is a success
                    return rejection
                if result is not SpanExportResult.SUCCESS:
                    return settings.timeout_problem if session.has_timed_out else log.describe_failure()
        finally:
            exporter.shutdown()
    return ""


def _make_exporter(settings: ExporterSettings, session: CollectorSession) -> SpanExporter:
    """Return the exporter for a protocol; it reads everything else from the standard variables.

    With HTTP, it uses the session, unless the environment names a plugin that provides another one.
    """
    if settings.protocol == GRPC:
        try:
            grpc_exporter = import_module("opentelemetry.exporter.otlp.proto.grpc.trace_exporter")
        except ImportError:
            raise MissingExporterError from None
        exporter: SpanExporter = grpc_exporter.OTLPSpanExporter(timeout=settings.seconds)
        return exporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(timeout=settings.seconds, session=None if names_credential_provider() else session)


def _is_sampled(root: TraceContext, parent: TraceContext | None) -> bool:
    """Return whether the environment's sampler keeps the trace; all sessions of a run get the same answer."""
    sampler = TracerProvider(shutdown_on_exit=False).sampler
    decision = sampler.should_sample(_parent_context(parent), int(root.trace_id, 16), "RUN").decision
    return decision is sampling.Decision.RECORD_AND_SAMPLE


def _make_resource(attributes: Attributes) -> Resource:
    """Return what the spans are about; variables of the user's environment override the name of the service."""
    detected = Resource.create()
    is_named = not str(detected.attributes.get(SERVICE_NAME, "")).startswith("unknown_service")
    own = {SERVICE_VERSION: execplan.__version__, **({} if is_named else {SERVICE_NAME: "execplan"}), **attributes}
    return detected.merge(Resource(own, SCHEMA_URL))


class _PresetIds(IdGenerator):
    """A generator that returns the ID of the span that is made next."""

    def __init__(self) -> None:
        self.context: TraceContext | None = None

    def generate_trace_id(self) -> int:
        """Return the ID of the trace."""
        assert self.context is not None
        return int(self.context.trace_id, 16)

    def generate_span_id(self) -> int:
        """Return the ID of the span."""
        assert self.context is not None
        return int(self.context.span_id, 16)


class _SpanCollector(SpanProcessor):
    """A processor that keeps all spans."""

    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        """Keep a span that has ended."""
        self.spans.append(span)


def _make_spans(spans: Sequence[Span], resource: Resource) -> list[ReadableSpan]:
    """Return spans in the form of the SDK, which applies the limits that the environment sets."""
    ids, collector = _PresetIds(), _SpanCollector()
    provider = TracerProvider(sampler=sampling.ALWAYS_ON, resource=resource, id_generator=ids, shutdown_on_exit=False)
    provider.add_span_processor(collector)
    tracer = provider.get_tracer("execplan", execplan.__version__, schema_url=SCHEMA_URL)
    for span in spans:
        ids.context = span.context
        sdk_span = tracer.start_span(
            span.name,
            context=_parent_context(span.parent),
            kind=trace_api.SpanKind[span.kind],
            attributes=dict(span.attributes),
            links=[trace_api.Link(_span_context(link)) for link in span.links],
            start_time=span.start,
        )
        for event in span.events:
            sdk_span.add_event(event.name, dict(event.attributes), timestamp=event.time)
        if span.status.code in _STATUS_CODES:
            sdk_span.set_status(trace_api.Status(_STATUS_CODES[span.status.code], span.status.description or None))
        sdk_span.end(span.end)
    return collector.spans


def _span_context(context: TraceContext) -> trace_api.SpanContext:
    flags = trace_api.TraceFlags(trace_api.TraceFlags.SAMPLED if context.is_sampled else trace_api.TraceFlags.DEFAULT)
    return trace_api.SpanContext(int(context.trace_id, 16), int(context.span_id, 16), is_remote=True, trace_flags=flags)


def _parent_context(parent: TraceContext | None) -> Context:
    """Return the context whose current span is the parent; an empty one for no parent."""
    span = trace_api.INVALID_SPAN if parent is None else trace_api.NonRecordingSpan(_span_context(parent))
    return trace_api.set_span_in_context(span)


class _LogCapture(logging.Handler):
    """The messages of the SDK, which would otherwise appear on standard error."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a message for `describe_failure`."""
        self.records.append(record)

    def describe_failure(self) -> str:
        """Return why an export failed: the collector's status, the system's error, or the SDK's last message."""
        arguments = [argument for record in self.records for argument in _arguments(record)]
        errors = [argument for argument in arguments if isinstance(argument, BaseException)]
        if errors:
            return _describe_error(errors[-1])
        for record in reversed(self.records):
            status, reason = ([*_arguments(record), "", "", ""])[1:3]
            if isinstance(status, int):
                return f"the collector answered {status} {reason}".rstrip()
        message = self.records[-1].getMessage() if self.records else ""
        return message if message and "max retries" not in message else "the collector can't be reached"


def _arguments(record: logging.LogRecord) -> tuple[object, ...]:
    return record.args if isinstance(record.args, tuple) else ()


def _describe_error(error: BaseException) -> str:
    """Return the innermost cause of an error: the HTTP libraries wrap that of the system several times."""
    if is_url_error(error):
        return f"{endpoint_variable()} is not a URL that begins with http:// or https://"
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    # The numbers of the following errors are not those of the system.
    if isinstance(error, socket.gaierror):
        return f"the collector's host name can't be resolved; check {endpoint_variable()}"
    if isinstance(error, ssl.SSLError):
        problem = f"the TLS connection failed: {(error.reason or str(error)).replace('_', ' ').lower()}"
        if isinstance(error, ssl.SSLCertVerificationError):
            problem = f"the collector's certificate is not trusted: {error.verify_message.rstrip('.')}"
        return f"{problem}; check {endpoint_variable()} and {CERTIFICATE_VARIABLE}"
    system_text = os.strerror(error.errno).lower() if isinstance(error, OSError) and error.errno else ""
    return system_text or str(error) or type(error).__name__


@contextmanager
def _captured_log() -> Iterator[_LogCapture]:
    """Capture the messages of the SDK and its HTTP library; handlers of an application still get them."""
    capture = _LogCapture()
    loggers = [logging.getLogger(name) for name in ("opentelemetry", "urllib3", "requests")]
    for logger in loggers:
        logger.addHandler(capture)
    try:
        yield capture
    finally:
        for logger in loggers:
            logger.removeHandler(capture)
