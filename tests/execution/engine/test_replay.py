"""A run that is run once more: on the same inputs only, and what differs is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from execplan.core.errors import CONFLICT, INPUT
from execplan.execution.engine.run import preview_run
from execplan.execution.engine.run_observer import RunOptions
from tests.execution.engine.run_repository import RunRepository, steps
from tests.execution.engine.test_run import MAKE, refused

TELL = "```sh {#tell outputs=told.txt shell}\ncat count/tell 2>/dev/null; echo x >> count/tell; cp count/tell told.txt\n```"


@pytest.fixture
def run_repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunRepository:
    """A repository that ignores what counts."""
    repository = RunRepository(tmp_path / "repo", monkeypatch)
    repository.write(".gitignore", "count/\n")
    (repository.path / "count").mkdir()
    return repository


def back(remove_made_files: RunRepository) -> None:
    """Let the files be as they were before the run."""
    for name in ("src/made.py", "told.txt"):
        (remove_made_files.path / name).unlink(missing_ok=True)


def test_what_differs_is_told(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(MAKE, TELL))
    first = run_repo.run_plan().run
    back(run_repo)
    run_repo.approve()
    second = run_repo.run_plan(replays="1")
    assert second.status == "completed"
    assert json.loads(run_repo.text(run_repo.last_run().journal).splitlines()[0])["replays"] == first
    assert second.differences[0] == "tell: prints different output"
    assert second.differences[1].startswith("tell: told.txt: has a different result (")
    assert len(second.differences) == 2


def test_nothing_differs(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(MAKE, "```sh {#see}\ncat src/made.py\n```"))
    run_repo.run_plan()
    back(run_repo)
    run_repo.approve()
    assert run_repo.run_plan(replays="1").differences == ()


def test_how_it_ended_is_told(run_repo: RunRepository) -> None:
    run_repo.write_user_settings("rollback_on = []")
    run_repo.approve_plan(steps("```sh {#see retry=1 backoff=1ms}\ntest -e count/go\n```"))
    run_repo.run_plan()
    run_repo.write("count/go", "")
    run_repo.approve()
    assert run_repo.run_plan(replays="1").differences == (
        "see: was failed, is completed",
        "see: 2 attempts then, 1 now",
        "see: ended with exit 1, now ends with exit 0",
    )


def test_other_inputs_and_other_steps_are_refused(run_repo: RunRepository) -> None:
    run_repo.approve_plan(steps(MAKE, "```text {#drop type=delete_file target=src/old.py}\nOld.\n```"))
    run_repo.run_plan()
    back(run_repo)
    run_repo.write("src/old.py", "x = 2\n")
    run_repo.approve()
    error = refused(CONFLICT, "not-as-then", lambda: run_repo.run_plan(replays="1"))
    assert [line.partition(":")[0] for line in error.candidates] == ["src/old.py"]
    refused(CONFLICT, "not-as-then", lambda: preview_run(*run_repo.project(), RunOptions(replays="1")))
    refused(INPUT, "no-such-run", lambda: run_repo.run_plan(replays="7"))
    run_repo.approve_plan(steps(MAKE))
    assert (
        refused(CONFLICT, "not-as-then", lambda: run_repo.run_plan(replays="1"))
        .candidates[0]
        .startswith("the execution plan")
    )
    assert len(run_repo.runs()) == 1
    assert run_repo.run_plan().status == "completed", "the approval was not used by what was refused"
