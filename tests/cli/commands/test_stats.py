"""Figures of real runs: plans, their steps, how long they took, errors by kind, and what the sessions used."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from execplan.context.session_logs.token_usage import measure_usage
from tests.conftest import CLOCK
from tests.execution.engine.replanning.test_replanned_runs import PLAN
from tests.execution.engine.run_records.test_run_statistics import samples
from tests.in_process_repository import InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path

SESSION = "0b5f6a1e-7c55-4d5e-9f62-0d8a2f0c9a11"
DAY = "2026-01-01T"
"""That of the clock of these tests."""


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository, of a user whom nothing is rolled back for, without a sandbox; a session of an agent is at work."""
    repository = InProcessRepository(tmp_path / "repo", monkeypatch)
    settings = tmp_path / ".config/execplan/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[execution]\nrollback_on = []\nsandbox = "off"\n')
    monkeypatch.setenv("EXECPLAN_SESSION", SESSION)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return repository


def run(desk: InProcessRepository, plan: str, exit: int) -> None:
    desk.plan(plan)
    desk.approve()
    assert desk.type("run").exit == exit


def test_plans_and_their_steps(desk: InProcessRepository) -> None:
    run(desk, PLAN, 1)
    desk.later(1800)
    desk.data("replan", "--reason", "It was the weather.")
    data = desk.data("stats")
    assert (data["created"], data["created_per_hour"]) == (2, 2.0), "of less than an hour an hour counts"
    assert data["steps_per_plan"] == {"count": 2, "sum": 6, "max": 3}
    assert data["generation_s"]["count"] == 2
    assert 0 < data["generation_s"]["max"] <= data["generation_s"]["sum"] < 5
    assert data["step_duration_s"]["count"] == 2 == sum(data["steps"].values())
    assert 0 < data["step_duration_s"]["max"] < 5
    desk.later(4 * 3600)
    desk.data("replan", "--reason", "It was the weather.")
    data = desk.data("stats")
    assert (data["created"], data["created_per_hour"]) == (3, 0.75)
    assert (data["approvals"]["approved"], data["approvals"]["derived"]) == (1, 2)


def test_a_plan_that_is_approved_twice_was_created_once(desk: InProcessRepository) -> None:
    desk.plan(PLAN)
    desk.approve()
    desk.approve()
    assert desk.data("stats")["created"] == 1
    desk.plan(PLAN.replace("grep -q Y", "grep -q X"))
    desk.approve()
    assert desk.data("stats")["created"] == 2


@pytest.mark.parametrize(
    ("command", "more", "kind"),
    [
        ("grep -q Y src/made.py", "", "exit"),
        ("sleep 20", "timeout=1", "timeout"),
        ("cat src/made.py", 'expect="Y"', "expectation"),
        ("cat src/made.py", 'test-after="grep -q Y src/made.py"', "test"),
    ],
)
def test_errors_by_kind(desk: InProcessRepository, command: str, more: str, kind: str) -> None:
    run(desk, PLAN.replace("grep -q Y src/made.py", command).replace("needs=make", f"needs=make {more}"), 1)
    data = desk.data("stats")
    assert {name: count for name, count in data["errors"].items() if count} == {kind: 1}
    metrics = samples(desk.type("stats", "--format", "prometheus").out)
    assert metrics[f"plan_errors_total[('kind', '{kind}')]"] == 1
    assert metrics["plan_errors_total[('kind', 'drift')]"] == 0


def test_what_steps_used_and_changed(desk: InProcessRepository) -> None:
    run(desk, PLAN, 1)
    resources = desk.data("stats")["resources"]
    assert resources["cpu_s"] > 0
    assert resources["peak_memory_bytes"] > 1 << 20
    changes = {name: count for name, count in resources.items() if name.startswith(("files_", "lines_"))}
    assert changes == {
        "files_created": 1,
        "files_modified": 0,
        "files_deleted": 0,
        "lines_added": 1,
        "lines_removed": 0,
    }
    metrics = samples(desk.type("stats", "--format", "prometheus").out)
    assert metrics["plan_step_files_total[('kind', 'created')]"] == 1
    assert metrics["plan_step_lines_total[('kind', 'added')]"] == 1
    assert metrics["plan_step_cpu_seconds_total[]"] == pytest.approx(resources["cpu_s"], abs=1e-5)
    assert metrics["plan_step_peak_memory_bytes[]"] == resources["peak_memory_bytes"]
    assert "files 1: 1 created; 1 lines added, 0 lines removed" in desk.type("stats").out


def test_errors_by_pathway_and_runs_by_kind_of_work(desk: InProcessRepository) -> None:
    run(desk, PLAN, 1)
    data = desk.data("stats")
    assert data["pathways"]["engine"] == {"runs": 1, "attempts": 2, "errors": 1}
    assert data["pathways"]["agent"] == {"runs": 0, "attempts": 0, "errors": 0}
    assert data["kinds"] == {"mixed": {"completed": 0, "failed": 1, "rolled_back": 0}}
    metrics = samples(desk.type("stats", "--format", "prometheus").out)
    assert metrics["plan_pathway_errors_total[('pathway', 'engine')]"] == 1
    assert metrics["plan_pathway_errors_total[('pathway', 'agent')]"] == 0
    assert metrics["plan_kind_executions_total[('kind', 'mixed')]"] == 1
    assert metrics["plan_kind_completed_total[('kind', 'mixed')]"] == 0
    out = desk.type("stats").out
    assert "engine 1 error in 2 attempts, agent 0 errors in 0 attempts" in out
    assert "runs of mixed" in out


def test_a_run_that_a_person_stops_is_an_error_of_its_own_kind(desk: InProcessRepository) -> None:
    run(desk, PLAN.replace("needs=make", "needs=make confirm"), 8)
    assert desk.type("resume", "--answer", "stop").exit == 1
    assert {name: count for name, count in desk.data("stats")["errors"].items() if count} == {"cancellation": 1}


def test_for_prometheus_and_for_people(desk: InProcessRepository) -> None:
    run(desk, PLAN, 1)
    metrics = samples(desk.type("stats", "--format", "prometheus").out)
    assert metrics["plan_plans_created_total[]"] == 1
    assert metrics["plan_plans_created_per_hour[]"] == 1
    assert metrics["plan_steps_per_plan_bucket[('le', '2.0')]"] == 0
    assert metrics["plan_steps_per_plan_bucket[('le', '5.0')]"] == 1
    assert metrics["plan_steps_per_plan_sum[]"] == 3
    assert metrics["plan_generation_duration_seconds_count[]"] == 1
    assert metrics["plan_step_duration_seconds_count[]"] == 2
    assert "plan_session_cost_usd[]" not in metrics
    out = desk.type("stats").out
    assert "created        1 execution plan, 1.0 per hour" in out
    assert "plan size      3.0 steps on average, 3.0 steps at most" in out
    assert "errors         1: 1 exit" in out
    assert "cost" not in out, "there is no log"


def claude(at: str, name: str, *, cost: float | None = None, **tokens: int) -> dict[str, Any]:
    """A message of a model as Claude Code writes it."""
    message: dict[str, Any] = {"type": "assistant", "uuid": "u", "timestamp": f"{DAY}{at}.250Z"}
    message["message"] = {"id": name, "role": "assistant", "content": [], "usage": tokens}
    return message if cost is None else {**message, "costUSD": cost}


def codex(at: str, read: int, cached: int, output_tokens: int) -> dict[str, Any]:
    """What Codex writes after a turn: the sum so far."""
    total = {
        "input_tokens": read,
        "cached_input_tokens": cached,
        "output_tokens": output_tokens,
        "total_tokens": read + output_tokens,
    }
    payload = {"type": "token_count", "info": {"total_token_usage": total, "last_token_usage": {}}}
    return {"timestamp": f"{DAY}{at}Z", "type": "event_msg", "payload": payload}


def log(*lines: Any) -> str:
    return "".join([line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines])


def test_what_a_session_of_claude_code_used(desk: InProcessRepository, tmp_path: Path) -> None:
    """From the first time that the ledger names it to the last; a message that stands on two lines counts once."""
    run(desk, PLAN, 1)
    desk.later(600)
    desk.data("replan", "--reason", "It was the weather.")
    lines = (
        claude("00:00:00", "a", input_tokens=5, output_tokens=1, cache_read_input_tokens=100, cost=0.25),
        claude("00:00:00", "a", input_tokens=5, output_tokens=7, cache_read_input_tokens=100, cost=0.25),
        "not JSON\n",
        claude("00:09:59", "b", input_tokens=1, output_tokens=2, cache_creation_input_tokens=50, cost=0.5),
        claude("00:10:01", "c", input_tokens=1000, output_tokens=1000, cost=9.0),
    )
    folder = tmp_path / ".claude/projects/-some-repo"
    folder.mkdir(parents=True)
    (folder / f"{SESSION}.jsonl").write_text(log(*lines))
    (folder / "another.jsonl").write_text(log(claude("00:00:00", "x", input_tokens=9)))
    tokens = {"input": 6, "output": 9, "cache_read": 100, "cache_write": 50}
    assert desk.data("stats")["sessions"] == {"count": 1, "logs": 1, "tokens": tokens, "cost_usd": 0.75}
    metrics = samples(desk.type("stats", "--format", "prometheus").out)
    assert metrics["plan_session_tokens_total[('kind', 'output')]"] == 9
    assert metrics["plan_session_cost_usd[]"] == 0.75
    out = desk.type("stats").out
    assert "tokens         6 input, 9 output, 100 cache read, 50 cache write" in out
    assert "cost           0.75 US dollars" in out


def test_what_a_session_of_codex_used(desk: InProcessRepository, tmp_path: Path) -> None:
    """Its sums go on over the whole session: what was before the plan is taken off. It tells no cost."""
    desk.later(60)
    run(desk, PLAN, 1)
    desk.later(600)
    desk.data("replan", "--reason", "It was the weather.")
    folder = tmp_path / ".codex/sessions/2026/01/01"
    folder.mkdir(parents=True)
    lines = (
        codex("00:00:30", 100, 20, 10),
        codex("00:02:00", 300, 120, 25),
        codex("00:02:01", 300, 120, 25),
        codex("00:30:00", 900, 0, 90),
    )
    (folder / f"rollout-2026-01-01T00-00-00-{SESSION}.jsonl").write_text(log(*lines))
    sessions = desk.data("stats")["sessions"]
    assert sessions["tokens"] == {"input": 100, "output": 15, "cache_read": 100, "cache_write": 0}
    assert (sessions["logs"], sessions["cost_usd"]) == (1, None)
    assert "cost           not in the logs" in desk.type("stats").out


@pytest.mark.parametrize("name", ["../../secret", "*", "a/b", ""])
def test_no_other_file_is_read(
    desk: InProcessRepository, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXECPLAN_SESSION", name)
    run(desk, PLAN, 1)
    (tmp_path / ".claude/projects/-r").mkdir(parents=True)
    (tmp_path / ".claude/secret.jsonl").write_text(log(claude("00:00:00", "x", input_tokens=9)))
    assert desk.data("stats")["sessions"]["logs"] == 0


def test_lines_without_a_time_or_of_another_form_count_nothing() -> None:
    odd: tuple[Any, ...] = (
        {"type": "assistant", "message": {"usage": {"input_tokens": 1}}},
        {**claude("00:00:00", "a"), "message": "words"},
        {**claude("00:00:00", "b", input_tokens=3), "timestamp": "yesterday"},
        {**claude("00:00:00", "c"), "message": {"id": "c", "usage": {"input_tokens": -3, "output_tokens": True}}},
        {"timestamp": f"{DAY}00:00:00Z", "type": "event_msg", "payload": {"type": "token_count", "info": None}},
        claude("00:00:00", "d", input_tokens=4),
    )
    usage = measure_usage(log(*odd).encode(), CLOCK, CLOCK)
    assert (sum(usage.tokens.values()), usage.cost_usd) == (4, None)
