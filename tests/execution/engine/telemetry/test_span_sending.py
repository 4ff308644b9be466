"""Traces of runs, as a collector on loopback receives them, and collectors that don't work."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.installation import extra_hint
from execplan.core.timestamps import parse_utc_timestamp
from execplan.execution import states
from execplan.execution.engine.recovery.rollback import rollback
from execplan.execution.engine.run_observer import RunObserver
from tests.execution.engine.agent_runs.agent import COPY as AGENT_COPY
from tests.execution.engine.agent_runs.agent import MAKE as AGENT_MAKE
from tests.execution.engine.agent_runs.agent import Agent
from tests.execution.engine.fakes import AnsweringObserver
from tests.execution.engine.run_repository import RunRepository, steps
from tests.execution.engine.telemetry.otlp_collector import by_name, tree

if TYPE_CHECKING:
    from pathlib import Path

    from tests.execution.engine.telemetry.otlp_collector import Collector

MAKE = '```python {#api type=create_file target=src/made.py task="Build the parser"}\nX = 1\n```'
COPY = "```sh {#see needs=api outputs=made.txt}\ncp src/made.py made.txt\n```"
FAIL = "```sh {{#fail{0}}}\nsh fail.sh\n```"
SLEEP = "```sh {{#{0} parallel outputs={0}.txt shell}}\nsleep 0.2; echo x > {0}.txt\n```"
CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
UNSET, OK, ERROR = 0, 1, 2
INTERNAL, SERVER, CLIENT = 1, 2, 3


def test_a_completed_run_is_one_trace(traced_repo: RunRepository, collector: Collector) -> None:
    traced_repo.approve_plan(steps(MAKE, COPY))
    finished = traced_repo.run_plan()
    assert finished.status == "completed"
    assert not [warning for warning in finished.warnings if "traces" in warning]
    assert collector.paths == ["/v1/traces"]
    spans = collector.spans()
    assert tree(spans) == [
        "RUN 2026-01-01_parser",
        "  api",
        "    create_file",
        "  see",
        "    cp",
        "  approval",
    ]
    run_span, step_span, attempt_span = [by_name(spans, name) for name in ("RUN 2026-01-01_parser", "see", "cp")]
    assert (run_span.kind, step_span.kind, attempt_span.kind) == (SERVER, INTERNAL, CLIENT)
    assert {span.status for span in spans} == {OK}
    assert run_span.attributes == {
        "cicd.pipeline.name": "2026-01-01_parser",
        "cicd.pipeline.run.id": finished.run,
        "cicd.pipeline.action.name": "RUN",
        "cicd.pipeline.result": "success",
        "execplan.run.status": "completed",
        "execplan.run.mode": "engine",
        "execplan.session.number": 1,
        "execplan.plan.revision": 1,
    }
    assert step_span.attributes == {
        "cicd.pipeline.task.name": "see",
        "cicd.pipeline.task.run.id": f"{finished.run}/see",
        "cicd.pipeline.task.type": "execute_command",
        "cicd.pipeline.task.run.result": "success",
        "execplan.step.status": "completed",
    }
    assert attempt_span.attributes == {
        "cicd.pipeline.task.name": "see",
        "cicd.pipeline.task.run.id": f"{finished.run}/see/1",
        "cicd.pipeline.task.run.result": "success",
        "process.executable.name": "cp",
        "process.exit.code": 0,
        "execplan.attempt.number": 1,
        "execplan.attempt.approved_by": "person",
        "execplan.attempt.changed_files": 1,
    }
    resource = run_span.resource
    assert (resource["service.name"], resource["cicd.pipeline.run.id"]) == ("execplan", finished.run)
    assert resource["vcs.ref.head.revision"] == traced_repo.git("rev-parse", "HEAD").strip()
    assert (resource["vcs.ref.head.name"], resource["vcs.ref.head.type"]) == ("main", "branch")
    assert run_span.schema == "https://opentelemetry.io/schemas/1.44.0"


def test_the_times_are_those_of_the_journal(traced_repo: RunRepository, collector: Collector) -> None:
    traced_repo.approve_plan(steps(SLEEP.format("a").replace("0.2", "1.1"), COPY.replace("needs=api ", "")))
    traced_repo.write("src/made.py", "X = 1\n")
    before = time.time_ns()
    traced_repo.run_plan()
    after, spans, entries = time.time_ns(), collector.spans(), traced_repo.entries()
    second = 10**9
    for name, begin, end in (("a", "intent a", "result a"), ("see", "intent see", "result see")):
        span = by_name(spans, name)
        first, last = [entry for entry in entries if f"{entry.kind} {entry.fields.get('step')}" in (begin, end)]
        assert (span.start // second, span.end // second) == tuple(map(parse_utc_timestamp, (first.at, last.at)))
        assert before <= span.start < span.end <= after
        assert span.end - span.start >= last.fields["seconds"] * second
    run_span = by_name(spans, "RUN 2026-01-01_parser")
    assert all([run_span.start <= span.start <= span.end <= run_span.end for span in spans])


def test_a_failed_run_has_its_retries_and_its_rollback(traced_repo: RunRepository, collector: Collector) -> None:
    traced_repo.write_user_settings('rollback_on = ["failure"]')
    traced_repo.approve_plan(
        steps(MAKE, FAIL.format(" on-failure=retry retry=2"), COPY.replace("needs=api", "needs=fail"))
    )
    finished = traced_repo.run_plan()
    assert finished.status == states.ROLLED_BACK
    spans = collector.spans()
    assert tree(spans) == [
        "RUN 2026-01-01_parser",
        "  api",
        "    create_file",
        "  fail",
        "    sh",
        "    sh",
        "    sh",
        "  see",
        "  approval",
        "  rollback",
    ]
    attempts = [span for span in spans if span.name == "sh"]
    assert [span.attributes["execplan.attempt.number"] for span in attempts] == [1, 2, 3]
    for span in attempts:
        assert (span.status, span.message) == (ERROR, "exit status 3, not 0")
        assert span.attributes["process.exit.code"] == 3
        assert span.attributes["error.type"] == "exit"
        assert span.attributes["cicd.pipeline.task.run.result"] == "failure"
    step_span, blocked, run_span = [by_name(spans, name) for name in ("fail", "see", "RUN 2026-01-01_parser")]
    assert [name for name, _ in step_span.events] == ["execplan.changes_undone"] * 3
    assert (step_span.status, step_span.attributes["execplan.step.status"]) == (ERROR, "failed")
    assert (blocked.status, blocked.attributes["execplan.step.status"]) == (UNSET, "blocked")
    assert blocked.attributes["cicd.pipeline.task.run.result"] == "skip"
    assert (run_span.status, run_span.message) == (ERROR, "step fail failed: exit status 3, not 0")
    assert run_span.attributes["cicd.pipeline.result"] == "failure"
    assert run_span.attributes["error.type"] == "failure"
    rollback_span = by_name(spans, "rollback")
    assert rollback_span.attributes["execplan.rollback.cause"] == "failure"
    assert rollback_span.end <= run_span.end


def test_steps_that_are_skipped_or_replaced(traced_repo: RunRepository, collector: Collector) -> None:
    weak = FAIL.format(" on-failure=alternative:strong").replace("#fail", "#weak")
    strong = "```sh {#strong outputs=made.txt}\ncp Makefile made.txt\n```"
    traced_repo.approve_plan(steps(FAIL.format(" on-failure=skip"), weak, strong))
    assert traced_repo.run_plan().status == "completed"
    spans = collector.spans()
    statuses = {name: by_name(spans, name).attributes["execplan.step.status"] for name in ("fail", "weak", "strong")}
    assert statuses == {"fail": "skipped", "weak": "recovered", "strong": "completed"}
    weak_span = by_name(spans, "weak")
    assert (weak_span.attributes["error.type"], weak_span.message) == ("recovered", "replaced by strong")
    assert ("execplan.step_recovered", {"execplan.recovered_by": "strong"}) in weak_span.events
    assert by_name(spans, "fail").status == UNSET
    assert by_name(spans, "RUN 2026-01-01_parser").status == OK


def test_parallel_steps_overlap(traced_repo: RunRepository, collector: Collector) -> None:
    traced_repo.approve_plan(steps(SLEEP.format("left"), SLEEP.format("right")))
    assert traced_repo.run_plan(jobs=2).status == "completed"
    left, right = [by_name(collector.spans(), name) for name in ("left", "right")]
    assert max(left.start, right.start) < min(left.end, right.end)
    assert left.parent_id == right.parent_id


def test_a_resumed_run_continues_its_trace(traced_repo: RunRepository, collector: Collector) -> None:
    traced_repo.approve_plan(steps(MAKE.replace("#api", "#api checkpoint"), COPY))
    assert traced_repo.run_plan().question is not None
    paused = collector.spans()
    assert tree(paused) == ["RUN 2026-01-01_parser", "  api", "    create_file", "  approval"]
    run_span = by_name(paused, "RUN 2026-01-01_parser")
    assert (run_span.status, run_span.attributes["execplan.run.status"]) == (UNSET, "paused")
    assert "cicd.pipeline.result" not in run_span.attributes
    assert traced_repo.resume_run().status == "completed"
    spans = collector.spans()
    assert spans[: len(paused)] == paused
    assert tree(spans) == [
        "RUN 2026-01-01_parser",
        "  api",
        "    create_file",
        "  approval",
        "  RUN 2026-01-01_parser",
        "    see",
        "      cp",
        "  question checkpoint",
    ]
    first, second = [span for span in spans if span.name.startswith("RUN")]
    assert second.links == [(first.trace_id, first.span_id)]
    question = by_name(spans, "question checkpoint")
    assert question.attributes == {
        "execplan.question.reason": "checkpoint",
        "execplan.question.answer": "go",
        "cicd.pipeline.task.name": "api",
    }
    assert first.start < question.start <= question.end
    assert second.start < question.end < second.end


def test_a_question_that_is_answered_on_a_terminal_has_its_time(
    traced_repo: RunRepository, collector: Collector
) -> None:
    class Slow(AnsweringObserver):
        def ask(self, question: object) -> str | None:
            time.sleep(0.3)
            return super().ask(question)  # type: ignore[arg-type]  # one of the engine's

    traced_repo.approve_plan(steps(MAKE.replace("#api", "#api confirm")))
    assert traced_repo.run_plan(Slow(confirm="go")).status == "completed"
    question = by_name(collector.spans(), "question confirm")
    assert question.end - question.start >= 0.3 * 10**9
    (answer,) = [entry for entry in traced_repo.entries() if entry.kind == "answered"]
    assert answer.fields["seconds"] >= 0.3


def test_a_rollback_on_request_is_sent_once(traced_repo: RunRepository, collector: Collector) -> None:
    traced_repo.approve_plan(steps(MAKE, COPY))
    traced_repo.run_plan()
    for step, count in (("see", 1), ("api", 2)):
        rollback(
            traced_repo.last_run(), step=step, automatic="", observer=RunObserver(), options=WriteOptions(commit=False)
        )
        rollbacks = [span for span in collector.spans() if span.name == "rollback"]
        assert len(rollbacks) == count
    assert {span.parent_id for span in rollbacks} == {by_name(collector.spans(), "RUN 2026-01-01_parser").span_id}
    assert [span.attributes["execplan.rollback.removed_files"] for span in rollbacks] == [1, 1]


def test_an_agents_run_is_sent_when_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, collector: Collector
) -> None:
    agent = Agent(tmp_path / "repo", monkeypatch).plan_steps(AGENT_MAKE, AGENT_COPY)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    agent.make_file().report_completed("make")
    assert collector.bodies == []
    agent.write("out.txt", "y = 1\n")
    assert agent.report_completed("copy")["status"] == "completed"
    spans = collector.spans()
    assert tree(spans)[0] == "RUN 2026-01-01_parser"
    assert [by_name(spans, name).attributes["execplan.step.status"] for name in ("make", "copy")] == ["completed"] * 2
    assert by_name(spans, "RUN 2026-01-01_parser").attributes["execplan.run.mode"] == "agent"
    assert by_name(spans, "cp").parent_id == by_name(spans, "copy").span_id


def test_the_span_that_starts_a_run_is_its_parent_in_all_sessions(
    traced_repo: RunRepository, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    traced_repo.approve_plan(steps(MAKE.replace("#api", "#api checkpoint"), COPY))
    monkeypatch.setenv("TRACEPARENT", CALLER)
    traced_repo.run_plan()
    other = CALLER.replace("b7ad", "0000")
    monkeypatch.setenv("TRACEPARENT", other)
    traced_repo.resume_run()
    first, second = [span for span in collector.spans() if span.name.startswith("RUN")]
    _, trace_id, caller_id, _ = CALLER.split("-")
    assert (first.trace_id, first.parent_id, first.links) == (trace_id, caller_id, [])
    assert (second.trace_id, second.parent_id) == (trace_id, first.span_id)
    assert second.links == [(trace_id, first.span_id), (trace_id, other.split("-")[2])]


def test_a_command_gets_its_trace_context_only_if_the_user_allows_the_variable(
    traced_repo: RunRepository, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    show = '```sh {#show outputs=seen.txt shell}\necho "${TRACEPARENT-unset}" > seen.txt\n```'
    monkeypatch.setenv("TRACEPARENT", CALLER)
    traced_repo.approve_plan(steps(show))
    traced_repo.run_plan()
    assert traced_repo.text("seen.txt") == "unset\n"
    (traced_repo.path / "seen.txt").unlink()
    traced_repo.write_user_settings('environment = ["TRACEPARENT"]')
    traced_repo.approve_plan(steps(show))
    assert traced_repo.run_plan().status == "completed"
    attempt = [span for span in collector.spans() if span.name == "sh"][-1]
    assert traced_repo.text("seen.txt") == f"00-{attempt.trace_id}-{attempt.span_id}-01\n"
    assert attempt.trace_id == CALLER.split("-")[1]


@pytest.mark.parametrize(
    ("variables", "is_sent"),
    [
        ({"OTEL_TRACES_SAMPLER": "always_off"}, False),
        ({"TRACEPARENT": CALLER.removesuffix("01") + "00"}, False),
        ({"TRACEPARENT": CALLER.removesuffix("01") + "00", "OTEL_TRACES_SAMPLER": "always_on"}, True),
        ({"OTEL_TRACES_EXPORTER": "none"}, False),
        ({"OTEL_SDK_DISABLED": "true"}, False),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_SERVICE_NAME": "mine"}, True),
    ],
)
def test_the_standard_variables_decide(
    traced_repo: RunRepository,
    collector: Collector,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    is_sent: bool,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    traced_repo.approve_plan(steps(MAKE))
    assert traced_repo.run_plan().warnings == ()
    assert bool(collector.bodies) == is_sent
    names = {span.resource["service.name"] for span in collector.spans()}
    assert names == ({variables.get("OTEL_SERVICE_NAME", "execplan")} if is_sent else set())


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "only one exporter: set OTEL_TRACES_EXPORTER to otlp or none"),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"}, "only two protocols: set OTEL_EXPORTER_OTLP_PROTOCOL to"),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "pip install opentelemetry-exporter-otlp-proto-grpc"),
    ],
)
def test_what_cannot_be_sent_is_a_warning(
    traced_repo: RunRepository,
    collector: Collector,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    message: str,
) -> None:
    if "grpc" in message:
        monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.grpc.trace_exporter", None)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    traced_repo.approve_plan(steps(MAKE))
    finished = traced_repo.run_plan()
    (warning,) = finished.warnings
    assert finished.status == "completed"
    assert warning.startswith("traces were not sent: ")
    assert message in warning
    assert collector.bodies == []


def test_a_missing_extra_is_a_warning(
    traced_repo: RunRepository, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "execplan.execution.engine.telemetry.span_export", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    traced_repo.approve_plan(steps(MAKE))
    finished = traced_repo.run_plan()
    hint = f"the OpenTelemetry SDK is not installed; {extra_hint('otel')}"
    assert (finished.status, finished.warnings) == ("completed", (f"traces were not sent: {hint}",))


def test_a_collector_that_answers_with_an_error(traced_repo: RunRepository, collector: Collector) -> None:
    collector.status = 500
    traced_repo.approve_plan(steps(MAKE))
    result = traced_repo.type("run")
    assert result.exit == 0, result
    assert result.err.count("\n") == 1
    assert "warning: traces were not sent: the collector answered 500 Internal Server Error" in result.err
    assert "completed" in result.out


@pytest.mark.parametrize("status", [302, 307, 308])
def test_a_redirect_is_not_followed_and_is_a_warning(
    traced_repo: RunRepository, collector: Collector, status: int
) -> None:
    collector.status, collector.headers = status, {"Location": f"{collector.url}/elsewhere"}
    traced_repo.approve_plan(steps(MAKE))
    (warning,) = traced_repo.run_plan().warnings
    assert warning.startswith(f"traces were not sent: the collector answered {status} ")
    assert warning.endswith("; redirects are not followed: check OTEL_EXPORTER_OTLP_ENDPOINT")
    assert collector.paths == ["/v1/traces"]


def test_a_collector_that_is_unavailable_for_longer_than_the_limit(
    traced_repo: RunRepository, collector: Collector
) -> None:
    collector.status, collector.headers = 503, {"Retry-After": "60"}
    traced_repo.approve_plan(steps(MAKE))
    expected = "traces were not sent: the collector answered 503 Service Unavailable"
    assert traced_repo.run_plan().warnings == (expected,)


def test_a_collector_that_is_not_there(run_repo: RunRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", f"http://127.0.0.1:{port}/v1/traces")
    run_repo.approve_plan(steps(MAKE))
    document = run_repo.type("run", "--json")
    assert document.exit == 0
    assert document.err == ""
    assert document.json["warnings"] == ["traces were not sent: connection refused"]


@pytest.mark.parametrize("variable", ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"])
def test_a_collector_whose_name_is_unknown(
    run_repo: RunRepository, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, f"http://{'x.' * 150}invalid:4318")  # too long to ask a server for it
    run_repo.approve_plan(steps(MAKE))
    assert run_repo.run_plan().warnings == (
        f"traces were not sent: the collector's host name can't be resolved; check {variable}",
    )


@pytest.mark.parametrize("kind", ["hangs", "drips"])
def test_a_collector_that_does_not_answer_delays_nothing_for_long(
    traced_repo: RunRepository, collector: Collector, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.5")
    if kind == "hangs":
        collector.hangs.set()
    else:
        collector.drips = True
    traced_repo.approve_plan(steps(MAKE))
    project, ref = traced_repo.project()
    finished = traced_repo.run_plan()
    assert finished.status == "completed"
    assert finished.warnings == ("traces were not sent: the collector did not answer within 0.5 seconds",)
    assert traced_repo.run_state().status == "completed"
    assert json.loads((traced_repo.path / project.display_path(traced_repo.last_run().record)).read_bytes())
    assert ref.id == "2026-01-01_parser"


def test_no_secret_is_in_a_span(
    traced_repo: RunRepository, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = "ghp_" + "a1B2" * 9
    monkeypatch.setenv("MY_PASSWORD", "tr0ub4dor-and-three")
    command = (
        f"```sh {{#fetch on-failure=skip shell}}\nsh fail.sh --token {token}; echo tr0ub4dor-and-three; exit 4\n```"
    )
    expected = '```sh {#look expect="tr0ub4dor-and-three and more" shell}\necho tr0ub4dor-and-three\n```'
    traced_repo.plan(steps(command, expected).replace("Build the parser.", f"Build it with {token}."))
    traced_repo.type("approve", "--digest", traced_repo.data("evaluate")["digest"])
    traced_repo.run_plan()
    assert len(collector.spans()) >= 4
    payload = b"".join(collector.bodies)
    assert token.encode() not in payload
    assert b"tr0ub4dor" not in payload
    assert b"fail.sh" not in payload, "arguments are not sent"


def test_a_dry_run_sends_nothing(traced_repo: RunRepository, collector: Collector) -> None:
    traced_repo.approve_plan(steps(MAKE))
    assert traced_repo.type("run", "--dry-run").exit == 0
    assert collector.bodies == []


def test_without_variables_nothing_is_imported_or_connected(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(MAKE))
    code = (
        "import sys; sockets = []; sys.addaudithook(lambda event, _: event.startswith('socket.') and sockets.append(event));"
        "sys.argv = ['execplan', 'run']; from execplan.cli.main import main; status = main();"
        "imported = [name for name in sys.modules if name.startswith(('opentelemetry', 'requests', 'execplan.execution.engine.telemetry.span_export'))];"
        "print([status, sockets, imported], file=sys.stderr)"
    )
    env = {name: value for name, value in run_repo.env.items() if name != "SOURCE_DATE_EPOCH"}
    completed = subprocess.run(
        [sys.executable, "-c", code], cwd=run_repo.path, env=env, capture_output=True, text=True, check=True
    )
    assert completed.stderr.splitlines()[-1] == "[0, [], []]", completed
    assert "completed" in completed.stdout


def test_a_paused_run_warns_as_well(traced_repo: RunRepository, collector: Collector) -> None:
    collector.status = 400
    traced_repo.approve_plan(steps(MAKE.replace("#api", "#api checkpoint"), COPY))
    document = traced_repo.type("run", "--json")
    assert (document.exit, document.json["error"]["code"]) == (8, "paused")
    assert "traces were not sent: the collector answered 400 Bad Request" in document.json["warnings"]
    assert "warning: traces were not sent: " in traced_repo.type("resume", "-q").err


def test_a_failed_run_that_is_replanned_and_resumed(traced_repo: RunRepository, collector: Collector) -> None:
    traced_repo.write_user_settings("rollback_on = []")
    traced_repo.approve_plan(steps(MAKE, "```sh {#look needs=api}\ngrep -q Y src/made.py\n```"))
    assert traced_repo.run_plan().status == "failed"
    step = {"id": "read", "type": "execute_command", "command": "grep -q X src/made.py", "depends_on": ["api"]}
    traced_repo.write("../steps.json", json.dumps({"steps": [step]}))
    traced_repo.data("replan", "--reason", "It looks for the wrong name.", "--new-information", "@../steps.json")
    traced_repo.approve()
    assert traced_repo.resume_run().status == "completed"
    spans = collector.spans()
    assert tree(spans) == [
        "RUN 2026-01-01_parser",
        "  api",
        "    create_file",
        "  look",
        "    grep",
        "  approval",
        "  RUN 2026-01-01_parser",
        "    read",
        "      grep",
        "  approval",
    ]
    results = [span.attributes.get("cicd.pipeline.result") for span in spans if span.kind == SERVER]
    assert results == ["failure", "success"]
    revisions = [span.attributes["execplan.plan.revision"] for span in spans if span.kind == SERVER]
    assert revisions == [1, 2]
