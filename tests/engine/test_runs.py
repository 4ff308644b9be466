"""How the last run of a plan stands, by the end of its journal: the same as by all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from execplan.engine.journal import journal_entries
from execplan.engine.run_lock import acquire_run_lock
from execplan.engine.run_records import run_statuses
from execplan.engine.run_records.run_statuses import RunStatus, find_last_run
from execplan.engine.run_records.run_summary import STATES, find_active_run, runs, summarize_run
from tests.engine.hand import begun, created
from tests.engine.test_underway import PLAN
from tests.repo.approving import NAME, Desk

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
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A repository with a plan of three steps."""
    made = Desk(tmp_path / "repo", monkeypatch)
    made.plan(PLAN)
    return made


def state_of(found: RunStatus | None) -> tuple[str, str, str] | None:
    """Which run it is, its state and what it waits for."""
    return found[:3] if found is not None else None


def test_as_a_run_goes_on(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_statuses, "_TAIL", 2000)
    project, ref = desk.project()
    assert find_last_run(project, ref) is None
    assert runs(project, [ref]) == []
    hand, place = begun(desk)

    def stands() -> tuple[str, str]:
        found = find_last_run(project, ref)
        assert found is not None
        assert found.id == place.id
        whole = summarize_run(project, ref, place)
        assert (found.state == "cut_short") == whole.cut_short
        assert (found.state == "rolling_back") == whole.rolling
        assert (found.state == "waiting") == (whole.question is not None or whole.status == "replanning")
        if found.state in ("completed", "failed", "rolled_back"):
            assert found.state == whole.status
        return found.state, found.why

    assert stands() == ("cut_short", "")
    with acquire_run_lock(project, f"run {place.id} of {ref.id}"):
        assert stands() == ("running", "")
    with acquire_run_lock(project, "run 0009-12345678 of another"):
        assert stands() == ("cut_short", ""), "another run is at work"
    hand.done("api", *[created(f"{number}.txt") for number in range(40)])
    assert stands() == ("cut_short", ""), "the last line is longer than what is read first"
    hand.write(journal_entries.PAUSED, why="checkpoint", step="api", question="Go on?")
    assert stands() == ("waiting", "checkpoint")
    hand.write(
        journal_entries.ANSWERED, why="checkpoint", step="api", answer="go", user="ann", session=None, how="resume"
    )
    hand.failed("drop")
    hand.end("failed", "failure")
    assert stands() == ("failed", "")
    hand.write(journal_entries.ROLLBACK, steps=["api"], **ROLLBACK)
    assert stands() == ("rolling_back", "")
    hand.write(journal_entries.RESTORED, path="1.txt", displaced=None)
    assert stands() == ("rolling_back", "")
    hand.write(journal_entries.ROLLED_BACK, steps=["api"], restored=[], removed=[], whole=False)
    assert stands() == ("failed", "")
    for _ in range(30):
        hand.write(journal_entries.REOPENED, step="api", task="Build the parser.")
    assert stands() == ("failed", ""), "what counts lies before what is read first"
    hand.write(
        journal_entries.REPLANNED,
        revision=2,
        document="0" * 64,
        reason="x",
        completed=[],
        failed=[2],
        user="a",
        session=None,
    )
    assert state_of(find_last_run(project, ref)) == (place.id, "waiting", "approve")
    hand.write(journal_entries.ROLLBACK, steps=["api"], **ROLLBACK)
    hand.write(journal_entries.ROLLED_BACK, steps=["api"], restored=[], removed=[], whole=True)
    found = find_last_run(project, ref)
    assert state_of(found) == (place.id, "rolled_back", "")
    assert found is not None
    assert (found.reason, bool(found.ended)) == ("", True), "how it had ended is further above"


def test_status_and_list_say_what_waits(desk: Desk) -> None:
    hand, place = begun(desk)
    nothing = {"reason": None, "ended": None}
    assert desk.data("status")["plans"][0]["execution"]["run"] == {
        "id": place.id,
        "state": "cut_short",
        **nothing,
        "why": None,
    }
    hand.write(journal_entries.PAUSED, why="confirm", step="drop", question="Go on?")
    told = {"id": place.id, "state": "waiting", **nothing, "why": "confirm"}
    assert desk.data("list")["plans"][0]["execution"]["run"] == told
    assert desk.data("show", "--steps")["execution"]["run"] == told
    for verb in ("status", "list"):
        assert "(steps: used, run 1 waits for an answer)" in desk.type(verb).out
    hand.write(
        journal_entries.ANSWERED, why="confirm", step="drop", answer="stop", user="ann", session=None, how="resume"
    )
    hand.end("failed", "cancellation")
    assert "(steps: used)" in desk.type("status").out


def test_summaries(desk: Desk) -> None:
    hand, place = begun(desk)
    hand.done("api")
    hand.failed("drop")
    hand.write(journal_entries.BLOCKED, step="check", reason="it needs drop")
    hand.end("failed", "failure")
    project, ref = desk.project()
    (found,) = runs(project, [ref])
    assert (found.id, found.plan, found.state, found.status) == (place.id, NAME, "failed", "failed")
    assert (found.done, found.total, found.seconds, found.started) == (1, 3, 1.5, "2026-01-01T00:00:00Z")
    (archived,) = [summarize_run(project, ref._replace(archived=True), place)]
    assert archived.state == "archived"
    assert found.state in STATES


def test_a_run_that_never_began(desk: Desk) -> None:
    _, place = begun(desk)
    for name in ("", '{"n":1,"kind":"begun"'):
        with open(place.journal, "w", encoding="utf-8") as file:
            file.write(name)
        project, ref = desk.project()
        (found,) = runs(project, [ref])
        assert (found.state, found.started, found.total, found.cut_short) == ("pending", "", 0, False)
        assert find_active_run(project, ref) is None
        assert find_last_run(project, ref) is None
        result: Any = desk.type("evaluate")
        assert result.exit == 0


def test_a_run_that_never_began_hides_none_before_it(desk: Desk) -> None:
    hand, first = begun(desk)
    hand.done("api")
    hand.end("failed")
    second = begun(desk)[1]
    with open(second.journal, "w", encoding="utf-8"):
        project, ref = desk.project()
        assert state_of(find_last_run(project, ref)) == (first.id, "failed", "")
        found = find_active_run(project, ref)
        assert found is not None
        assert found.run == first.id


def test_the_last_run_comes_first(desk: Desk) -> None:
    first = begun(desk)[1]
    second = begun(desk)[1]
    project, ref = desk.project()
    assert [each.id for each in runs(project, [ref])] == [second.id, first.id]
