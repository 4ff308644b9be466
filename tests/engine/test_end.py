"""A run that fails, and dies before it was rolled back as the policy says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from execplan.edits.plan_writer import WriteOptions
from execplan.engine.recovery import rollback
from execplan.engine.run_observer import RunObserver
from execplan.engine.run_state import RunState
from execplan.errors import CHECK_FAILED
from execplan.execution import states
from tests.engine.running import Bench, steps
from tests.engine.test_begin import killed
from tests.engine.test_run import DROP, FAIL, MAKE, Seen, refused

if TYPE_CHECKING:
    from pathlib import Path

    from execplan.engine.journal.journal import Entry


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A plan whose second step fails."""
    made = Bench(tmp_path / "repo", monkeypatch)
    made.write("fail.sh", "exit 3\n")
    made.approved(steps(MAKE, FAIL))
    return made


def test_killed_behind_its_failure_it_is_rolled_back_and_not_tried_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(bench, monkeypatch, rollback, "rollback")
    assert (bench.told()[-1], bench.there("src/made.py")) == ("ended", True)
    finished = bench.on()
    assert (finished.status, finished.cause, bench.there("src/made.py")) == ("rolled_back", "failure", False)
    assert finished.rolled_back is not None
    assert bench.told()[-4:] == ["rollback", "restored", "reopened api", "rolled_back"]
    refused(CHECK_FAILED, "nothing-to-resume", bench.on)


def test_what_could_not_be_rolled_back_is_tried_again(bench: Bench) -> None:
    def spoil(entry: Entry) -> None:
        if entry.kind == "ended":
            bench.write("src/made.py", "X = 2\n")

    assert "could not be rolled back" in bench.go(Seen(spoil)).warnings[-1]
    bench.write("src/made.py", "X = 1\n")
    bench.write("fail.sh", "exit 0\n")
    assert bench.on().status == "completed"


def test_no_state_follows_that_may_not(bench: Bench) -> None:
    bench.own("rollback_on = []")
    bench.approved(steps(MAKE, DROP.replace("#drop", "#drop confirm"), FAIL))
    bench.go()
    bench.on()
    project, ref = bench.project()
    rollback.rollback(
        project, ref, bench.last(), step="api", automatic="", observer=RunObserver(), options=WriteOptions(commit=False)
    )
    bench.write("fail.sh", "exit 0\n")
    assert bench.on().status == "completed"
    course = RunState(bench.course().document)
    for entry in bench.entries():
        before, status = dict(course.status_of), course.status
        course.apply_entries([entry])
        assert course.status in (status, *states.RUN_TRANSITIONS[status])
        for step, state in course.status_of.items():
            assert state in (before[step], *states.STEP_TRANSITIONS[before[step]]), entry
