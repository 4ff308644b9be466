"""Which variables of the environment let traces be sent, and how."""

from __future__ import annotations

import pytest

from execplan.execution.engine.telemetry.trace_context import GRPC, HTTP, find_exporter_settings

ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": ""},
        {"OTEL_SERVICE_NAME": "x", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "x"},
        {**ENDPOINT, "OTEL_SDK_DISABLED": "TRUE"},
        {**ENDPOINT, "OTEL_TRACES_EXPORTER": "none"},
    ],
)
def test_nothing_is_sent(environ: dict[str, str]) -> None:
    assert find_exporter_settings(environ) is None


@pytest.mark.parametrize(
    ("environ", "protocol", "seconds"),
    [
        (ENDPOINT, HTTP, 3.0),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1/v1/traces"}, HTTP, 3.0),
        ({"OTEL_TRACES_EXPORTER": " OTLP , console"}, HTTP, 3.0),
        ({**ENDPOINT, "OTEL_SDK_DISABLED": "yes"}, HTTP, 3.0),
        ({**ENDPOINT, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, GRPC, 3.0),
        (
            {
                **ENDPOINT,
                "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
                "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf",
            },
            HTTP,
            3.0,
        ),
        ({**ENDPOINT, "OTEL_EXPORTER_OTLP_TIMEOUT": "5"}, HTTP, 5.0),
        ({**ENDPOINT, "OTEL_EXPORTER_OTLP_TIMEOUT": "5", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "0.25"}, HTTP, 0.25),
        ({**ENDPOINT, "OTEL_EXPORTER_OTLP_TIMEOUT": "10000"}, HTTP, 10.0),
        *[({**ENDPOINT, "OTEL_EXPORTER_OTLP_TIMEOUT": text}, HTTP, 3.0) for text in ("0", "-1", "nan", "soon")],
    ],
)
def test_how_traces_are_sent(environ: dict[str, str], protocol: str, seconds: float) -> None:
    settings = find_exporter_settings(environ)
    assert settings is not None
    assert (settings.protocol, settings.seconds, settings.problem) == (protocol, seconds, "")


@pytest.mark.parametrize(
    ("variable", "value"),
    [("OTEL_TRACES_EXPORTER", "zipkin,console"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")],
)
def test_what_execplan_does_not_have_is_a_problem_that_names_the_variable(variable: str, value: str) -> None:
    settings = find_exporter_settings({**ENDPOINT, variable: value})
    assert settings is not None
    assert variable in settings.problem
    assert value not in settings.problem
