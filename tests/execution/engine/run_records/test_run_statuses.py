"""How the last run of a plan stands, by the kinds of its journal's entries: the same as by all that they say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from execplan.execution.engine.journal import journal_entries
from execplan.execution.engine.run_lock import acquire_run_lock
from execplan.execution.engine.run_records.run_statuses import RunStatus, find_last_run
from execplan.execution.engine.run_records.run_summary import STATES, find_active_run, runs, summarize_run
from tests.execution.approvals.test_run_in_progress import PLAN
from tests.execution.engine.scripted_run import begin_scripted_run, created_file
from tests.in_process_repository import NAME, InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path

ROLLBACK: dict[str, Any] = {
    "automatic": "",
    "user": "ann",
    "session": None,
    "changes": [],
    "folders": [],
    "undone_not": [],
    "whole": True,
}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository with a plan of three steps."""
    repository = InProcessRepository(tmp_path / "repo", monkeypatch)
    repository.plan(PLAN)
    return repository


def state_of(status: RunStatus | None) -> tuple[str, str, str] | None:
    """Which run it is, its state and what it waits for."""
    return status[:3] if status is not None else None


def test_as_a_run_goes_on(desk: InProcessRepository) -> None:
    project, ref = desk.project()
    assert find_last_run(project, ref) is None
    assert runs(project, [ref]) == []
    scripted_run, run_paths = begin_scripted_run(desk)

    def state_and_question() -> tuple[str, str]:
        last_run = find_last_run(project, ref)
        assert last_run is not None
        assert last_run.id == run_paths.id
        summary = summarize_run(run_paths)
        assert (last_run.state == "cut_short") == summary.cut_short
        assert (last_run.state == "rolling_back") == summary.rolling
        assert (last_run.state == "waiting") == (summary.question is not None or summary.status == "replanning")
        if last_run.state in ("completed", "failed", "rolled_back"):
            assert last_run.state == summary.status
        return last_run.state, last_run.why

    assert state_and_question() == ("cut_short", "")
    with acquire_run_lock(project, f"run {run_paths.id} of {ref.id}"):
        assert state_and_question() == ("running", "")
    with acquire_run_lock(project, "run 0009-12345678 of another"):
        assert state_and_question() == ("cut_short", ""), "another run is at work"
    scripted_run.complete_step("api", *[created_file(f"{number}.txt") for number in range(40)])
    assert state_and_question() == ("cut_short", ""), "a step does not end the run"
    scripted_run.write(journal_entries.PAUSED, why="checkpoint", step="api", question="Go on?")
    assert state_and_question() == ("waiting", "checkpoint")
    scripted_run.write(
        journal_entries.ANSWERED, why="checkpoint", step="api", answer="go", user="ann", session=None, how="resume"
    )
    scripted_run.fail_step("drop")
    scripted_run.end("failed", "failure")
    assert state_and_question() == ("failed", "")
    scripted_run.write(journal_entries.ROLLBACK, steps=["api"], **ROLLBACK)
    assert state_and_question() == ("rolling_back", "")
    scripted_run.write(journal_entries.RESTORED, path="1.txt", displaced=None)
    assert state_and_question() == ("rolling_back", "")
    scripted_run.write(journal_entries.ROLLED_BACK, steps=["api"], restored=[], removed=[], whole=False)
    assert state_and_question() == ("failed", "")
    scripted_run.write(journal_entries.REOPENED, step="api", task="Build the parser.")
    assert state_and_question() == ("failed", "")
    for _ in range(2):  # a rollback of one step is killed, and done again
        scripted_run.write(journal_entries.ROLLBACK, steps=["api"], **{**ROLLBACK, "whole": False})
        scripted_run.write(journal_entries.RESTORED, path="1.txt", displaced=None)
        assert state_and_question() == ("rolling_back", "")
    scripted_run.write(journal_entries.ROLLED_BACK, steps=["api"], restored=[], removed=[], whole=False)
    assert state_and_question() == ("failed", "")
    scripted_run.write(
        journal_entries.REPLANNED,
        revision=2,
        document="0" * 64,
        reason="x",
        completed=[],
        failed=[2],
        user="a",
        session=None,
    )
    assert state_of(find_last_run(project, ref)) == (run_paths.id, "waiting", "approve")
    scripted_run.write(journal_entries.ROLLBACK, steps=["api"], **ROLLBACK)
    scripted_run.write(journal_entries.ROLLED_BACK, steps=["api"], restored=[], removed=[], whole=True)
    last_run = find_last_run(project, ref)
    assert state_of(last_run) == (run_paths.id, "rolled_back", "")
    assert last_run is not None
    assert (last_run.reason, bool(last_run.ended)) == ("", True), "how it had ended is further above"


def test_an_interrupted_session_counts_for_the_duration(desk: InProcessRepository) -> None:
    scripted_run, _ = begin_scripted_run(desk)
    scripted_run.write(journal_entries.INTERRUPTED, signal="SIGINT", seconds=5.0)
    assert scripted_run.run_state.seconds == 5.0


def test_status_and_list_say_what_waits(desk: InProcessRepository) -> None:
    scripted_run, run_paths = begin_scripted_run(desk)
    nothing = {"reason": None, "ended": None, "executor": None}
    assert desk.data("status")["plans"][0]["execution"]["run"] == {
        "id": run_paths.id,
        "state": "cut_short",
        **nothing,
        "why": None,
    }
    scripted_run.write(journal_entries.PAUSED, why="confirm", step="drop", question="Go on?")
    expected = {"id": run_paths.id, "state": "waiting", **nothing, "reason": "Go on?", "why": "confirm"}
    assert desk.data("list")["plans"][0]["execution"]["run"] == expected
    assert desk.data("show", "--steps")["execution"]["run"] == expected
    for command in ("status", "list"):
        assert "(steps: used, run 1 is waiting for an answer: Go on?)" in desk.type(command).out
    scripted_run.write(
        journal_entries.ANSWERED, why="confirm", step="drop", answer="stop", user="ann", session=None, how="resume"
    )
    scripted_run.end("failed", "cancellation")
    assert "(steps: used)" in desk.type("status").out


def test_summaries(desk: InProcessRepository) -> None:
    scripted_run, run_paths = begin_scripted_run(desk)
    scripted_run.complete_step("api")
    scripted_run.fail_step("drop")
    scripted_run.write(journal_entries.BLOCKED, step="check", reason="it needs drop")
    scripted_run.end("failed", "failure")
    project, ref = desk.project()
    (summary,) = runs(project, [ref])
    assert (summary.id, summary.plan, summary.state, summary.status) == (run_paths.id, NAME, "failed", "failed")
    assert (summary.done, summary.total, summary.seconds, summary.started) == (1, 3, 1.5, "2026-01-01T00:00:00Z")
    archived = summarize_run(run_paths._replace(is_archived=True))
    assert archived.state == "archived"
    assert summary.state in STATES


def test_a_run_that_never_began(desk: InProcessRepository) -> None:
    _, run_paths = begin_scripted_run(desk)
    for name in ("", '{"n":1,"kind":"begun"'):
        with open(run_paths.journal, "w", encoding="utf-8") as file:
            file.write(name)
        project, ref = desk.project()
        (summary,) = runs(project, [ref])
        assert (summary.state, summary.started, summary.total, summary.cut_short) == ("pending", "", 0, False)
        assert find_active_run(project, ref) is None
        assert find_last_run(project, ref) is None
        result: Any = desk.type("evaluate")
        assert result.exit == 0


def test_a_run_that_never_began_hides_none_before_it(desk: InProcessRepository) -> None:
    scripted_run, first = begin_scripted_run(desk)
    scripted_run.complete_step("api")
    scripted_run.end("failed")
    second = begin_scripted_run(desk)[1]
    with open(second.journal, "w", encoding="utf-8"):
        project, ref = desk.project()
        assert state_of(find_last_run(project, ref)) == (first.id, "failed", "")
        active_run = find_active_run(project, ref)
        assert active_run is not None
        assert active_run.run == first.id


def test_the_last_run_comes_first(desk: InProcessRepository) -> None:
    first = begin_scripted_run(desk)[1]
    second = begin_scripted_run(desk)[1]
    project, ref = desk.project()
    assert [summary.id for summary in runs(project, [ref])] == [second.id, first.id]
