"""Undo and redo of moves and attachments after git or a person has put the files elsewhere."""

from __future__ import annotations

import shutil

import pytest

from tests.conftest import Folder
from tests.core.undo.test_undo_redo import ARCHIVE, PLANS, populated, tree

NAME = "2026-01-01_parser"
BACK = ("restore .", "clean -fdq")
MOVES = {"archive": ARCHIVE, "rename": ("rename", "parser", "Scanner"), "title": ("rename", "parser", "Build a parser")}


def committed(repo: Folder) -> None:
    """A plan with an artifact and an edit, all committed, and another branch there."""
    repo.ok("init")
    populated(repo)
    repo.ok("done", "2", "-p", "parser", "--commit")
    repo.git("branch", "old")


def git(repo: Folder, *lines: str) -> None:
    """Run git commands."""
    for line in lines:
        repo.git(*line.split(" "))


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize(
    ("flags", "lines"),
    [
        ((), BACK),
        (("--commit",), ("reset -q --hard HEAD~1",)),
        (("--commit",), ("switch -q old",)),
    ],
    ids=["restore", "reset", "switch"],
)
def test_what_git_has_moved_back_is_passed_over(
    repo: Folder, move: str, flags: tuple[str, ...], lines: tuple[str, ...]
) -> None:
    committed(repo)
    repo.ok(*MOVES[move], *flags)
    moved = tree(repo.path)
    git(repo, *lines)
    before = tree(repo.path)
    said = repo.ok("undo")
    assert (said["changed"], said["said"][0].partition(":")[0]) == (
        False,
        "no longer there, so there is nothing to undo",
    )
    assert tree(repo.path) == before
    assert repo.ok("undo")["operation"]["command"] == "done"
    assert [repo.ok("redo")["operation"]["command"] for _ in range(2)] == ["done", MOVES[move][0]]
    assert tree(repo.path) == moved
    repo.ok("undo")
    assert tree(repo.path) == before


def test_what_git_has_moved_again_is_passed_over_by_redo(repo: Folder) -> None:
    committed(repo)
    repo.ok(*ARCHIVE, "--commit")
    archived = tree(repo.path)
    repo.ok("undo")
    moved_back = tree(repo.path)
    git(repo, *BACK)
    assert repo.ok("redo")["said"][0].startswith("already there, so there is nothing to redo: archive")
    assert tree(repo.path) == archived
    repo.ok("undo")
    assert tree(repo.path) == moved_back


def test_a_restore_that_git_took_away_is_passed_over(repo: Folder) -> None:
    committed(repo)
    before = tree(repo.path)
    repo.ok(*ARCHIVE, "--commit")
    repo.ok("restore", "parser", "--commit")
    git(repo, "reset -q --hard HEAD~1")
    assert [repo.ok("undo")["changed"] for _ in range(2)] == [False, True]
    assert tree(repo.path) == before


@pytest.mark.parametrize("addition", ["", "By hand.\n\n"])
def test_the_rest_of_a_move_is_undone_after_its_plan_was_moved_back_by_hand(repo: Folder, addition: str) -> None:
    """The artifacts and the note of the archive, also if git doesn't know the plan."""
    populated(repo)
    repo.git("rm", "-rq", "--cached", ".agent")
    before = tree(repo.path)
    path = repo.path / PLANS / f"{NAME}.md"
    repo.ok(*ARCHIVE)
    archived = tree(repo.path)
    shutil.move(repo.path / PLANS / "archive" / path.name, path)
    path.write_text(addition + path.read_text())
    assert repo.ok("undo")["changed"]
    key = str(path.relative_to(repo.path))
    assert tree(repo.path) == {**before, key: addition.encode() + before[key]}
    if not addition:
        repo.ok("redo")
        assert tree(repo.path) == archived


def test_a_refused_undo_leaves_what_git_has_restored(repo: Folder) -> None:
    """The copies at the old place are replaced only if nothing is in the way of the move."""
    committed(repo)
    repo.ok(*ARCHIVE)
    git(repo, "restore .")
    archived = repo.path / PLANS / "archive" / f"{NAME}.md"
    archived.write_text(archived.read_text().replace("No longer wanted.", "Wanted."))
    before = tree(repo.path)
    assert repo.run("undo").exit == 4
    assert tree(repo.path) == before


def test_a_new_title_of_the_same_name_that_git_took_away(repo: Folder) -> None:
    repo.ok("new", "Build it", "--commit")
    repo.ok("rename", "build-it", "Build it!")
    git(repo, "restore .")
    before = tree(repo.path)
    assert not repo.ok("undo")["changed"]
    assert tree(repo.path) == before


@pytest.mark.parametrize("flags", [(), ("--commit",)])
def test_an_attachment_that_git_took_away_is_passed_over(repo: Folder, flags: tuple[str, ...]) -> None:
    committed(repo)
    repo.ok("attach", "README.md", "-p", "parser", *flags)
    git(repo, *(["reset -q --hard HEAD~1"] if flags else BACK))
    before = tree(repo.path)
    said = repo.ok("undo")["said"][0]
    assert said.startswith("no longer there, so there is nothing to undo: attach")
    assert "redo" not in said  # there is no copy of the file
    error = repo.run("redo", "--json").json["error"]
    assert "attach it again" in error["hint"]
    assert tree(repo.path) == before
    assert repo.ok("undo")["operation"]["command"] == "done"


def test_an_attachment_that_git_brought_back_is_redone(repo: Folder) -> None:
    committed(repo)
    repo.ok("attach", "README.md", "-p", "parser", "--commit")
    attached = tree(repo.path)
    repo.ok("undo")
    undone = tree(repo.path)
    git(repo, "restore .")
    repo.ok("redo")
    assert tree(repo.path) == attached
    repo.ok("undo")
    assert tree(repo.path) == undone


def test_a_plan_that_was_archived_elsewhere_is_restored_by_the_hint(repo: Folder) -> None:
    """As after `worktree --finish`: git has moved the file, and left the empty directory of its artifacts."""
    path = repo.plan()
    repo.ok("done", "2")
    archived = repo.write(f"{PLANS}/archive/{NAME}.md", path.read_bytes())
    path.unlink()
    (repo.path / PLANS / "artifacts" / NAME).mkdir(parents=True)
    repo.write(f"{PLANS}/archive/artifacts/{NAME}/run.log", "ok\n")
    before = tree(repo.path)
    error = repo.run("undo", "--json").json["error"]
    assert (error["code"], str(archived.relative_to(repo.path)) in error["message"]) == ("plan-gone", True)
    assert "in another worktree, or without execplan" in error["message"]
    assert tree(repo.path) == before
    repo.ok(*error["hint"].partition("execplan ")[2].partition(";")[0].split())
    assert path.exists()
    assert (repo.path / PLANS / "artifacts" / NAME / "run.log").exists()
    repo.ok("undo")
    assert tree(repo.path) == before


@pytest.mark.parametrize("source", [("Another plan", "--task", "First"), ("--from", "notes.md")])
def test_a_new_plan_that_git_brought_back_counts_as_redone(repo: Folder, source: tuple[str, ...]) -> None:
    committed(repo)
    repo.write("notes.md", "# Another plan\n\n## Steps\n\n- [ ] First\n")
    created = repo.ok("new", *source, "--commit")
    name = created["id"]
    repo.ok("done", "1", "-p", name, "--commit")
    after = tree(repo.path)
    repo.ok("undo")
    repo.ok("undo")
    git(repo, "checkout -q HEAD~1 -- .agent")
    repo.ok("redo")
    assert repo.ok("redo")["operation"]["command"] == "done"
    assert tree(repo.path) == after
    repo.ok("undo")
    repo.ok("undo")
    assert not (repo.path / created["path"]).exists()


def test_the_creation_of_a_plan_that_git_brought_back_is_undone_after_a_redo(repo: Folder) -> None:
    committed(repo)
    name = repo.ok("new", "Another plan", "--task", "First", "--commit")["id"]
    repo.ok("done", "1", "-p", name, "--commit")
    repo.ok("undo", "--commit")
    git(repo, "reset -q --hard HEAD~1")
    hint = repo.run("undo", "--json").json["error"]["hint"]
    repo.ok(*hint.partition("execplan ")[2].split())
    repo.ok("undo")
    repo.ok("undo")
    assert not (repo.path / PLANS / f"{name}.md").exists()
