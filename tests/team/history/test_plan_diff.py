"""The changes of a plan between revisions, under whatever path it had in them."""

from __future__ import annotations

import os

import pytest

from execplan.core.errors import ExecplanError
from execplan.team.history.plan_diff import compare_revisions, require_base, require_commit
from execplan.team.history.plan_history import select_past_plan
from tests.conftest import Folder
from tests.plans import CLEAN
from tests.team.history.test_plan_history import NAME, PATH, commit, edit


@pytest.fixture(autouse=True)
def _environment(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in repo.env.items():
        monkeypatch.setenv(name, value)


def changes(repo: Folder, plan: str, old: str | None, new: str | None = None) -> list[tuple[str, str]]:
    """The kinds and texts of the changes of a plan."""
    project, ref = select_past_plan(os.fspath(repo.path), plan)
    commits = [revision and require_commit(project, revision) for revision in (old, new)]
    return [(event.kind, event.text) for event in compare_revisions(project, ref, commits[0], commits[1]).events]


def test_revisions_and_the_working_tree(repo: Folder) -> None:
    repo.plan()
    commit(repo)
    edit(repo, "- [ ] Build", "- [x] Build")
    commit(repo)
    edit(repo, "- [ ] Write", "- [x] Write")
    assert changes(repo, NAME, "HEAD") == [("task-done", "Write the tests.")]
    assert changes(repo, NAME, "HEAD~1") == [("task-done", "Build the parser."), ("task-done", "Write the tests.")]
    assert changes(repo, NAME, "HEAD~1", "HEAD") == [("task-done", "Build the parser.")]
    assert changes(repo, NAME, "HEAD", "HEAD~1") == [("task-reopened", "Build the parser.")]
    assert changes(repo, NAME, "HEAD", "HEAD") == []


def test_a_plan_under_earlier_names(repo: Folder) -> None:
    repo.plan()
    commit(repo)
    repo.git("mv", PATH, ".agent/execplans/2026-01-02_middle.md")
    commit(repo)
    (repo.path / ".agent/execplans/archive").mkdir()
    repo.git("mv", ".agent/execplans/2026-01-02_middle.md", ".agent/execplans/archive/2026-01-03_end.md")
    commit(repo)
    for revision in ("HEAD~1", "HEAD~2"):
        assert changes(repo, "2026-01-03_end", revision) == [
            ("archived", "Build the parser"),
            ("renamed", "Build the parser"),
        ]
    assert changes(repo, "2026-01-03_end", "HEAD~2", "HEAD~1") == [("renamed", "Build the parser")]


def test_a_plan_that_one_revision_lacks(repo: Folder) -> None:
    before = commit(repo)
    repo.plan()
    commit(repo)
    assert changes(repo, NAME, before)[0] == ("created", "Build the parser")
    assert changes(repo, NAME, None)[0] == ("created", "Build the parser")
    (repo.path / PATH).unlink()
    assert changes(repo, NAME, "HEAD") == [("deleted", "Build the parser")]
    commit(repo)
    assert changes(repo, NAME, "HEAD~1", "HEAD") == [("deleted", "Build the parser")]
    with pytest.raises(ExecplanError) as error:
        changes(repo, NAME, before, "HEAD")
    assert (error.value.code, error.value.exit) == ("not-in-revision", 3)


def test_a_broken_version(repo: Folder) -> None:
    repo.plan()
    commit(repo)
    repo.plan(b"# T\xff\n")
    assert [kind for kind, _ in changes(repo, NAME, "HEAD")] == ["broken"]
    commit(repo)
    repo.plan(CLEAN)
    assert changes(repo, NAME, "HEAD") == [("repaired", "Build the parser")]
    edit(repo, "- [ ] Write", "- [x] Write")
    commit(repo)
    expected = [("repaired", "Build the parser"), ("task-done", "Write the tests.")]
    assert changes(repo, NAME, "HEAD~1") == expected
    assert changes(repo, NAME, "HEAD~1", "HEAD") == expected


def test_a_plan_whose_first_version_is_broken(repo: Folder) -> None:
    repo.plan(b"# T\xff\n")
    commit(repo)
    repo.plan()
    kinds = [kind for kind, _ in changes(repo, NAME, "HEAD")]
    assert kinds[:2] == ["repaired", "task-added"]


def test_bases_of_branches(repo: Folder) -> None:
    repo.plan()
    base = commit(repo)
    repo.git("checkout", "-q", "-b", "side")
    side = commit(repo, "Bob")
    repo.git("checkout", "-q", "main")
    main = commit(repo)
    project, _ = select_past_plan(os.fspath(repo.path), NAME)
    assert require_base(project, ("main", main), ("side", side)) == base
    repo.git("checkout", "-q", "--orphan", "alone")
    alone = commit(repo)
    with pytest.raises(ExecplanError, match="main and alone have no commit in common"):
        require_base(project, ("main", main), ("alone", alone))


@pytest.mark.parametrize("revision", ["nowhere", "--all", "-1", "main:README.md", "a b", "", "\n"])
def test_unknown_revisions(repo: Folder, revision: str) -> None:
    repo.plan()
    commit(repo)
    project, _ = select_past_plan(os.fspath(repo.path), NAME)
    with pytest.raises(ExecplanError) as error:
        require_commit(project, revision)
    assert (error.value.code, error.value.exit) == ("no-such-revision", 3)


def test_deleted_plans_are_found_by_their_names(repo: Folder) -> None:
    repo.plan()
    repo.plan(CLEAN, "2026-01-05_kept")
    commit(repo)
    repo.git("mv", PATH, ".agent/execplans/2026-01-02_moved.md")
    commit(repo)
    repo.git("rm", "-q", ".agent/execplans/2026-01-02_moved.md")
    commit(repo)
    for name in (NAME, PATH, "2026-01-02_moved", "moved", "01-01_PARS"):
        assert select_past_plan(os.fspath(repo.path), name)[1].id == "2026-01-02_moved"
    with pytest.raises(ExecplanError, match="unknown plan"):
        select_past_plan(os.fspath(repo.path), "2026-01-09_other")
    repo.plan(CLEAN, "2026-02-01_new")
    repo.git("rm", "-q", ".agent/execplans/2026-01-05_kept.md")
    commit(repo)
    with pytest.raises(ExecplanError, match="matches 2 plans") as error:
        select_past_plan(os.fspath(repo.path), "2026-01-0")
    assert error.value.candidates == ("2026-01-01_parser", "2026-01-02_moved", "2026-01-05_kept")
