"""A run that dies before it has begun, or just then: its approval serves the next one, and no second one."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from execplan.core.errors import CHECK_FAILED, CONFLICT, INPUT
from execplan.core.files import atomic_files
from execplan.execution.approvals import approval_registry
from execplan.execution.engine.journal.journal import Journal
from tests.execution.engine.run_repository import RunRepository, steps
from tests.execution.engine.test_run import DROP, refused

if TYPE_CHECKING:
    from pathlib import Path


class ProcessKilled(BaseException):
    """The process was killed."""


def die(*_: Any, **__: Any) -> Any:
    raise ProcessKilled


@pytest.fixture
def run_repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunRepository:
    """A plan that is approved."""
    repository = RunRepository(tmp_path / "repo", monkeypatch)
    repository.approve_plan(steps(DROP))
    return repository


def kill_at_call(run_repo: RunRepository, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
    """Run, and die at a call."""
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, die)
        with pytest.raises(ProcessKilled):
            run_repo.run_plan()


@pytest.mark.parametrize(("where", "name"), [(atomic_files, "make_directory"), (Journal, "append_entry")])
def test_an_approval_of_a_run_that_never_began_serves_the_next(
    run_repo: RunRepository, where: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill_at_call(run_repo, monkeypatch, where, name)
    assert run_repo.exists("src/old.py")
    if run_repo.runs():
        assert "execplan run" in (refused(INPUT, "no-such-run", run_repo.resume_run).hint or "")
    assert run_repo.run_plan().status == "completed"
    run_repo.write("src/old.py", "x = 1\n")
    refused(CONFLICT, "approval-used", run_repo.run_plan)


def test_killed_behind_its_first_entry_it_goes_on_with_its_own(
    run_repo: RunRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill_at_call(run_repo, monkeypatch, approval_registry, "mark_used")
    assert run_repo.entry_names() == ["begun"]
    refused(CHECK_FAILED, "run-under-way", run_repo.run_plan)
    assert run_repo.resume_run().status == "completed"


def test_who_removes_the_journal_frees_no_approval(run_repo: RunRepository) -> None:
    run_repo.run_plan()
    run_repo.write("src/old.py", "x = 1\n").chmod(0o644)
    shutil.rmtree(run_repo.last_run().folder)
    refused(CONFLICT, "approval-used", run_repo.run_plan)


def test_a_run_whose_approval_another_has_taken_does_not_begin(run_repo: RunRepository) -> None:
    project, _ = run_repo.project()
    approval_registry.ensure_unused(project, "0" * 32)
    approval_registry.mark_used(project, "0" * 32, "run-1")
    refused(CONFLICT, "approval-used", lambda: approval_registry.ensure_unused(project, "0" * 32))
    refused(CONFLICT, "approval-used", lambda: approval_registry.mark_used(project, "0" * 32, "run-2"))
    used_path, _ = approval_registry.entry_paths(project, "1" * 32)
    Path(used_path).write_text("run-1 is about to begin")  # as an earlier version wrote it
    approval_registry.ensure_unused(project, "1" * 32)
    approval_registry.mark_used(project, "1" * 32, "run-2")
    assert approval_registry.read_entry(project, "1" * 32).run_id == "run-2"
