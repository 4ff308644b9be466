"""The git hook and the index: a commit of plans contains a current index, and nobody's edits are swept into it."""

from __future__ import annotations

import pytest

from tests.conftest import Folder
from tests.plans import CLEAN
from tests.team.plan_index.test_plan_index_file import README

PLAN = ".agent/execplans/2026-01-01_a.md"


@pytest.fixture
def hooked(repo: Folder) -> Folder:
    """A repository with two plans, a committed index and the git hook."""
    for name in "ab":
        repo.plan(CLEAN, f"2026-01-01_{name}")
    repo.ok("index", "--write")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Plans")
    repo.ok("install", "git-hooks")
    return repo


def committed_progress(folder: Folder) -> list[str]:
    """The progress of each plan in the committed index."""
    lines = folder.git("show", f"HEAD:{README}").splitlines()
    return [line.split(" | ")[2] for line in lines if line.startswith("| [")]


def test_a_commit_of_a_plan_contains_a_current_index(hooked: Folder) -> None:
    hooked.ok("done", "2", "-p", "2026-01-01_a")
    hooked.write("README.md", "# Not staged\n")
    hooked.git("add", PLAN)
    hooked.git("commit", "-qm", "Tick")
    assert hooked.git("show", "--format=", "--name-only", "HEAD").split() == [PLAN, README]
    assert committed_progress(hooked) == ["2/3", "1/3"]
    assert hooked.git("status", "--short").split("\n") == [" M README.md", ""]
    hooked.ok("done", "2", "-p", "2026-01-01_b")
    hooked.git("commit", "-qam", "Tick all")
    assert committed_progress(hooked) == ["2/3", "2/3"]


def test_only_staged_plans_count(hooked: Folder) -> None:
    hooked.ok("done", "2", "-p", "2026-01-01_a")
    hooked.ok("done", "2", "-p", "2026-01-01_b")
    hooked.git("add", PLAN)
    hooked.git("commit", "-qm", "Tick")
    assert committed_progress(hooked) == ["2/3", "1/3"]


def test_an_index_that_was_written_but_not_staged_is_added(hooked: Folder) -> None:
    hooked.ok("done", "2", "-p", "2026-01-01_a")
    hooked.ok("index", "--write")
    hooked.git("add", PLAN)
    hooked.git("commit", "-qm", "Tick")
    assert committed_progress(hooked) == ["2/3", "1/3"]
    assert hooked.git("status", "--short") == ""


def test_unstaged_edits_stay_out_of_the_commit(hooked: Folder) -> None:
    path = hooked.path / README
    path.write_text(path.read_text().replace("# Plans", "# My plans"))
    hooked.ok("done", "2", "-p", "2026-01-01_a")
    hooked.git("add", PLAN)
    hooked.git("commit", "-qm", "Tick")
    assert hooked.git("show", "--format=", "--name-only", "HEAD").split() == [PLAN]
    assert path.read_text().startswith("# My plans\n")
    hooked.git("add", PLAN)
    warning = hooked.run("lint", "--staged", "--fix").err
    assert f"{README} is not updated, because the file has changes that are not staged" in warning


def test_a_commit_of_single_files_is_left_alone(hooked: Folder) -> None:
    hooked.ok("done", "2", "-p", "2026-01-01_a")
    hooked.git("commit", "-qm", "Tick", "--only", PLAN)
    assert hooked.git("show", "--format=", "--name-only", "HEAD").split() == [PLAN]
    assert hooked.git("status", "--short") == ""
    hooked.ok("done", "3", "-p", "2026-01-01_a", "--commit")
    assert hooked.git("status", "--short") == ""
    hooked.ok("index", "--write", "--commit")
    assert committed_progress(hooked) == ["3/3", "1/3"]


def test_a_commit_without_an_index_is_left_alone(repo: Folder) -> None:
    repo.plan()
    repo.ok("install", "git-hooks")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Plan")
    assert README not in repo.git("show", "--format=", "--name-only", "HEAD")
    assert repo.run("lint", "--staged", "--fix", "--json").json["data"]["fixed"] == []
