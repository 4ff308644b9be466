"""A task that is done in another worktree is not offered again, whichever version of the plan is the newest."""

from __future__ import annotations

import shlex

from tests.conftest import Folder
from tests.plans import CLEAN
from tests.team.worktrees.scratch import PLAN, commit_plan, folder_at, open_worktree

MORE_TASKS = CLEAN.replace("- [ ] Write the tests.\n", "- [ ] Write the tests.\n- [ ] Fourth.\n- [ ] Fifth.\n")


def add_worktree(repo: Folder) -> Folder:
    """Return a worktree with a branch of its own, as git creates it."""
    repo.git("worktree", "add", "-q", "-b", "other", "../other")
    return folder_at(repo, repo.path.parent / "other")


def next_number(folder: Folder, *options: str) -> int:
    """Return the number of the task that `next` offers, after checking that it is the one that `prime` names."""
    number: int = folder.ok("next", "-p", "parser", *options)["task"]["number"]
    text = folder.ok("next", "-p", "parser", *options)["task"]["text"]
    assert text in folder.run("prime", "parser").out
    return number


def test_a_task_that_is_done_in_a_version_with_less_progress_is_not_offered(repo: Folder) -> None:
    commit_plan(repo, MORE_TASKS)
    worktree = add_worktree(repo)
    repo.ok("done", "2", "-p", "parser", "--commit")
    worktree.ok("done", "3", "4", "-p", "parser", "--commit")
    for folder in (repo, worktree):
        assert next_number(folder) == 5
        assert next_number(folder, "--claim") == 5
        assert [plan["next"]["number"] for plan in folder.ok("status")["plans"]] == [5]
    assert "waits for this worktree (done there; merge it)" in repo.run("prime", "parser").out
    text = worktree.run("next", "-p", "parser").out
    assert "waits for ../repo (done there; merge it)" in text
    assert "lacks 1 task done on main; commit the plan there, then: git merge main\n" in text


def test_if_only_the_merge_is_left_it_is_next(repo: Folder) -> None:
    commit_plan(repo, CLEAN)
    worktree = open_worktree(repo, "parser")
    open_numbers = [str(task["number"]) for task in repo.ok("show", "parser")["tasks"] if task["state"] == "open"]
    worktree.ok("done", open_numbers[0], "-p", "parser", "--commit")
    repo.ok("done", *open_numbers[1:], "-p", "parser")
    for folder in (repo, worktree):
        hint = folder.run("next", "-p", "parser").out.splitlines()[-1]
        assert hint.endswith("worktree 2026-01-01_parser --finish --commit")
    assert folder.run(*shlex.split(hint.removeprefix("next: execplan "))).exit == 0
    assert not worktree.path.exists()


def test_a_task_that_is_reopened_here_is_offered(repo: Folder) -> None:
    commit_plan(repo, MORE_TASKS.replace("- [ ] Build", "- [x] (2025-12-31 00:00Z) Build"))
    add_worktree(repo)
    repo.ok("reopen", "2", "-p", "parser")
    assert (repo.path / PLAN).read_text().count("[x]") == 1
    assert next_number(repo) == 2


def test_a_claimed_task_that_its_owner_has_done_elsewhere_is_not_kept(repo: Folder) -> None:
    """The claim is in force for the newer version, in which the task is open."""
    commit_plan(repo, MORE_TASKS)
    worktree = add_worktree(repo)
    assert next_number(repo, "--claim") == 2
    repo.ok("done", "2", "-p", "parser", "--commit")
    worktree.ok("done", "3", "4", "-p", "parser", "--commit")
    for folder in (repo, worktree):
        assert folder.ok("next", "-p", "parser", "--claim")["task"]["number"] == 5
        assert [task["number"] for task in folder.ok("next", "-p", "parser")["taken"]] == [5]


def test_an_unnamed_next_offers_no_task_that_is_done_elsewhere(repo: Folder) -> None:
    commit_plan(repo, MORE_TASKS)
    other_plan = repo.path / PLAN.replace("parser", "lexer")
    other_plan.write_text(CLEAN.replace("- [ ] ", "- [x] (2025-12-31 00:00Z) "))
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Lexer")
    worktree = add_worktree(repo)
    repo.ok("done", "2", "-p", "parser", "--commit")
    worktree.ok("done", "3", "4", "-p", "parser", "--commit")
    for folder in (repo, worktree):
        assert folder.ok("next")["task"]["number"] == 5
        assert [plan["next"] and plan["next"]["number"] for plan in folder.ok("status")["plans"]] == [5, None]
