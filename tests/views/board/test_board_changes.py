"""Detection of changes: which plans differ, for everything that pages and boards show, and nothing else."""

from __future__ import annotations

import os
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from execplan.core.project import project_discovery
from execplan.views.board.board_changes import PROJECT, take_snapshot
from tests.cli.journaled_run import JournaledRun
from tests.in_process_repository import LOW, NAME, InProcessRepository
from tests.plans import CLEAN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from execplan.views.board.board_changes import Snapshot
    from tests.conftest import Folder


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository with a plan that can be run."""
    desk = InProcessRepository(tmp_path / "desk", monkeypatch)
    desk.plan(LOW)
    return desk


def snapshot(directory: Path | None = None) -> Snapshot:
    """The files of the project that contains a directory, by default the current one, as they are now."""
    return take_snapshot(project_discovery.require(str(directory or os.getcwd())))


def _append(folder: Folder) -> None:
    with (folder.path / ".agent/execplans/2026-01-01_parser.md").open("a") as file:
        file.write("More.\n")


CHANGES: dict[str, tuple[Callable[[Folder], object], bool]] = {
    "an edit": (lambda folder: folder.ok("done", "1"), True),
    "a reopened task": (lambda folder: folder.ok("reopen", "2"), True),
    "an edit in place": (_append, True),
    "a removed plan": (lambda folder: os.remove(folder.path / ".agent/execplans/2026-01-01_parser.md"), True),
    "a comment": (lambda folder: folder.ok("comment", "Why?"), True),
    "an artifact": (lambda folder: folder.ok("attach", "README.md"), True),
    "an archived plan": (lambda folder: folder.ok("archive", "--force", "--reason", "No longer wanted."), True),
    "a claim": (lambda folder: folder.ok("next", "--claim", "agent-1"), False),
    "a commit": (lambda folder: folder.git("commit", "-q", "--allow-empty", "-m", "x"), False),
    "settings": (lambda folder: folder.write(".agent/execplan.toml", "commit = false\n"), False),
}


@pytest.mark.parametrize(("change", "is_of_plan"), CHANGES.values(), ids=CHANGES)
def test_changes_of_a_plan_and_of_the_project(
    repo: Folder, change: Callable[[Folder], object], is_of_plan: bool
) -> None:
    plan = CLEAN.replace("- [x] (2025-12-30 09:15Z)", "- [ ]").replace("- [ ] Build", "- [x] (2025-12-30 09:15Z) Build")
    path = str(repo.plan(plan))
    repo.plan(CLEAN, "2026-01-02_other")
    repo.env["EXECPLAN_PLAN"] = "2026-01-01_parser"
    before = snapshot(repo.path)
    assert snapshot(repo.path).changed_plans(before) == frozenset()
    change(repo)
    changed = snapshot(repo.path).changed_plans(before)
    assert path in changed if is_of_plan else changed == {PROJECT}
    assert not [key for key in changed if "other" in key]


def test_a_new_plan_and_an_edit_of_an_archived_one_are_changes(repo: Folder) -> None:
    repo.plan()
    repo.ok("archive", "2026-01-01_parser", "--force", "--reason", "No longer wanted.")
    before = snapshot(repo.path)
    new_plan = repo.plan(CLEAN, "2026-01-02_other")
    (archived_plan,) = (repo.path / ".agent").rglob("2026-01-01_parser.md")
    with archived_plan.open("a") as file:  # an editor that writes in place
        file.write("More.\n")
    assert snapshot(repo.path).changed_plans(before) == {str(new_plan), str(archived_plan)}


def test_a_file_in_a_subdirectory_of_artifacts_is_a_change(repo: Folder) -> None:
    path = str(repo.plan())
    artifacts = ".agent/execplans/artifacts/2026-01-01_parser"
    repo.write(f"{artifacts}/screens/wide/a.txt", "a")
    for name in ("screens/wide/b.txt", "screens/narrow/a.txt"):
        before = snapshot(repo.path)
        repo.write(f"{artifacts}/{name}", "b")
        assert snapshot(repo.path).changed_plans(before) == {path}


def test_an_approval_and_a_run_are_changes(desk: InProcessRepository) -> None:
    path = str(desk.path / f".agent/execplans/{NAME}.md")
    snapshots = [snapshot()]
    desk.approve()
    snapshots.append(snapshot())
    run = JournaledRun(desk)
    snapshots.append(snapshot())
    run.write("paused", why="question")
    snapshots.append(snapshot())
    for earlier, later in pairwise(snapshots):
        assert later.changed_plans(earlier) - {PROJECT} == {path}


def test_a_real_run_is_a_change(desk: InProcessRepository) -> None:
    desk.approve()
    before = snapshot()
    desk.type("run")
    assert snapshot().changed_plans(before)


def test_reading_changes_nothing(desk: InProcessRepository) -> None:
    before = snapshot()
    for call in (["board"], ["status"], ["lint"], ["next"]):
        desk.type(*call)
    assert snapshot() == before


def test_nested_projects_count(desk: InProcessRepository) -> None:
    path = desk.write("tools/.agent/execplans/tool.md", LOW)
    desk.write(".agent/execplan.toml", 'homes = ["tools"]\n')
    before = snapshot()
    desk.write("tools/.agent/execplans/tool.md", LOW + "\n")
    assert snapshot().changed_plans(before) == {str(path)}
