"""Settings of the OpenTelemetry exporter: which standard environment variables turn traces on, and how they are sent.

Nothing but the user's environment can: no file in a repository names an endpoint.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

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
