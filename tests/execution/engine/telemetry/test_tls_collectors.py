"""Collectors that are reached by TLS, and URLs of collectors that can't be used."""

from __future__ import annotations

import datetime as dt
import ssl
from typing import TYPE_CHECKING

import pytest

from tests.execution.engine.run_repository import steps

if TYPE_CHECKING:
    from pathlib import Path

    from tests.execution.engine.run_repository import RunRepository
    from tests.execution.engine.telemetry.otlp_collector import Collector

MAKE = '```python {#api type=create_file target=src/made.py task="Build the parser"}\nX = 1\n```'
ENDPOINT, CERTIFICATE = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_CERTIFICATE"
BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


@pytest.fixture(autouse=True)
def _no_bundles(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*BUNDLES, CERTIFICATE):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def certificate(collector: Collector, tmp_path: Path) -> Path:
    """The certificate of the collector, which is not valid for any name but `localhost`."""
    pytest.importorskip("cryptography")
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    today = dt.datetime.now(dt.UTC)
    built = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(today - dt.timedelta(days=1))
        .not_valid_after(today + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path, key_path = tmp_path / "certificate.pem", tmp_path / "key.pem"
    path.write_bytes(built.public_bytes(serialization.Encoding.PEM))
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    key_path.write_bytes(key.private_bytes(pem, pkcs8, serialization.NoEncryption()))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path, key_path)
    collector.socket = context.wrap_socket(collector.socket, server_side=True)
    return path


def warnings_of_run(repository: RunRepository) -> tuple[str, ...]:
    """Run the plan and return the warnings about traces."""
    repository.approve_plan(steps(MAKE))
    finished = repository.run_plan()
    assert finished.status == "completed"
    return tuple([warning for warning in finished.warnings if "traces" in warning])


@pytest.mark.parametrize("bundle", ["", *BUNDLES])
def test_the_certificate_of_the_variable_is_trusted(
    run_repo: RunRepository, collector: Collector, certificate: Path, monkeypatch: pytest.MonkeyPatch, bundle: str
) -> None:
    if bundle:  # other programs need it, and `requests` would prefer it
        monkeypatch.setenv(bundle, str(certificate.with_name("missing.pem")))
    monkeypatch.setenv(ENDPOINT, f"https://localhost:{collector.server_address[1]}")
    monkeypatch.setenv(CERTIFICATE, str(certificate))
    assert warnings_of_run(run_repo) == ()
    assert len(collector.bodies) == 1


def test_a_certificate_that_is_not_trusted(
    run_repo: RunRepository, collector: Collector, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENDPOINT, f"https://localhost:{collector.server_address[1]}")
    (warning,) = warnings_of_run(run_repo)
    assert warning.startswith("traces were not sent: the collector's certificate is not trusted: self")
    assert warning.endswith(f"; check {ENDPOINT} and {CERTIFICATE}")


def test_a_collector_without_tls(
    run_repo: RunRepository, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENDPOINT, collector.url.replace("http:", "https:"))
    (warning,) = warnings_of_run(run_repo)
    assert warning.startswith("traces were not sent: the TLS connection failed: ")
    assert warning.endswith(f"; check {ENDPOINT} and {CERTIFICATE}")


@pytest.mark.parametrize("variable", [ENDPOINT, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"])
@pytest.mark.parametrize("url", ["localhost:4318", "127.0.0.1:4318", "collector", "file:///tmp/x", "http://[::1"])
def test_an_endpoint_that_is_not_a_url(
    run_repo: RunRepository, monkeypatch: pytest.MonkeyPatch, variable: str, url: str
) -> None:
    monkeypatch.setenv(variable, url)
    assert warnings_of_run(run_repo) == (
        f"traces were not sent: {variable} is not a URL that begins with http:// or https://",
    )
