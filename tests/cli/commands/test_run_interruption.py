"""A run at a terminal or a pipe: asked, stopped, left alone."""

from __future__ import annotations

import json
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.approved_plan import ASKS, FAILS, MAKE, SLOW, run_id, sandbox_off, with_approved_plan
from tests.cli.terminal import Terminal
from tests.in_process_repository import NAME, InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository."""
    return InProcessRepository(tmp_path / "desk", monkeypatch)


def test_a_person_is_asked_on_a_terminal(desk: InProcessRepository) -> None:
    terminal = at_work(desk, "question")
    terminal.answer("go/skip/stop? [later] ", "go\n")
    result = terminal.end()
    assert result.exit == 0, result.raw
    lines = [line for line in result.lines if line.startswith(("ok ", "answered", "completed", "next"))]
    assert [line.split(" (")[0].split(" in ")[0] for line in lines] == [
        "ok 1 make",
        "answered for 2 see: go",
        "ok 2 see",
        "completed 2 of 2 steps",
        f"next: execplan outcome 'What works now' -p {NAME} --create",
    ]


def at_work(desk: InProcessRepository, stage: str) -> Terminal:
    """A terminal in which a run asks, or its second step is under way."""
    from execplan.cli.main import main

    with_approved_plan(desk, MAKE, ASKS if stage == "question" else SLOW)
    desk.patch.setattr(sys, "argv", ["execplan", "run"])
    terminal = Terminal(main)
    terminal.until("? [later] " if stage == "question" else "2 see (0.")
    time.sleep(0.1)
    return terminal


@pytest.mark.parametrize("where", ["question", "step"])
def test_a_terminal_that_is_closed(desk: InProcessRepository, where: str) -> None:
    terminal = at_work(desk, where)
    terminal.close()
    assert terminal.end().exit == 143
    assert not list(desk.path.parent.rglob("bug-*.txt"))
    (run,) = desk.data("runs")["runs"]
    assert (run["state"], run["done"]) == ("active", 1)


@pytest.mark.parametrize("where", ["question", "step"])
def test_ctrl_c_on_a_terminal(desk: InProcessRepository, where: str) -> None:
    terminal = at_work(desk, where)
    terminal.type("\x03")
    result = terminal.end()
    assert result.exit == 130, result.raw
    run_of_it = run_id(desk)
    assert f"execplan: run {run_of_it} of {NAME} was interrupted by SIGINT, 1 of 2 steps done" in result.lines
    assert f"next: execplan resume {run_of_it} -p {NAME}" in result.lines
    assert "Traceback" not in result.raw


def test_a_signal(desk: InProcessRepository) -> None:
    process = with_approved_plan(desk, MAKE, SLOW).start("run", "--json")
    wait_for_entries(desk, "intent", 2)
    process.send_signal(signal.SIGTERM)
    out, trouble = process.communicate(timeout=30)
    assert process.returncode == 143
    error: dict[str, Any] = json.loads(out)["error"]
    assert (error["code"], error["exit"]) == ("terminated", 143)
    assert error["hint"] == f"execplan resume {run_id(desk)} -p {NAME}"
    assert trouble == b""


def wait_for_entries(desk: InProcessRepository, kind: str, count: int) -> None:
    """Wait until a journal has so many entries of a kind."""
    for _ in range(600):
        journals = b"".join([path.read_bytes() for path in (desk.path / ".agent").rglob("journal.jsonl")])
        if journals.count(f'"kind":"{kind}"'.encode()) >= count:
            return
        time.sleep(0.05)
    raise AssertionError(journals)


def test_who_stops_reading_ends_no_run(desk: InProcessRepository) -> None:
    process = with_approved_plan(sandbox_off(desk), MAKE, FAILS).start("run")
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(timeout=30) == 1
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()


def test_what_a_resume_would_do_is_shown_and_nothing_done(desk: InProcessRepository) -> None:
    with_approved_plan(desk, MAKE, ASKS)
    assert desk.type("run").exit == 8
    before = _files(desk)
    data = desk.data("resume", "--dry-run")
    assert (data["question"]["why"], data["question"]["step"], data["answer"]) == ("confirm", "see", None)
    assert ([step["id"] for step in data["steps"]], data["cut_short"], data["changed"]) == (["see"], [], False)
    assert (
        "would answer stop: step see requires confirmation" in desk.type("resume", "--dry-run", "--answer", "stop").out
    )
    desk.refused(2, "bad-answer", "resume", "--dry-run", "--answer", "again")
    assert _files(desk) == before
    (desk.path / "src/made.py").write_text("Y = 2\n")
    desk.refused(4, "drifted", "resume", "--dry-run")
    desk.refused(4, "drifted", "resume", "--answer", "go")
    (desk.path / "src/made.py").write_text("X = 1\n")
    assert desk.type("resume", "--answer", "go").exit == 0
    desk.refused(1, "nothing-to-resume", "resume", "--dry-run")


def _files(desk: InProcessRepository) -> dict[Path, tuple[bytes, int]]:
    """Every file of the repository and of its user, with its time."""
    return {
        path: (path.read_bytes(), path.stat().st_mtime_ns)
        for path in desk.path.parent.rglob("*")
        if path.is_file() and not path.name.endswith(".lock")
    }


def test_a_resume_that_nobody_answers_does_not_say_resumed(desk: InProcessRepository) -> None:
    process = with_approved_plan(desk, MAKE, SLOW.replace(" effect=idempotent", " effect=once")).start("run")
    wait_for_entries(desk, "intent", 2)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    for _ in range(2):
        refused = desk.type("resume")
        assert refused.exit == 8
        assert refused.out == ""
        assert "find out what the step has done, then: execplan resume" in refused.err
    lines = desk.type("resume", "--jsonl").out.splitlines()
    assert [json.loads(line).get("kind") for line in lines] == ["resume"]
    skipped = desk.type("resume", "--answer", "skip")
    assert (skipped.exit, skipped.out.splitlines()[0]) == (0, "resumed the run")


def test_an_unknown_end_is_asked_before_it_is_resumed_on_a_terminal(desk: InProcessRepository) -> None:
    from execplan.cli.main import main

    process = with_approved_plan(desk, MAKE, SLOW.replace(" effect=idempotent", " effect=once")).start("run")
    wait_for_entries(desk, "intent", 2)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    desk.patch.setattr(sys, "argv", ["execplan", "resume"])
    terminal = Terminal(main)
    terminal.answer("[later] ", "skip\n")
    result = terminal.end()
    assert result.exit == 0, result.raw
    assert result.raw.index("[later]") < result.raw.index("resumed")
