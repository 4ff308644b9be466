"""The plans that a branch changes: edited, new, renamed, archived, deleted and broken ones, committed or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from execplan.core.project import project_discovery
from execplan.team.github.plan_report import ChangedPlan, load_branch_changes
from tests.conftest import Folder
from tests.plans import CLEAN

OTHER = CLEAN.replace("Build the parser", "Write the printer")


@pytest.fixture
def branch(repo: Folder) -> Folder:
    """A repository with two plans on main, and the branch `work`."""
    repo.plan()
    repo.plan(OTHER, "2026-01-02_printer")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plans")
    repo.git("checkout", "-q", "-b", "work")
    return repo


def changes(repo: Folder) -> dict[str, ChangedPlan]:
    """The changed plans since main, by ID."""
    project = project_discovery.find(str(repo.path))
    commit = repo.git("rev-parse", "main").strip()
    return {change.ref.id: change for change in load_branch_changes(project, commit)}


def kinds(change: ChangedPlan) -> list[str]:
    """The kinds of a plan's events."""
    return [event.kind for event in change.events]


def test_no_change(branch: Folder) -> None:
    assert changes(branch) == {}
    branch.write("src/main.py", "x = 1\n")
    assert changes(branch) == {}


def test_committed_and_uncommitted_edits_count_together(branch: Folder) -> None:
    branch.ok("done", "2", "-p", "parser", "--commit")
    branch.ok("done", "3", "-p", "parser")
    branch.ok("decide", "Print lines", "--why", "They are read.", "-p", "printer")
    found = changes(branch)
    assert list(found) == ["2026-01-01_parser", "2026-01-02_printer"]
    assert kinds(found["2026-01-01_parser"]) == ["task-done", "task-done"]
    assert kinds(found["2026-01-02_printer"]) == ["decision-added"]
    assert not any(change.is_deleted for change in found.values())


def test_a_change_that_was_reverted_is_none(branch: Folder) -> None:
    branch.ok("done", "2", "-p", "parser", "--commit")
    branch.ok("undo", "-p", "parser", "--commit")
    assert changes(branch) == {}


def test_a_new_plan_need_not_be_tracked(branch: Folder) -> None:
    branch.plan(CLEAN.replace("Build the parser", "Draw"), "2026-01-03_draw")
    (change,) = changes(branch).values()
    assert kinds(change)[0] == "created"
    assert (change.path, change.former_path) == (".agent/execplans/2026-01-03_draw.md", "")


def test_an_archived_plan_is_one_change(branch: Folder) -> None:
    branch.ok("archive", "parser", "--force", "--reason", "No longer wanted.", "--commit")
    change = changes(branch)["2026-01-01_parser"]
    assert "archived" in kinds(change)
    assert change.path == ".agent/execplans/archive/2026-01-01_parser.md"
    assert change.former_path == ".agent/execplans/2026-01-01_parser.md"


def test_a_renamed_plan_is_one_change(branch: Folder) -> None:
    branch.ok("rename", "parser", "Build the line parser", "--commit")
    (change,) = changes(branch).values()
    assert kinds(change)[0] == "renamed"
    assert change.former_path == ".agent/execplans/2026-01-01_parser.md"


def test_a_deleted_plan_has_its_former_title(branch: Folder) -> None:
    branch.git("rm", "-q", ".agent/execplans/2026-01-01_parser.md")
    (change,) = changes(branch).values()
    assert (kinds(change), change.is_deleted, change.events[0].text) == (["deleted"], True, "Build the parser")


def test_a_plan_that_became_unreadable_is_broken(branch: Folder) -> None:
    branch.plan(b"# Build\0\n")
    (change,) = changes(branch).values()
    assert kinds(change) == ["broken"]


def test_names_with_special_characters(branch: Folder) -> None:
    for name in ("2026-01-03_é", "2026-01-03_a b", "2026-01-03_::error::", "-x"):
        branch.plan(CLEAN, name)
    branch.git("add", "-A")
    branch.git("commit", "-q", "-m", "More")
    assert set(changes(branch)) == {"2026-01-03_é", "2026-01-03_a b", "2026-01-03_::error::", "-x"}


def test_earlier_history_is_not_needed(branch: Folder, tmp_path: Path) -> None:
    branch.ok("done", "2", "-p", "parser", "--commit")
    branch.git("clone", "-q", "--depth", "2", "--no-single-branch", f"file://{branch.path}", str(tmp_path / "clone"))
    clone = Folder(tmp_path / "clone")
    clone.git("branch", "main", "origin/main")
    assert kinds(changes(clone)["2026-01-01_parser"]) == ["task-done"]
