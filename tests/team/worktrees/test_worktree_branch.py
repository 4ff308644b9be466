"""The branch of a plan's worktree: never that of another plan, and that of a worktree of git only if it is named."""

from __future__ import annotations

import shlex
import shutil

import pytest

from tests.conftest import Folder
from tests.team.worktrees.scratch import PARSER, branches, commit_plan, folder_at, open_worktree, refused

SECOND = "2026-02-02_parser"


def test_two_plans_with_the_same_branch_name(repo: Folder) -> None:
    """The suggested command gives the second plan a worktree of its own, and the first one is left alone."""
    commit_plan(repo)
    commit_plan(repo, name=SECOND)
    first = open_worktree(repo, PARSER)
    result = refused(repo, "branch-exists", "worktree", SECOND)
    assert f"the branch plan/parser belongs to the worktree of {PARSER}: {first.path}" in result.err
    hint = repo.run("worktree", SECOND, "--json").json["error"]["hint"]
    command = hint.partition(": ")[2]
    assert command == f"execplan worktree {SECOND} --branch plan/parser-2"
    refused(repo, "branch-exists", "worktree", SECOND, "--branch", "plan/parser")
    assert repo.run(*shlex.split(command)[1:]).out == f"{repo.path.parent / 'repo.worktrees' / SECOND}\n"
    assert repo.ok("worktree", SECOND, "--finish")["branch"] == "plan/parser-2"
    assert first.path.exists()
    assert [row["id"] for row in repo.ok("worktree")["worktrees"]] == [PARSER]


def test_another_plan_keeps_its_worktree_after_a_switch(repo: Folder) -> None:
    commit_plan(repo)
    commit_plan(repo, name=SECOND)
    first = open_worktree(repo, PARSER)
    first.git("switch", "-qc", "other")
    assert str(first.path) in refused(repo, "branch-exists", "worktree", SECOND, "--branch", "other").err


def test_a_branch_that_is_left_over(repo: Folder) -> None:
    commit_plan(repo)
    repo.git("branch", "plan/parser")
    repo.git("branch", "plan/parser-2")
    hint = repo.run("worktree", "parser", "--json").json["error"]["hint"]
    commands = [part.partition(": ")[2] for part in hint.split("; ")]
    assert commands == [
        f"execplan worktree {PARSER} --branch plan/parser",
        f"execplan worktree {PARSER} --branch plan/parser-3",
    ]
    open_worktree(repo, *shlex.split(commands[1])[2:])
    assert "plan/parser-3" in branches(repo)


def test_a_worktree_of_git_is_used_if_its_branch_is_named(repo: Folder) -> None:
    """It keeps its place, and that place is named when it is removed."""
    commit_plan(repo)
    repo.git("worktree", "add", "-q", "-b", "feature", "../with space")
    place = repo.path.parent / "with space"
    refused(repo, "branch-exists", "worktree", "parser", "--branch", "feature", "--directory", "../other")
    data = repo.ok("worktree", "parser", "--branch", "feature")
    assert (data["path"], data["created"]) == (str(place), False)
    assert folder_at(repo, place).ok("next")["id"] == PARSER
    result = repo.run("worktree", "parser", "--finish")
    assert f"removed {place} and its branch" in result.err
    assert not place.exists()


def test_a_moved_worktree_is_named_when_it_is_removed(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    place = repo.path.parent / "elsewhere"
    repo.git("worktree", "move", str(worktree.path), str(place))
    assert f"removed {place} and its branch" in repo.run("worktree", "parser", "--finish").err


def test_the_branch_of_the_main_worktree(repo: Folder) -> None:
    commit_plan(repo)
    commit_plan(repo, name=SECOND)
    first = open_worktree(repo, PARSER)
    result = refused(first, "branch-exists", "worktree", SECOND, "--branch", "main")
    assert f"the branch main is checked out in {repo.path};" in result.err


@pytest.mark.parametrize("name", ["bad name", "HEAD", "-x", "a..b", "@{-1}", ""])
def test_names_that_git_does_not_accept(repo: Folder, name: str) -> None:
    commit_plan(repo)
    result = refused(repo, "usage", "worktree", "parser", f"--branch={name}")
    assert f"{name!r} is not a valid name of a branch" in result.err
    assert branches(repo) == ["main"]


def test_options_that_contradict_the_existing_worktree(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    result = refused(repo, "worktree-exists", "worktree", "parser", "--branch", "other")
    assert f"{worktree.path}, on branch plan/parser, not on other" in result.err
    result = refused(repo, "worktree-exists", "worktree", "parser", "--directory", "../other")
    assert str(worktree.path) in result.err
    same = ("--branch", "plan/parser", "--directory", str(worktree.path))
    assert open_worktree(repo, "parser", *same).path == worktree.path
    assert branches(repo) == ["main", "plan/parser"]


def test_a_renamed_branch(repo: Folder) -> None:
    """The hint of `--finish` names the command with which it works again."""
    commit_plan(repo)
    worktree = open_worktree(repo)
    worktree.ok("done", "2", "--commit")
    repo.git("branch", "-m", "plan/parser", "renamed")
    result = refused(repo, "wrong-branch", "worktree", "parser", "--finish")
    assert "on renamed, not on plan/parser, which no longer exists" in result.err
    hint = repo.run("worktree", "parser", "--finish", "--json").json["error"]["hint"]
    command = hint.rpartition(": ")[2]
    assert command == f"execplan worktree {PARSER} --branch renamed"
    assert repo.ok(*shlex.split(command)[1:])["branch"] == "renamed"
    assert repo.ok("worktree", "parser", "--finish")["commits"] == 1
    assert branches(repo) == ["main"]


def test_a_deleted_branch(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    worktree.git("checkout", "-q", "--detach")
    repo.git("branch", "-D", "plan/parser")
    hint = repo.run("worktree", "parser", "--finish", "--json").json["error"]["hint"]
    worktree.git(*shlex.split(hint.rpartition(": ")[2])[3:])
    repo.ok("worktree", "parser", "--finish")


def test_a_renamed_branch_of_a_removed_worktree(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    worktree.ok("done", "2", "--commit")
    repo.git("branch", "-m", "plan/parser", "renamed")
    shutil.rmtree(worktree.path)
    repo.git("worktree", "prune")
    again = open_worktree(repo, "parser", "--branch", "renamed")
    assert again.ok("show", "parser")["counts"]["done"] == 2


def test_work_in_a_worktree_of_git_is_not_done_again(repo: Folder) -> None:
    """The suggested command continues it there, and claims the task after those that are done."""
    commit_plan(repo)
    repo.git("worktree", "add", "-q", "-b", "feature/x", "../other")
    other = folder_at(repo, repo.path.parent / "other")
    other.ok("done", "2", "-p", "parser", "--commit")
    result = refused(repo, "newer-version", "worktree", "parser")
    assert f"{PARSER} has a newer version in ../other (branch feature/x, 1 task ahead of main)" in result.err
    hint = repo.run("worktree", "parser", "--json").json["error"]["hint"]
    commands = [part.partition(": ")[2] for part in hint.split("; ")]
    assert commands == [f"execplan worktree {PARSER} --branch {name}" for name in ("feature/x", "plan/parser")]
    data = repo.ok(*shlex.split(commands[0])[1:])
    assert data["path"] == str(other.path)
    (task,) = [task for task in other.ok("show", "parser")["tasks"] if task["id"] == data["task"]]
    assert task["number"] == 3
    assert repo.ok("worktree", "parser", "--finish")["commits"] == 1


def test_work_in_the_worktree_of_another_plan(repo: Folder) -> None:
    """That worktree can't be this plan's, too; a named branch starts from the version here."""
    commit_plan(repo)
    commit_plan(repo, name=SECOND)
    first = open_worktree(repo, PARSER)
    first.ok("done", "2", "-p", SECOND, "--commit")
    result = refused(repo, "newer-version", "worktree", SECOND)
    assert "commit and merge that first" in result.err
    hint = repo.run("worktree", SECOND, "--json").json["error"]["hint"]
    second = open_worktree(repo, *shlex.split(hint.rpartition(": ")[2])[2:])
    assert second.path != first.path


def test_an_unchanged_worktree_of_git_is_no_obstacle(repo: Folder) -> None:
    commit_plan(repo)
    repo.git("worktree", "add", "-q", "-b", "feature/x", "../other")
    open_worktree(repo)
