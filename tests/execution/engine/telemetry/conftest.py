"""What the tests of traces share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.execution.engine.run_repository import RunRepository
from tests.execution.engine.telemetry.otlp_collector import VARIABLES, Collector, collect

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def collector() -> Iterator[Collector]:
    """A collector on loopback."""
    with collect() as collector:
        yield collector


@pytest.fixture
def run_repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunRepository:
    """A repository with a plan, without variables that send traces; the clock of its runs goes on."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    repository = RunRepository(tmp_path / "repo", monkeypatch)
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    repository.write("fail.sh", "echo half > half.txt\nexit 3\n")
    return repository


@pytest.fixture
def traced_repo(run_repo: RunRepository, collector: Collector, monkeypatch: pytest.MonkeyPatch) -> RunRepository:
    """A repository whose runs send traces to the collector."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    return run_repo
