"""What tasks cost: each session's usage goes to the task that it had claimed, and nothing is lost or counted twice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.context.model_table import load_models
from execplan.context.session_logs.token_usage import NO_USAGE, TOKEN_KINDS, TokenUsage, UsageEvent, read_usage_events
from execplan.team.costs.cost_report import Cost, TaskWork, WorkSpan, build_report
from tests.conftest import CLOCK
from tests.in_process_repository import NAME, InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path

TABLE = load_models()
MODEL = "claude-sonnet-5-5"
PLAN = """\
# Build the parser

## Progress

- [ ] Read lines.
- [ ] Write lines.
- [ ] Tell.
"""
SESSION = "0f1e2d3c-0000-4000-8000-000000000001"


def work(number: int, *spans: WorkSpan, state: str = "done") -> TaskWork:
    return TaskWork("parser", "parser.md", f"t{number}", number, f"Task {number}", state, spans)


def event(time: int, tokens: int = 6, model: str = MODEL, cost: float | None = None) -> UsageEvent:
    return UsageEvent(time, model, TokenUsage({**NO_USAGE.tokens, "input": tokens}, cost))


def test_usage_goes_to_the_task_that_its_session_had_claimed() -> None:
    works = [work(1, WorkSpan("a", "s1", 0, 100)), work(2, WorkSpan("a", "s1", 200, 300), WorkSpan("b", "s2", 0, 50))]
    usage = {"s1": [event(50), event(150), event(200), event(299), event(300)], "s2": [event(10, 1_000_000)]}
    report = build_report(works, lambda session, since: usage[session], TABLE)
    assert [task.cost.tokens if task.cost else None for task in report.tasks] == [6, 1_000_012]
    assert report.other_usage.tokens == 6
    assert report.total.usage.cost_usd == pytest.approx(2.0 * 1_000_018 / 1_000_000)
    assert report.models == (MODEL,)


def test_shared_time_is_split_and_told() -> None:
    works = [work(1, WorkSpan("a", "s", 0, 100)), work(2, WorkSpan("a", "s", 50, 200))]
    report = build_report(works, lambda *_: [event(60, 7), event(10, 4)], TABLE)
    assert [task.cost.tokens if task.cost else None for task in report.tasks] == [7, 4]
    assert [task.shared_seconds for task in report.tasks] == [50, 50]
    assert any(["split evenly" in gap for gap in report.gaps])


def test_what_can_not_be_known() -> None:
    works = [work(1), work(2, WorkSpan("a", "", 0, 9)), work(3, WorkSpan("a", "lost", 0, 9)), work(4, state="open")]
    report = build_report(works, lambda *_: None, TABLE)
    assert [task.cost for task in report.tasks] == [None] * 4
    gaps = " | ".join(report.gaps)
    for part in ("1 done task had no claim", "outside of a known session", "logs of 1 of 1 session"):
        assert part in gaps
    assert report.total == Cost()


def test_an_unknown_model_has_tokens_without_money() -> None:
    usage = [event(1, 5, "ours-1"), event(2, 1_000_000)]
    report = build_report([work(1, WorkSpan("a", "s", 0, 9))], lambda *_: usage, TABLE)
    assert (report.total.tokens, report.total.unpriced_tokens) == (1_000_005, 5)
    assert report.total.usage.cost_usd == pytest.approx(2.0)
    assert "5 tokens are of models without a known price" in " ".join(report.gaps)


def test_a_logged_cost_is_taken_as_it_is() -> None:
    report = build_report([work(1, WorkSpan("a", "s", 0, 9))], lambda *_: [event(1, 5, "ours-1", 0.5)], TABLE)
    assert (report.total.usage.cost_usd, report.total.unpriced_tokens) == (0.5, 0)


SPANS = st.tuples(st.integers(0, 60), st.integers(1, 30), st.sampled_from(["s1", "s2"])).map(
    lambda span: WorkSpan("a", span[2], span[0], span[0] + span[1])
)


@given(
    st.lists(st.lists(SPANS, max_size=3), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 100), st.integers(0, 1000)), max_size=12),
)
def test_nothing_is_lost_or_counted_twice(spans: list[list[WorkSpan]], used: list[tuple[int, int]]) -> None:
    works = [work(number, *task_spans) for number, task_spans in enumerate(spans)]
    events = [event(time, tokens) for time, tokens in used]
    report = build_report(works, lambda session, since: [e for e in events if e.time >= since], TABLE)
    in_reach = 0
    for session in ("s1", "s2"):
        own = [span for task_spans in spans for span in task_spans if span.session == session]
        if own:
            start, end = min(span.start for span in own), max(span.end for span in own)
            in_reach += sum([tokens for time, tokens in used if start <= time < end])
    assert report.total.tokens + report.other_usage.tokens == in_reach
    assert all([task.work.seconds <= 90 for task in report.tasks])


def claude(second: int, name: str, model: str = MODEL, **usage: Any) -> dict[str, Any]:
    """A message as Claude Code logs it."""
    stamp = f"2026-01-01T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.123Z"
    return {"type": "assistant", "timestamp": stamp, "message": {"id": name, "model": model, "usage": usage}}


def test_cache_that_is_kept_for_an_hour() -> None:
    cache = {"ephemeral_1h_input_tokens": 600_000, "ephemeral_5m_input_tokens": 400_000}
    line = claude(1, "a", cache_creation_input_tokens=1_000_000, cache_creation=cache)
    (used,) = read_usage_events(json.dumps(line).encode())
    assert used.long_cache_write == 600_000
    report = build_report([work(1, WorkSpan("a", "s", CLOCK, CLOCK + 9))], lambda *_: [used], TABLE)
    assert report.total.usage.cost_usd == pytest.approx(0.4 * 2.5 + 0.6 * 4.0)


@pytest.mark.parametrize("number", ["1e400", "NaN", "-1", "1" + "0" * 400, '"7"', "true"])
def test_numbers_that_no_message_has_are_ignored(number: str) -> None:
    line = json.dumps({**claude(1, "a", output_tokens=3, input_tokens="TOKENS"), "costUSD": "COST"})
    (used,) = read_usage_events(line.replace('"TOKENS"', number).replace('"COST"', number).encode())
    assert used.usage == TokenUsage({**NO_USAGE.tokens, "output": 3}, None)


@pytest.mark.parametrize(("tokens", "price"), [(272_000, 2.0), (272_001, 4.0)])
def test_a_long_prompt_costs_more(tokens: int, price: float) -> None:
    report = build_report([work(1, WorkSpan("a", "s", 0, 9))], lambda *_: [event(1, tokens, "gpt-6.1-sol")], TABLE)
    assert report.total.usage.cost_usd == pytest.approx(price * tokens / 1_000_000)


def test_codex_states_totals_and_the_model_before_them() -> None:
    def total(second: int, read: int, cached: int, written: int) -> dict[str, Any]:
        usage = {"input_tokens": read, "cached_input_tokens": cached, "output_tokens": written}
        payload = {"type": "token_count", "info": {"total_token_usage": usage}}
        return {"type": "event_msg", "timestamp": f"2026-01-01T00:00:{second:02}Z", "payload": payload}

    lines = [
        {"type": "turn_context", "timestamp": "2026-01-01T00:00:00Z", "payload": {"model": "gpt-6-sol"}},
        total(1, 100, 20, 10),
        total(2, 100, 20, 10),
        {"type": "turn_context", "timestamp": "2026-01-01T00:00:02Z", "payload": {"model": "gpt-6-luna"}},
        total(3, 300, 120, 15),
        total(4, 50, 0, 5),
    ]
    events = read_usage_events("\n".join([json.dumps(line) for line in lines]).encode())
    assert [(e.model, tuple(e.usage.tokens[kind] for kind in TOKEN_KINDS)) for e in events] == [
        ("gpt-6-sol", (80, 10, 20, 0)),
        ("gpt-6-luna", (100, 5, 100, 0)),
        ("gpt-6-luna", (50, 5, 0, 0)),
    ]


class ClaimedRepository(InProcessRepository):
    """A repository in which tasks are claimed and done at certain seconds."""

    def __init__(self, path: Path, patch: pytest.MonkeyPatch) -> None:
        super().__init__(path, patch)
        self.plan(PLAN)
        patch.setenv("EXECPLAN_SESSION", SESSION)

    def at(self, seconds: int, *arguments: str) -> dict[str, Any]:
        """Run a command at a time."""
        self.later(seconds)
        return self.data(*arguments)

    def session_log(self, *lines: dict[str, Any], name: str = SESSION) -> None:
        """Write the log of a session."""
        text = "\n".join([json.dumps(line) for line in lines])
        self.write(f"../.claude/projects/-repo/{name}.jsonl", f"{text}\n")

    def tasks(self) -> list[dict[str, Any]]:
        """The tasks of `stats --cost`."""
        tasks: list[dict[str, Any]] = self.data("stats", NAME, "--cost")["tasks"]
        return tasks


@pytest.fixture
def claimed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClaimedRepository:
    return ClaimedRepository(tmp_path / "repo", monkeypatch)


def test_from_the_claim_to_the_tick(claimed: ClaimedRepository) -> None:
    claimed.at(30, "next", "--claim", "agent-1")
    claimed.at(600, "done", "1")
    claimed.at(900, "next", "--claim", "agent-1")
    claimed.at(1500, "done", "2")
    claimed.later(9000)
    claimed.session_log(
        claude(20, "early", input_tokens=9), claude(60, "a", input_tokens=500_000), claude(700, "b", input_tokens=3),
        claude(1000, "c", output_tokens=100_000), claude(2000, "late", input_tokens=9),
    )  # fmt: skip
    claimed.session_log(claude(61, "sub", input_tokens=500_000), name=f"{SESSION}/subagents/agent-1")
    first, second, third = claimed.tasks()
    assert (first["seconds"], first["tokens"]["input"], first["cost_usd"]) == (630, 1_000_000, 2.0)
    assert (second["seconds"], second["cost_usd"]) == (660, 1.0)
    assert (third["seconds"], third["cost_usd"]) == (None, None)
    data = claimed.data("stats", "--cost")
    assert (data["total"]["cost_usd"], data["other_usage"]["tokens"]["input"]) == (3.0, 3)
    out = claimed.type("stats", "--cost").out
    assert out.split("\n")[0].split("  ")[0] == "task"
    assert "US dollars" in out.split("\n")[0]
    assert "1. Read lines." in out
    assert "not known: tasks end with the minute" in out
    assert "3. Tell." not in out


def test_a_renewed_released_or_moved_claim(claimed: ClaimedRepository) -> None:
    claimed.at(0, "next", "--claim", "agent-1", "--for", "10m")
    claimed.at(300, "next", "--claim", "agent-1", "--for", "10m")
    claimed.at(360, "reword", "1", "Read all the lines of a file.")
    claimed.at(420, "rename", NAME, "Build the new parser")
    claimed.at(540, "next", "--release", "agent-1")
    claimed.later(9000)
    (first, *_) = claimed.data("stats", "--cost")["tasks"]
    assert (first["text"], first["seconds"], len(first["spans"])) == ("Read all the lines of a file.", 540, 1)
    claimed.at(9100, "archive", "build-the-new-parser", "--as", "abandoned", "--reason", "It is late.")
    (archived, *_) = claimed.data("stats", "--cost")["tasks"]
    assert (archived["seconds"], "archive" in archived["path"]) == (540, True)


def test_a_claim_ends_with_its_time(claimed: ClaimedRepository) -> None:
    claimed.at(0, "next", "--claim", "agent-1", "--for", "10m")
    claimed.later(400)
    assert claimed.tasks()[0]["seconds"] == 400
    claimed.later(5000)
    assert claimed.tasks()[0]["seconds"] == 600
    claimed.at(5000, "next", "--claim", "agent-2", "--for", "10m")
    claimed.later(5060)
    assert [span["by"] for span in claimed.tasks()[0]["spans"]] == ["agent-1", "agent-2"]


def test_a_session_that_works_on_two_plans_has_the_same_shares_in_every_view(claimed: ClaimedRepository) -> None:
    claimed.plan(PLAN.replace("parser", "scanner"), "2026-01-02_scanner")
    claimed.plan(PLAN.replace("parser", "lexer"), "2026-01-03_lexer")
    claimed.at(0, "next", NAME, "--claim", "agent-1", "--for", "1h")
    claimed.at(0, "next", "2026-01-02_scanner", "--claim", "agent-1", "--for", "1h")
    claimed.at(0, "next", "2026-01-03_lexer", "--claim", "agent-1", "--for", "10m")
    (claimed.path / ".agent/execplans/2026-01-03_lexer.md").unlink()
    claimed.later(9000)
    claimed.session_log(claude(60, "a", input_tokens=1_000_000))
    everything = claimed.data("stats", "--cost")
    assert [task["cost_usd"] for task in everything["tasks"] if task["cost_usd"]] == [1.0, 1.0]
    for name in (NAME, "2026-01-02_scanner"):
        data = claimed.data("stats", name, "--cost")
        assert (data["tasks"][0]["cost_usd"], data["total"]["cost_usd"], len(data["tasks"])) == (1.0, 1.0, 3)
        assert data["tasks"][0]["shared_seconds"] == 3600
        assert any(["split evenly" in gap for gap in data["unknown"]])


def test_a_claim_of_this_second_counts(claimed: ClaimedRepository) -> None:
    claimed.at(0, "next", "--claim", "agent-1")
    assert claimed.tasks()[0]["seconds"] == 0
    assert "1. Read lines." in claimed.type("stats", "--cost").out


def test_a_damaged_log_of_claims(claimed: ClaimedRepository) -> None:
    claimed.at(0, "next", "--claim", "agent-1", "--for", "10m")
    (log,) = claimed.path.glob(".git/**/claims.log")
    log.write_bytes(log.read_bytes() + b'\n{"at": 1, "made": [["x"]]\n[]\n{"at": "x"}\n\xff')
    claimed.at(60, "next", "--claim", "agent-2", "--task", "2", "--for", "10m")
    claimed.later(120)
    assert [task["seconds"] for task in claimed.tasks()] == [120, 60, None]


def test_a_directory_with_the_name_of_a_plan(claimed: ClaimedRepository) -> None:
    claimed.data("done", "1")
    (claimed.path / ".agent/execplans/2026-01-09_folder.md").mkdir()
    assert len(claimed.tasks()) == 3


def test_without_claims_and_with_wrong_options(claimed: ClaimedRepository) -> None:
    assert claimed.type("stats", "--cost").out == "nobody has claimed or done a task yet\n"
    claimed.data("done", "1")
    assert "1 done task had no claim" in claimed.type("stats", "--cost").out
    claimed.refused(2, "usage", "stats", "--cost", "--chart", "age")
