"""A collector on loopback: it receives OTLP over HTTP and decodes it with the official messages."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from google.protobuf.internal.containers import RepeatedCompositeFieldContainer
    from opentelemetry.proto.common.v1.common_pb2 import KeyValue

VARIABLES = (
    "OTEL_EXPORTER_OTLP_ENDPOINT OTEL_EXPORTER_OTLP_TRACES_ENDPOINT OTEL_TRACES_EXPORTER OTEL_SDK_DISABLED "
    "OTEL_EXPORTER_OTLP_PROTOCOL OTEL_EXPORTER_OTLP_TRACES_PROTOCOL OTEL_EXPORTER_OTLP_TIMEOUT OTEL_SERVICE_NAME "
    "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT OTEL_RESOURCE_ATTRIBUTES OTEL_TRACES_SAMPLER OTEL_TRACES_SAMPLER_ARG TRACEPARENT"
).split()


class ReceivedSpan(NamedTuple):
    """A span as a collector has received it."""

    name: str
    kind: int
    trace_id: str
    span_id: str
    parent_id: str
    start: int
    end: int
    status: int
    message: str
    attributes: dict[str, Any]
    events: list[tuple[str, dict[str, Any]]]
    links: list[tuple[str, str]]
    resource: dict[str, Any]
    schema: str


class Collector(ThreadingHTTPServer):
    """A server that keeps what it receives, and answers as a test wants."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = 200
        self.headers: dict[str, str] = {}
        """Headers of the answers."""
        self.hangs = threading.Event()
        """While it is set, no request is answered."""
        self.drips = False
        """Whether an answer never ends, byte by byte."""
        self.bodies: list[bytes] = []
        self.paths: list[str] = []
        self.has_received = threading.Event()
        self.is_closing = threading.Event()

    @property
    def url(self) -> str:
        """The endpoint to name in `OTEL_EXPORTER_OTLP_ENDPOINT`."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def spans(self) -> list[ReceivedSpan]:
        """All received spans, in order."""
        requests = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        return [
            ReceivedSpan(
                span.name,
                span.kind,
                span.trace_id.hex(),
                span.span_id.hex(),
                span.parent_span_id.hex(),
                span.start_time_unix_nano,
                span.end_time_unix_nano,
                span.status.code,
                span.status.message,
                _values(span.attributes),
                [(event.name, _values(event.attributes)) for event in span.events],
                [(link.trace_id.hex(), link.span_id.hex()) for link in span.links],
                _values(group.resource.attributes),
                scope.schema_url,
            )
            for request in requests
            for group in request.resource_spans
            for scope in group.scope_spans
            for span in scope.spans
        ]


def _values(pairs: RepeatedCompositeFieldContainer[KeyValue]) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value") or "string_value") for pair in pairs}


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        """Receive spans."""
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.paths.append(self.path)
        self.server.has_received.set()
        if self.server.hangs.is_set():
            self.server.is_closing.wait(30)
            return
        self.send_response(self.server.status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.end_headers()
        while self.server.drips and not self.server.is_closing.wait(0.05):
            try:
                self.wfile.write(b"x")
            except OSError:
                return

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


def tree(spans: list[ReceivedSpan]) -> list[str]:
    """The names of spans, each indented below its parent, as they were sent; every parent must be there."""
    ids = {span.span_id for span in spans}
    assert len(ids) == len(spans), "no span is sent twice"
    assert len({span.trace_id for span in spans}) == 1
    assert all([span.parent_id in ids for span in spans if span.parent_id])

    def lines(parent: str, indent: str) -> list[str]:
        children = [span for span in spans if span.parent_id == parent]
        return [line for span in children for line in (f"{indent}{span.name}", *lines(span.span_id, f"{indent}  "))]

    return lines("", "")


def by_name(spans: list[ReceivedSpan], name: str) -> ReceivedSpan:
    """The only span with a name."""
    (span,) = [span for span in spans if span.name == name]
    return span


@contextmanager
def collect() -> Iterator[Collector]:
    """Run a collector."""
    with Collector() as collector:
        thread = threading.Thread(target=collector.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield collector
        finally:
            collector.is_closing.set()
            collector.shutdown()
            thread.join()
