"""A run that fails, and dies before it was rolled back as the policy says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import CHECK_FAILED
from execplan.execution import states
from execplan.execution.engine.recovery import rollback
from execplan.execution.engine.run_observer import RunObserver
from execplan.execution.engine.run_state import RunState
from tests.execution.engine.run_repository import RunRepository, steps
from tests.execution.engine.test_run import DROP, FAIL, MAKE, EntryObserver, refused
from tests.execution.engine.test_run_setup import kill_at_call

if TYPE_CHECKING:
    from pathlib import Path

    from execplan.execution.engine.journal.journal import RunEntry


@pytest.fixture
def run_repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunRepository:
    """A plan whose second step fails."""
    repository = RunRepository(tmp_path / "repo", monkeypatch)
    repository.write("fail.sh", "exit 3\n")
    repository.write_user_settings('rollback_on = ["failure"]')
    repository.approve_plan(steps(MAKE, FAIL))
    return repository


def test_killed_behind_its_failure_it_is_rolled_back_and_not_tried_again(
    run_repo: RunRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill_at_call(run_repo, monkeypatch, rollback, "rollback")
    assert (run_repo.entry_names()[-1], run_repo.exists("src/made.py")) == ("ended", True)
    finished = run_repo.resume_run()
    assert (finished.status, finished.cause, run_repo.exists("src/made.py")) == ("rolled_back", "failure", False)
    assert finished.rolled_back is not None
    assert run_repo.entry_names()[-4:] == ["rollback", "restored", "reopened api", "rolled_back"]
    refused(CHECK_FAILED, "nothing-to-resume", run_repo.resume_run)


def test_what_could_not_be_rolled_back_is_tried_again(run_repo: RunRepository) -> None:
    def spoil(entry: RunEntry) -> None:
        if entry.kind == "ended":
            run_repo.write("src/made.py", "X = 2\n")

    assert "could not be rolled back" in run_repo.run_plan(EntryObserver(spoil)).warnings[-1]
    run_repo.write("src/made.py", "X = 1\n")
    run_repo.write("fail.sh", "exit 0\n")
    run_repo.approve()
    assert run_repo.resume_run().status == "completed"


def test_no_state_follows_that_may_not(run_repo: RunRepository) -> None:
    run_repo.write_user_settings("rollback_on = []")
    run_repo.approve_plan(steps(MAKE, DROP.replace("#drop", "#drop confirm"), FAIL))
    run_repo.run_plan()
    run_repo.resume_run("go")
    rollback.rollback(
        run_repo.last_run(), step="api", automatic="", observer=RunObserver(), options=WriteOptions(commit=False)
    )
    run_repo.write("fail.sh", "exit 0\n")
    run_repo.approve()
    assert run_repo.resume_run().status == "completed"
    run_state = RunState(run_repo.run_state().document)
    for entry in run_repo.entries():
        before, status = dict(run_state.status_of), run_state.status
        run_state.apply_entries([entry])
        assert run_state.status in (status, *states.RUN_TRANSITIONS[status])
        for step, state in run_state.status_of.items():
            assert state in (before[step], *states.STEP_TRANSITIONS[before[step]]), entry
