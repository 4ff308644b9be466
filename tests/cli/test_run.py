"""`run`, `resume` and `rollback` as somebody types them: what is printed, and the exit status."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.terminal import Terminal
from tests.repo.approving import NAME, Desk

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "# Build it\n\n## Progress\n\n- [ ] Make it.\n- [ ] See it.\n\n## Concrete Steps\n\n"
MAKE = '```python {#make type=create_file target=src/made.py task="Make it"}\nX = 1\n```\n\n'
SEE = '```sh {#see needs=make task="See it"}\ncat src/made.py\n```\n\n'
ASKS = SEE.replace("#see", "#see confirm")
FAILS = "```sh {#see needs=make}\nls src/nowhere.py\n```\n\n"
SLOW = "```sh {#see needs=make effect=idempotent}\nsleep 30\n```\n\n"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A repository."""
    return Desk(tmp_path / "desk", monkeypatch)


def planned(desk: Desk, *steps: str) -> Desk:
    """The repository with a plan of these steps, approved."""
    desk.plan(HEAD + "".join(steps))
    desk.approve()
    return desk


def run_id(desk: Desk) -> str:
    """The last run."""
    found: str = desk.data("runs")["runs"][0]["id"]
    return found


def test_a_run_that_is_completed(desk: Desk) -> None:
    result = planned(desk, MAKE, SEE).type("run")
    assert (result.exit, result.err) == (0, ""), result
    run = run_id(desk)
    lines = result.out.splitlines()
    assert lines[0].startswith(f"run {run} of {NAME}: approved by the policy, in ")
    assert [line.partition(" (")[0] for line in lines[1:5]] == [
        "ok 1 make",
        "  ticked: Make it.",
        "ok 2 see",
        "  ticked: See it.",
    ]
    assert lines[1].endswith("): created src/made.py")
    assert lines[5].startswith("completed 2 of 2 steps in ")
    assert lines[5].endswith(f": run {run}")
    assert lines[6:] == [f"next: execplan audit {NAME}"]
    assert (desk.path / "src/made.py").read_text() == "X = 1\n"


def test_what_failed_is_shown_and_rolled_back(desk: Desk) -> None:
    result = planned(desk, MAKE, FAILS).type("run")
    assert result.exit == 1
    run = run_id(desk)
    transcript = f".agent/execplans/artifacts/{NAME}/runs/{run}/transcripts/"
    assert "failed 2 see (" in result.out
    assert "\n    ls: cannot access" in result.out
    assert f"\n  transcript: {transcript}02-see.md\n" in result.out
    assert "\nrolling back " in result.out
    assert "\n  remove src/made.py\n" in result.out
    assert "\n  reopened: Make it.\n" in result.out
    assert not (desk.path / "src/made.py").exists()
    assert result.out.endswith(f"\nnext: execplan edit {NAME}\n")
    document = planned(desk, MAKE, FAILS).type("run", "--json")
    assert document.exit == 1
    assert document.json["ok"] is False
    data = document.json["data"]
    assert (data["status"], data["cause"]) == ("rolled_back", "failure")
    assert data["rolled_back"]["removed"] == ["src/made.py"]


def test_each_record_is_a_line_and_the_document_is_the_last(desk: Desk) -> None:
    result = planned(desk, MAKE, SEE).type("run", "--jsonl")
    *records, last = map(json.loads, result.out.splitlines())
    assert result.err == ""
    assert {each["kind"] for each in records} == {"run"}
    kinds = [each["entry"]["kind"] for each in records]
    assert kinds == ["begun", "intent", "result", "ticked", "intent", "result", "ticked", "ended"]
    assert [each["entry"]["number"] for each in records] == list(range(1, 9))
    assert {each["run"] for each in records} == {run_id(desk)}
    assert (last["kind"], last["ok"], last["error"]) == ("run", True, None)
    data = last["data"]
    assert (data["status"], data["counts"]) == ("completed", {"done": 2, "total": 2})
    assert [each["status"] for each in data["steps"]] == ["completed", "completed"]
    assert (data["rolled_back"], data["differences"], data["commit"]) == (None, [], None)
    assert desk.data("show", "--run")["run"] == data["run"]


def test_a_refusal_is_a_document_in_a_stream_too(desk: Desk) -> None:
    desk.plan(HEAD + MAKE + SEE)
    result = desk.type("run", "--jsonl")
    assert result.exit == 7
    assert json.loads(result.out)["error"]["code"] == "not-approved"
    assert desk.type("run", "--jsonl", "--jobs", "0").json["error"]["exit"] == 2


def test_who_runs_what_nobody_approved_is_told_how_it_is(desk: Desk) -> None:
    desk.plan(HEAD + MAKE + SEE)
    result = desk.type("run")
    assert result.exit == 7
    assert f"execplan approve {NAME}" in result.err
    assert desk.type("runs").out == "no run yet\nnext: execplan run\n"


def test_a_dry_run_shows_what_would_be_done(desk: Desk) -> None:
    before = tree(planned(desk, MAKE, SEE))
    out = desk.type("run", "--dry-run", "--step", "make").out
    assert out.startswith("would run 1 of 2 steps, approved by the policy, in ")
    assert "\n1. make (" in out
    assert "\n     +X = 1\n" in out
    assert "\n2. see: skipped: not chosen\n" in out
    data = desk.data("run", "--dry-run")
    assert [each["runs"] for each in data["steps"]] == [True, True]
    assert data["changed"] is False
    assert tree(desk) == before


def tree(desk: Desk) -> dict[str, bytes]:
    """Every file below the desk and beside it."""
    return {str(path): path.read_bytes() for path in desk.path.parent.rglob("*") if path.is_file()}


def test_a_run_that_waits(desk: Desk) -> None:
    result = planned(desk, MAKE, ASKS).type("run")
    assert result.exit == 8
    run = run_id(desk)
    assert f"execplan: the run {run} of {NAME} waits, 1 of 2 steps done: see asks" in result.err
    assert result.err.endswith(f"\n  go\n  skip\n  stop\nresume: execplan resume {run} -p {NAME}\n")
    document = desk.type("resume", "--answer", "skip", "--json").json
    assert document["data"]["steps"][1]["status"] == "skipped"
    assert document["data"]["status"] == "completed"
    assert desk.refused(1, "nothing-to-resume", "resume")


def test_the_document_of_a_run_that_waits(desk: Desk) -> None:
    error = planned(desk, MAKE, ASKS).refused(8, "paused", "run")
    assert error["candidates"] == ["go", "skip", "stop"]
    assert error["hint"] == f"execplan resume {run_id(desk)} -p {NAME}"
    assert desk.refused(2, "bad-answer", "resume", "--answer", "again")["candidates"] == ["go", "skip", "stop"]
    assert desk.type("resume", "--answer", "perhaps").exit == 2
    resumed = desk.type("resume", "--jsonl")
    kinds = [json.loads(line)["entry"]["kind"] for line in resumed.out.splitlines()[:-1]]
    assert kinds == ["resumed", "answered", "intent", "result", "ticked", "ended"]


def test_a_person_is_asked_on_a_terminal(desk: Desk) -> None:
    terminal = at_work(desk, "question")
    terminal.answer("go/skip/stop? [later] ", "go\n")
    shown = terminal.end()
    assert shown.exit == 0, shown.raw
    lines = [line for line in shown.lines if line.startswith(("ok ", "answered", "completed", "next"))]
    assert [line.split(" (")[0].split(" in ")[0] for line in lines] == [
        "ok 1 make",
        "answered for 2 see: go",
        "ok 2 see",
        "completed 2 of 2 steps",
        f"next: execplan audit {NAME}",
    ]


def at_work(desk: Desk, where: str) -> Terminal:
    """A terminal in which a run asks, or its second step is under way."""
    from execplan.cli.main import main

    planned(desk, MAKE, ASKS if where == "question" else SLOW)
    desk.patch.setattr(sys, "argv", ["execplan", "run"])
    terminal = Terminal(main)
    terminal.until("? [later] " if where == "question" else "2 see (0.")
    time.sleep(0.1)
    return terminal


@pytest.mark.parametrize("where", ["question", "step"])
def test_a_terminal_that_is_closed(desk: Desk, where: str) -> None:
    terminal = at_work(desk, where)
    terminal.close()
    assert terminal.end().exit == 143
    assert not list(desk.path.parent.rglob("bug-*.txt"))
    (found,) = desk.data("runs")["runs"]
    assert (found["state"], found["done"]) == ("active", 1)


@pytest.mark.parametrize("where", ["question", "step"])
def test_ctrl_c_on_a_terminal(desk: Desk, where: str) -> None:
    terminal = at_work(desk, where)
    terminal.type("\x03")
    shown = terminal.end()
    assert shown.exit == 130, shown.raw
    run_of_it = run_id(desk)
    assert f"execplan: the run {run_of_it} of {NAME} was interrupted by SIGINT, 1 of 2 steps done" in shown.lines
    assert f"resume: execplan resume {run_of_it} -p {NAME}" in shown.lines
    assert "Traceback" not in shown.raw


def test_a_signal(desk: Desk) -> None:
    process = planned(desk, MAKE, SLOW).start("run", "--json")
    begun(desk, "intent", 2)
    process.send_signal(signal.SIGTERM)
    out, trouble = process.communicate(timeout=30)
    assert process.returncode == 143
    error: dict[str, Any] = json.loads(out)["error"]
    assert (error["code"], error["exit"]) == ("terminated", 143)
    assert error["hint"] == f"execplan resume {run_id(desk)} -p {NAME}"
    assert trouble == b""


def begun(desk: Desk, kind: str, count: int) -> None:
    """Wait until a journal has so many entries of a kind."""
    for _ in range(600):
        found = b"".join([path.read_bytes() for path in desk.path.rglob("journal.jsonl")])
        if found.count(f'"kind":"{kind}"'.encode()) >= count:
            return
        time.sleep(0.05)
    raise AssertionError(found)


def test_who_stops_reading_ends_no_run(desk: Desk) -> None:
    process = planned(desk, MAKE, FAILS).start("run")
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(timeout=30) == 1
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()


def test_a_rollback_says_what_it_will_do_and_what_it_did(desk: Desk) -> None:
    planned(desk, MAKE, SEE).type("run")
    run = run_id(desk)
    would = desk.type("rollback", "--dry-run").out.splitlines()
    assert would[0] == f"would roll back 2 steps (make, see) of {run}"
    assert "  remove src/made.py" in would
    assert "  reopen 'Make it.'" in would
    assert (desk.path / "src/made.py").exists()
    result = desk.type("rollback")
    assert result.exit == 0
    lines = result.out.splitlines()
    assert lines[0] == "rolling back 2 steps: make, see"
    assert "  remove src/made.py" in lines
    assert "  reopened: Make it." in lines
    assert f"rolled back 2 steps (make, see) of {run}: 1 removed, 2 tasks reopened" in lines
    assert lines[-1] == f"next: execplan show {NAME} --run {run}"
    assert not (desk.path / "src/made.py").exists()
    assert desk.refused(1, "nothing-to-roll-back", "rollback")


def test_the_document_of_a_rollback(desk: Desk) -> None:
    (line,) = planned(desk, MAKE, SEE).type("run", "-q").out.splitlines()
    assert line.startswith("completed 2 of 2 steps in ")
    would = desk.data("rollback", "--dry-run")
    assert (would["changed"], would["removed"]) == (False, ["src/made.py"])
    data = desk.data("rollback", "--step", "make")
    assert (data["changed"], data["removed"], data["steps"], data["whole"]) == (True, ["src/made.py"], ["make"], False)


def test_what_was_changed_since_is_not_overwritten(desk: Desk) -> None:
    planned(desk, MAKE, SEE).type("run")
    desk.write("src/made.py", "X = 2\n")
    error = desk.refused(4, "changed-since", "rollback")
    assert any("src/made.py" in each for each in error["candidates"])
    assert (desk.path / "src/made.py").read_text() == "X = 2\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "--step", "make", "--from", "make"], "exclude"),
        (["run", "--jobs", "0"], "--jobs"),
        (["run", "--timeout", "0"], "--timeout"),
        (["resume", "--answer", "yes"], "--answer"),
        (["runs", "--state", "done"], "--state"),
    ],
)
def test_usage(desk: Desk, arguments: list[str], words: str) -> None:
    result = desk.type(*arguments)
    assert result.exit == 2
    assert words in result.err


@pytest.mark.parametrize("verb", ["resume", "rollback"])
def test_there_is_no_run(desk: Desk, verb: str) -> None:
    assert desk.refused(3, "no-such-run", verb)["hint"] == f"execplan run {NAME}"
    planned(desk, MAKE, SEE).type("run", "-q")
    assert desk.refused(3, "no-such-run", verb, "7")["candidates"] == [run_id(desk)]
    assert os.listdir(desk.path / f".agent/execplans/artifacts/{NAME}/runs") == [run_id(desk)]
