"""Traces of runs that are stopped or killed, and of runs that another receiver than ours gets."""

from __future__ import annotations

import json
import os
import platform
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from execplan.core.errors import PAUSED
from tests.execution.engine.kill_sweep import finish
from tests.execution.engine.run_repository import RunRepository, steps
from tests.execution.engine.run_scenario import NAME, RunScenario, wait_for
from tests.execution.engine.telemetry.otlp_collector import by_name, tree
from tests.needs import SANDBOX_WARNING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.execution.engine.telemetry.otlp_collector import Collector

SERVER = 2
MAKE = '```python {#api type=create_file target=src/made.py task="Build the parser"}\nX = 1\n```'
SLOW = """\
```sh {#slow effect=idempotent outputs=slow.txt shell}
touch started; if [ ! -e calm ]; then sleep 60; fi; echo x > slow.txt
```"""


@pytest.fixture
def slow_repo(traced_repo: RunRepository) -> RunRepository:
    """A repository whose plan waits in its second step until a file is there."""
    traced_repo.write(".gitignore", "started\ncalm\n")
    traced_repo.commit()
    traced_repo.approve_plan(steps(MAKE, SLOW))
    return traced_repo


def start(repository: RunRepository, *arguments: str) -> subprocess.Popen[str]:
    """Start execplan in the environment of this process."""
    return subprocess.Popen(
        [sys.executable, "-m", "execplan", *arguments],
        cwd=repository.path,
        env={**os.environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def stop_while_running(repository: RunRepository, number: signal.Signals) -> subprocess.Popen[str]:
    """Run the plan and send a signal while the slow step runs; the process has ended."""
    process = start(repository, "run")
    try:
        wait_for(repository.path / "started")
        process.send_signal(number)
        process.wait(30)
    finally:
        process.kill()
    return process


def test_an_interrupted_run_is_sent_and_its_resume_continues_the_trace(
    slow_repo: RunRepository, collector: Collector
) -> None:
    process = stop_while_running(slow_repo, signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "traces" not in err
    spans = collector.spans()
    assert tree(spans) == [
        "RUN 2026-01-01_parser",
        "  api",
        "    create_file",
        "  slow",
        "    sh",
        "  approval",
    ]
    assert by_name(spans, "RUN 2026-01-01_parser").attributes["cicd.pipeline.result"] == "cancellation"
    assert by_name(spans, "sh").attributes["error.type"] == "interrupted"
    (slow_repo.path / "calm").touch()
    assert slow_repo.resume_run().status == "completed"
    assert tree(collector.spans())[-3:] == ["  RUN 2026-01-01_parser", "    slow", "      sh"]


def test_the_resume_of_a_killed_run_sends_both_sessions(slow_repo: RunRepository, collector: Collector) -> None:
    process = stop_while_running(slow_repo, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert collector.bodies == []
    (slow_repo.path / "calm").touch()
    assert slow_repo.resume_run().status == "completed"
    spans = collector.spans()
    first, second = [span for span in spans if span.name.startswith("RUN")]
    assert (first.attributes["execplan.run.status"], first.attributes["error.type"]) == ("killed", "killed")
    assert (second.parent_id, second.attributes["cicd.pipeline.result"]) == (first.span_id, "success")
    attempts = [span for span in spans if span.name == "sh"]
    results = [span.attributes["cicd.pipeline.task.run.result"] for span in attempts]
    assert results == ["error", "success"]
    assert tree(spans)[:3] == ["RUN 2026-01-01_parser", "  api", "    create_file"]


def test_an_interrupt_while_spans_are_sent_ends_the_wait_and_not_the_run(
    traced_repo: RunRepository, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "10")
    collector.hangs.set()
    traced_repo.approve_plan(steps(MAKE))
    process = start(traced_repo, "run")
    try:
        assert collector.has_received.wait(30)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0, err
    assert err == "execplan: warning: traces were not sent: interrupted\n"
    assert "completed" in out
    assert traced_repo.run_state().status == "completed"


def test_nothing_is_printed_by_the_sdk(run_repo: RunRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.getsockname()[1]}")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "no-such-compression")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "no-such-sampler")
    run_repo.approve_plan(steps(MAKE))
    process = start(run_repo, "run")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err.count("\n")) == (0, 1), err
    assert err.startswith("execplan: warning: traces were not sent: ")
    assert "completed" in out


def test_a_receiver_of_others_accepts_the_spans(run_repo: RunRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    if platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("needs oteltap: its package has a library for x86-64 only")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    receiver = subprocess.Popen(
        [sys.executable, "-m", "oteltap", "--port", str(port), "--await-span", "^rollback$"],
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert receiver.stdout is not None
        assert "Listening" in receiver.stdout.readline()
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
        run_repo.write_user_settings('rollback_on = ["failure"]')
        run_repo.approve_plan(steps(MAKE, "```sh {#fail}\nsh fail.sh\n```"))
        finished = run_repo.run_plan()
        out, _ = receiver.communicate(timeout=30)
    finally:
        receiver.kill()
        receiver.wait()
    assert (finished.status, receiver.returncode) == ("rolled_back", 0), out
    assert not [warning for warning in finished.warnings if "traces" in warning]
    matched = json.JSONDecoder().raw_decode(out[out.rindex("Received a match:") :].partition("\n")[2])[0]
    assert (matched["name"], matched["kind"]) == ("rollback", "SPAN_KIND_INTERNAL")
    assert {"key": "execplan.rollback.cause", "value": {"stringValue": "failure"}} in matched["attributes"]


@pytest.mark.exhaustive
def test_killed_at_an_entry_and_resumed_each_attempt_has_one_span(tmp_path: Path, collector: Collector) -> None:
    scenario = RunScenario(tmp_path / "stage")
    scenario.repo.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = collector.url
    for kill_point in ("before:2", "after:18", "after:37"):
        scenario.restore("approved")
        collector.bodies.clear()
        killed = scenario.run("run", NAME, kill=kill_point)
        while killed.exit == PAUSED:
            killed = scenario.run("resume", "-p", NAME, kill=kill_point)
        assert killed.exit == -signal.SIGKILL, (kill_point, killed)
        finished = finish(scenario)
        assert (finished.exit, finished.err.replace(SANDBOX_WARNING, "")) == (0, ""), (kill_point, finished)
        spans = collector.spans()
        lines = tree(spans)
        assert lines[0].startswith("RUN ")
        assert not [line for line in lines[1:] if not line.startswith(" ")], "there is one root"
        attempts = [
            (span.attributes["cicd.pipeline.task.name"], span.attributes["execplan.attempt.number"])
            for span in spans
            if "execplan.attempt.number" in span.attributes
        ]
        begun = [(entry["step"], entry["attempt"]) for entry in scenario.entries() if entry["kind"] == "intent"]
        assert sorted(attempts) == sorted(begun), kill_point
        statuses = [span.attributes.get("execplan.run.status") for span in spans if span.kind == SERVER]
        assert (statuses.count("killed"), statuses[-1]) == (1, "completed"), kill_point
