"""A plan that only one of two branches has renamed is one plan in all worktrees."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from tests.team.worktrees.scratch import DONE, PARSER, PLAN, commit_plan, folder_at, open_worktree

if TYPE_CHECKING:
    from tests.conftest import Folder

LEXER = "2026-01-01_build-the-lexer"


def rows(folder: Folder) -> list[tuple[str, int]]:
    """Return the IDs of the plans in `status`, with the numbers of completed tasks; `list` and `board` show the same."""
    plans = folder.ok("status")["plans"]
    cards = [card for column in folder.ok("board")["columns"] for card in column["plans"]]
    for others in (folder.ok("list")["plans"], cards):
        assert [plan["digest"] for plan in others] == [plan["digest"] for plan in plans]
    return [(plan["id"], plan["counts"]["done"]) for plan in plans]


@pytest.fixture
def worktree(repo: Folder) -> Folder:
    """The worktree of a plan that was renamed in it, after which a task was completed."""
    commit_plan(repo)
    worktree = open_worktree(repo)
    worktree.ok("rename", "parser", "Build the lexer", "--commit")
    worktree.ok("done", "2", "--commit")
    return worktree


def test_renamed_in_its_worktree(repo: Folder, worktree: Folder) -> None:
    assert rows(repo) == rows(worktree) == [(LEXER, 2)]
    location = repo.ok("status")["plans"][0]["worktree"]
    assert (location["path"], location["ahead"], location["new"]) == (str(worktree.path), 1, False)
    assert "here, 1 task ahead of main" in worktree.run("status").out


def test_seen_from_a_third_worktree(repo: Folder, worktree: Folder) -> None:
    repo.git("worktree", "add", "-q", "-b", "third", "../third")
    assert rows(folder_at(repo, repo.path.parent / "third")) == [(LEXER, 2)]


def test_a_completed_task_is_not_claimed_again(repo: Folder, worktree: Folder) -> None:
    worktree.ok("next", "--release")
    claimed = repo.ok("next", "parser", "--claim", "Bob")
    assert claimed["task"]["number"] == 3
    assert worktree.ok("next")["taken"][0]["by"] == "Bob"


@pytest.mark.parametrize("name", ["parser", PARSER, PLAN, "lexer", LEXER])
def test_both_names_are_known(repo: Folder, worktree: Folder, name: str) -> None:
    opened = repo.ok("worktree", name)
    assert (opened["path"], opened["created"]) == (str(worktree.path), False)
    assert worktree.ok("next")["id"] == LEXER
    repo.ok("worktree", name, "--finish")
    assert rows(repo) == [(LEXER, 2)]
    assert repo.ok("worktree")["worktrees"] == []


def test_suggested_commands_name_the_plan_as_it_is_there(repo: Folder, worktree: Folder) -> None:
    command = repo.run("next", "parser", "--json").json["data"]["do"]["then"]
    assert repo.run(*shlex.split(command)[1:]).exit == 0
    assert rows(repo) == [(LEXER, 3)]


def test_archived_in_its_worktree_under_its_new_name(repo: Folder, worktree: Folder) -> None:
    worktree.ok("archive", "--as", "abandoned", "--reason", "No longer wanted.", "--commit")
    assert repo.ok("next")["task"] is None
    assert [plan["state"] for plan in repo.ok("status")["plans"]] == ["archived"]
    repo.ok("worktree", "parser", "--finish")
    assert repo.ok("status")["plans"] == []


def test_archived_here_under_its_old_name(repo: Folder, worktree: Folder) -> None:
    repo.ok("archive", "parser", "--as", "abandoned", "--reason", "No longer wanted.", "--commit")
    assert repo.ok("status")["plans"] == []


def test_renamed_back(repo: Folder, worktree: Folder) -> None:
    worktree.ok("rename", "lexer", "Parser", "--commit")
    assert rows(repo) == [(PARSER, 2)]
    assert repo.ok("worktree", "parser")["path"] == str(worktree.path)


def test_renamed_here(repo: Folder) -> None:
    """The plan keeps its old name in its worktree, until the branches are merged."""
    commit_plan(repo)
    worktree = open_worktree(repo)
    worktree.ok("done", "2", "--commit")
    repo.ok("rename", "parser", "Build the lexer", "--commit")
    assert rows(repo) == rows(worktree) == [(PARSER, 2)]
    assert repo.ok("worktree", "lexer")["path"] == str(worktree.path)
    repo.ok("worktree", "lexer", "--finish")
    assert rows(repo) == [(LEXER, 2)]


def test_renamed_here_and_complete(repo: Folder) -> None:
    commit_plan(repo, DONE)
    worktree = open_worktree(repo)
    worktree.ok("outcome", "Blocks are read.", "--create", "--commit")
    repo.ok("rename", "parser", "Build the lexer", "--commit")
    assert repo.ok("worktree", "lexer", "--finish")["archived"] == f".agent/execplans/archive/{LEXER}.md"
