"""In the worktree of a plan, commands are about this plan unless another one is named."""

from __future__ import annotations

from tests.conftest import Folder
from tests.team.worktrees.scratch import PARSER, PLAN, commit_plan, open_worktree

SCANNER = "2026-01-02_scanner"


def test_commands_use_the_plan_of_the_worktree(repo: Folder) -> None:
    commit_plan(repo)
    commit_plan(repo, name=SCANNER)
    assert repo.run("done", "2").exit == 3
    worktree = open_worktree(repo)
    assert worktree.ok("done", "2", "--commit")["path"] == PLAN
    assert worktree.ok("next")["id"] == PARSER
    assert worktree.ok("show", "scanner")["id"] == SCANNER
    assert worktree.run("show", "--json", EXECPLAN_PLAN="scanner").json["data"]["id"] == SCANNER
    assert repo.run("done", "2").exit == 3


def test_a_plan_that_was_archived_is_still_that_of_its_worktree(repo: Folder) -> None:
    commit_plan(repo)
    commit_plan(repo, name=SCANNER)
    worktree = open_worktree(repo)
    worktree.ok("archive", "--as", "abandoned", "--reason", "No longer wanted.")
    assert worktree.run("next").out.endswith(f"next: execplan commit {PARSER}\n")
    assert worktree.run("add", "More").exit == 1
    assert worktree.ok("next", "scanner")["id"] == SCANNER


def test_other_worktrees_have_no_plan(repo: Folder) -> None:
    commit_plan(repo)
    commit_plan(repo, name=SCANNER)
    repo.git("worktree", "add", "-q", "../other")
    assert repo.run("next", cwd=repo.path.parent / "other").exit == 3
