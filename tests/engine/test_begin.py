"""A run that dies before it has begun, or just then: its approval serves the next one, and no second one."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from execplan.approvals import approval_registry
from execplan.engine.journal.journal import Journal
from execplan.errors import CHECK_FAILED, CONFLICT, INPUT
from execplan.files import atomic_files
from tests.engine.running import Bench, steps
from tests.engine.test_run import DROP, refused

if TYPE_CHECKING:
    from pathlib import Path


class Dead(BaseException):
    """The process was killed."""


def dies(*_: Any, **__: Any) -> Any:
    raise Dead


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A plan that is approved."""
    made = Bench(tmp_path / "repo", monkeypatch)
    made.approved(steps(DROP))
    return made


def killed(bench: Bench, monkeypatch: pytest.MonkeyPatch, where: Any, name: str) -> None:
    """Run, and die at a call."""
    with monkeypatch.context() as patch:
        patch.setattr(where, name, dies)
        with pytest.raises(Dead):
            bench.go()


@pytest.mark.parametrize(("where", "name"), [(atomic_files, "make_directory"), (Journal, "write")])
def test_an_approval_of_a_run_that_never_began_serves_the_next(
    bench: Bench, where: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(bench, monkeypatch, where, name)
    assert bench.there("src/old.py")
    if bench.runs():
        assert "execplan run" in (refused(INPUT, "no-such-run", bench.on).hint or "")
    assert bench.go().status == "completed"
    bench.write("src/old.py", "x = 1\n")
    refused(CONFLICT, "approval-used", bench.go)


def test_killed_behind_its_first_entry_it_goes_on_with_its_own(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    killed(bench, monkeypatch, approval_registry, "use")
    assert bench.told() == ["begun"]
    refused(CHECK_FAILED, "run-under-way", bench.go)
    assert bench.on().status == "completed"


def test_who_removes_the_journal_frees_no_approval(bench: Bench) -> None:
    bench.go()
    bench.write("src/old.py", "x = 1\n").chmod(0o644)
    shutil.rmtree(bench.last().folder)
    refused(CONFLICT, "approval-used", bench.go)


def test_a_run_whose_approval_another_has_taken_does_not_begin(bench: Bench) -> None:
    project, _ = bench.project()
    approval_registry.reserve(project, "0" * 32, "run-1")
    approval_registry.reserve(project, "0" * 32, "run-2")
    assert approval_registry.read_entry(project, "0" * 32).run_id == ""
    refused(CONFLICT, "approval-used", lambda: approval_registry.mark_used(project, "0" * 32, "run-1"))
    approval_registry.mark_used(project, "0" * 32, "run-2")
    refused(CONFLICT, "approval-used", lambda: approval_registry.reserve(project, "0" * 32, "run-3"))
