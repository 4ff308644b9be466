"""The files that follow from a journal are not synced: what a power failure has taken of them, the next command restores."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execplan.core.errors import CHECK_FAILED
from execplan.execution import states
from execplan.execution.engine.run_records import evidence_copies, record_builder
from execplan.execution.engine.run_records.lost_evidence import lacks_record
from tests.execution.engine.run_repository import RunRepository, steps
from tests.execution.engine.test_run import refused

if TYPE_CHECKING:
    from collections.abc import Callable

MAKE = "```python {#make type=create_file target=src/made.py}\nX = 1\n```\n"
FAILS = "```sh {#fails}\nls missing\n```\n"


def cut(path: str) -> None:
    """Lose the content of a file."""
    os.truncate(path, 0)


def cut_half(path: str) -> None:
    """Lose half of it."""
    os.truncate(path, os.path.getsize(path) // 2)


LOSSES: dict[str, Callable[[str], None]] = {"content": cut, "half": cut_half, "name": os.unlink}


@pytest.fixture
def run_repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunRepository:
    """A repository whose run has ended."""
    repository = RunRepository(tmp_path / "repo", monkeypatch)
    repository.approve_plan(steps(MAKE))
    repository.run_plan()
    return repository


def evidence(run_repo: RunRepository) -> dict[str, bytes]:
    """What there is of the first run among the artifacts."""
    folder = Path(run_repo.runs()[-1].folder)
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def run_again(run_repo: RunRepository) -> None:
    (run_repo.path / "src/made.py").unlink()
    run_repo.approve()
    assert run_repo.run_plan().status == states.COMPLETED


COMMANDS: dict[str, Callable[[RunRepository], object]] = {
    "run": run_again,
    "resume": lambda run_repo: refused(CHECK_FAILED, "nothing-to-resume", run_repo.resume_run),
    "doctor": lambda run_repo: run_repo.type("doctor", "--fix"),
    "archive": lambda run_repo: run_repo.data("archive", run_repo.name, "--force", "--reason", "Done."),
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("command", COMMANDS)
def test_the_next_command_restores_them(run_repo: RunRepository, command: str, loss: str) -> None:
    before = evidence(run_repo)
    assert {"journal.jsonl", "record.json", "execution-plan.json", "approval.json"} <= before.keys()
    for name in before:
        if not name.startswith("transcripts/"):
            LOSSES[loss](run_repo.last_run().artifact_path(name))
    assert evidence(run_repo) != before
    assert run_repo.data("runs")["runs"][0]["status"] == "completed"
    COMMANDS[command](run_repo)
    if command == "archive":
        (folder,) = run_repo.path.glob(".agent/**/archive/**/runs/*")
        assert {name: (folder / name).read_bytes() for name in before} == before
    else:
        assert evidence(run_repo) == before
        assert run_repo.type("audit", run_repo.name, "--verify").exit == 0


def test_a_failed_run_is_filed_again_unless_it_waits_for_its_rollback(
    run_repo: RunRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    run_repo.write_user_settings("rollback_on = []")
    run_repo.approve_plan(steps(FAILS))
    assert run_repo.run_plan().status == states.FAILED
    os.unlink(run_repo.last_run().record)
    run_repo.type("doctor", "--fix")
    assert not lacks_record(run_repo.last_run())
    run_repo.write_user_settings('rollback_on = ["failure"]')
    run_repo.approve()
    with monkeypatch.context() as patch:
        patch.setattr("execplan.execution.engine.run_session._roll_back", die)
        with pytest.raises(KeyboardInterrupt):
            run_repo.run_plan()
    assert run_repo.entry_names()[-1] == "ended"
    run_repo.type("doctor", "--fix")
    assert record_builder.read_record(run_repo.last_run()) is None
    assert run_repo.resume_run().status == states.ROLLED_BACK


def test_what_the_state_no_longer_has_is_left_alone(run_repo: RunRepository) -> None:
    run_paths = run_repo.last_run()
    os.unlink(run_paths.state_journal)
    os.unlink(run_paths.record)
    assert not evidence_copies.is_behind_journal(run_paths)
    run_again(run_repo)
    assert not os.path.lexists(run_paths.record)
