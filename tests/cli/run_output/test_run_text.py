"""The lines about a run, and its stream of records: one watch at a time, entry by entry."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from execplan.cli.answer import Call
from execplan.cli.run_output.observer_selection import observe_run
from execplan.cli.run_output.run_outcome import rollback_lines
from execplan.cli.run_output.run_text import format_changes, format_irreversible, format_paths
from execplan.core.text.message_parts import format_duration
from execplan.execution.engine.journal import journal_entries
from execplan.execution.engine.journal.journal_entries import StateChange, change_json
from execplan.execution.engine.run_observer import RollbackResult
from execplan.execution.world import ABSENT, FILE, State
from tests.cli.journaled_run import ABSENT_STATE, APPROVED, CREATED_FILE, FAILED, OK, USER_FIELDS, entry, intent, result
from tests.cli.run_output.test_live_observer import steps

if TYPE_CHECKING:
    from execplan.execution.engine.journal.journal import RunEntry


def printed(*entries: RunEntry, call: Call | None = None, stream: bool = False) -> str:
    """What a watch prints of some entries, where there is no terminal."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    original_stdout, sys.stdout = sys.stdout, out
    try:
        with observe_run(call or Call(), "run", stream=stream) as observer:
            observer.begin("0001-aaaaaaaa", steps("build", "api", "drop"))
            for number in range(12):
                observer.line("build", f"line {number}", error=False)
            for journal_entry in entries:
                observer.entry(journal_entry)
    finally:
        sys.stdout = original_stdout
    buffer = out.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()


BEGUN = {"run": "0001-aaaaaaaa", "plan_id": "parser", "sandbox": None, **APPROVED, **USER_FIELDS}
ROLLBACK: dict[str, Any] = {
    "steps": ["build", "api"],
    "automatic": "failure",
    "changes": [change_json(CREATED_FILE)],
    "folders": ["src"],
    "undone_not": ["build: what it has sent"],
}


@pytest.mark.parametrize(
    ("kind", "said", "lines"),
    [
        ("begun", BEGUN, ["run 0001-aaaaaaaa of parser: approved by Ann, without a sandbox"]),
        (
            "begun",
            {**BEGUN, "how": "policy"},
            ["run 0001-aaaaaaaa of parser: approved by the policy, without a sandbox"],
        ),
        ("resumed", USER_FIELDS, ["resumed the run"]),
        ("intent", intent("build"), []),
        ("intent", intent("build", 2), ["retrying 1 build: attempt 2 of 3"]),
        ("result", result("api", OK), ["ok 2 api (0.2 s)"]),
        ("result", result("api", OK._replace(changes=(CREATED_FILE,))), ["ok 2 api (0.2 s): created src/made.py"]),
        ("result", result("api", FAILED), ["failed 2 api (1.5 s): exit 1, not 0", "  transcript: runs/build.md"]),
        ("result", result("api", FAILED._replace(cause="interrupted")), ["stopped 2 api (1.5 s)"]),
        (
            "retaken",
            {"step": "api", "attempt": 1, "changes": [change_json(CREATED_FILE)]},
            ["  reverted: src/made.py"],
        ),
        ("retaken", {"step": "api", "attempt": 1, "changes": []}, []),
        (
            "retaken",
            {"step": "api", "attempt": 1, "changes": [change_json(CREATED_FILE._replace(declared=False))]},
            ["  reverted: src/made.py", f"  backed up: src/made.py: {CREATED_FILE.after.sha256}"],
        ),
        ("skipped", {"step": "drop", "reason": "not\x1bchosen"}, ["skipped 3 drop: not\\x1bchosen"]),
        ("blocked", {"step": "drop", "reason": "api has failed"}, ["blocked 3 drop: api has failed"]),
        ("recovered", {"step": "api", "by": "drop"}, ["recovered 2 api: replaced by drop"]),
        ("ticked", {"step": "api", "task": "Do it.", "transcript": ""}, ["  checked off: Do it."]),
        ("reopened", {"step": "api", "task": "Do it."}, ["  reopened: Do it."]),
        ("answered", {"why": journal_entries.ASK, "step": "api", "answer": "skip"}, ["answered for 2 api: skip"]),
        ("replanned", {"revision": 2, "reason": "it was red"}, ["replanned, now revision 2: it was red"]),
        (
            "rollback",
            ROLLBACK,
            [
                "rolling back 2 steps because a step failed: build, api",
                "  remove src/made.py",
                "  remove src",
                "  can't be reverted: build: what it has sent",
            ],
        ),
        ("ended", {"status": "completed"}, []),
        ("of different day", {}, []),
    ],
)
def test_an_entry_in_lines(kind: str, said: dict[str, Any], lines: list[str]) -> None:
    assert printed(entry(kind, **said)).splitlines() == lines


def test_of_many_files_the_first_are_listed() -> None:
    changes = [change_json(CREATED_FILE._replace(path=f"out/{at}")) for at in range(300)]
    lines = printed(entry("rollback", **{**ROLLBACK, "changes": changes})).splitlines()
    assert lines[20:] == [
        "  remove out/19",
        "  and 281 more: see the run's journal",
        "  can't be reverted: build: what it has sent",
    ]
    undone = RollbackResult(
        "0001-aaaaaaaa", ("build",), (), (), (), tuple([f"out/{at}: {at}" for at in range(21)]), (), True
    )
    assert rollback_lines(undone)[20:] == [
        "  backed up: out/19: 19",
        "  and 1 more: see the run's journal",
    ]


def test_what_failed_shows_the_end_of_its_output() -> None:
    out = printed(entry("result", **result("build", FAILED)))
    assert [line for line in out.splitlines() if line.startswith("    ")] == [f"    line {at}" for at in range(2, 12)]
    second_attempt = printed(entry("intent", **intent("build", 2)), entry("result", **result("build", FAILED, 2)))
    assert "    line" not in second_attempt  # that was the attempt before


def test_quiet_and_json_print_nothing_while_it_goes_on() -> None:
    journal_entry = entry("result", **result("api", OK))
    assert printed(journal_entry, call=Call(quiet=True)) == ""
    assert printed(journal_entry, call=Call(as_json=True)) == ""


def test_the_stream_has_a_line_of_json_for_each_entry() -> None:
    out = printed(entry("begun", **BEGUN), entry("result", 2, **result("api", OK)), stream=True)
    begun_record, result_record = [json.loads(line) for line in out.splitlines()]
    assert {name: begun_record[name] for name in ("schema", "kind", "run")} == {
        "schema": "execplan/1",
        "kind": "run",
        "run": "0001-aaaaaaaa",
    }
    assert begun_record["entry"]["kind"] == "begun"
    assert (result_record["entry"]["number"], result_record["entry"]["kind"], result_record["entry"]["step"]) == (
        2,
        "result",
        "api",
    )
    assert result_record["entry"]["at"] == "2026-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0.0 s"),
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.6, "1 min 0 s"),
        (3599.6, "1 h 0 min"),
        (7380, "2 h 3 min"),
    ],
)
def test_durations(seconds: float, words: str) -> None:
    assert format_duration(seconds) == words


def test_changes_by_kind() -> None:
    old = State(FILE, "d" * 64, 0o644, "", 3)
    changes = (
        CREATED_FILE,
        StateChange("a", old, ABSENT_STATE),
        StateChange("b", old, old._replace(mode=0o755)),
        StateChange("c", ABSENT_STATE, old),
    )
    assert format_changes(changes) == "created src/made.py, c, modified b, deleted a"
    assert format_changes(()) == ""
    assert format_paths([str(at) for at in range(5)]) == "0, 1, 2 and 2 more"
    assert State(ABSENT) == ABSENT_STATE


def test_effects_with_one_reason_are_one_line() -> None:
    effects = [*[f"step.{number}: its effects outside" for number in range(1, 6)], "a: b: c", "d: b: c"]
    assert format_irreversible("can't be reverted", effects) == [
        "  can't be reverted: step.1, step.2, step.3 and 2 more: its effects outside",
        "  can't be reverted: a, d: b: c",
    ]
