"""Traces of runs whose steps run on the workers of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.execution.engine.executors.cluster import Cluster
from tests.execution.engine.run_repository import RunRepository, steps
from tests.execution.engine.telemetry.otlp_collector import Collector, by_name

if TYPE_CHECKING:
    from pathlib import Path


def test_an_attempt_names_its_worker_and_its_command_gets_the_trace_context(
    traced_repo: RunRepository, collector: Collector, tmp_path: Path
) -> None:
    pytest.importorskip("distributed")
    cluster = Cluster(tmp_path / "cluster")
    try:
        cluster.start_worker()
        traced_repo.write_user_settings('environment = ["TRACEPARENT"]\nsandbox = "off"')
        show = '```sh {#show inputs=src/other.py outputs=seen.txt shell}\necho "$TRACEPARENT" > seen.txt\n```'
        traced_repo.approve_plan(steps(show))
        assert traced_repo.run_plan(executor=cluster.address).status == "completed"
    finally:
        cluster.close()
    attempt = by_name(collector.spans(), "sh")
    (intent,) = [entry for entry in traced_repo.entries() if entry.kind == "intent"]
    assert attempt.attributes["cicd.worker.name"] == intent.fields["worker"]
    assert traced_repo.text("seen.txt") == f"00-{attempt.trace_id}-{attempt.span_id}-01\n"
