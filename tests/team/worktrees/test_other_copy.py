"""Each command about the copy of a plan in the main worktree says that the work goes on in another worktree."""

from __future__ import annotations

import pytest

from tests.conftest import Folder
from tests.team.worktrees.scratch import PARSER, PLAN, commit_plan, open_worktree

WORKTREE = f"../repo.worktrees/{PARSER}"
IN_WORKTREE = f"{PARSER} is worked on in {WORKTREE} (branch plan/parser"
INTO_WORKTREE = f'cd "$(execplan worktree {PARSER})"'


@pytest.mark.parametrize(
    "command",
    [
        "show parser",
        "show parser --section Progress",
        f"lint {PARSER}",
        "handoff parser",
        "context parser",
        "checkpoint parser",
        "set Purpose Text -p parser --dry-run",
        "add Test -p parser --dry-run",
    ],
)
def test_where_the_work_goes_on(repo: Folder, command: str) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    document = repo.run(*command.split(), "--json").json
    assert document["warnings"] == [f"{IN_WORKTREE}); this is the copy of the main worktree"]
    assert document["next"] == [INTO_WORKTREE]
    assert IN_WORKTREE in repo.run(*command.split()).err
    assert "main worktree" not in worktree.run(*command.split()).err


def test_an_error_of_both_copies_keeps_its_own_hint(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    worktree.ok("done", "2", "-p", "parser")
    result = repo.run("done", "9", "-p", "parser")
    assert f"{IN_WORKTREE}, 1 task ahead of main)" in result.err
    assert result.err.endswith(f"hint: see the tasks: execplan show {PARSER}\n")


def test_a_plan_is_not_archived_beside_its_worktree(repo: Folder) -> None:
    """What only the worktree has would come back as open tasks of an archived plan."""
    commit_plan(repo)
    worktree = open_worktree(repo)
    worktree.ok("add", "Another task", "-p", "parser", "--commit")
    repo.ok("done", "2", "3", "-p", "parser")
    repo.ok("outcome", "Plans are read.", "-p", "parser", "--commit")
    finish = f"execplan worktree {PARSER} --finish"
    assert repo.run("status", "--json").json["next"] == [finish]
    result = repo.run("archive", "parser")
    assert result.exit == 1
    assert result.err.endswith(f": {finish}\n")
    repo.ok(*finish.split()[1:])
    assert [(plan["state"], plan["counts"]["open"]) for plan in repo.ok("status")["plans"]] == [("active", 1)]


def test_the_newest_copy_is_the_one_to_read(repo: Folder) -> None:
    commit_plan(repo)
    open_worktree(repo)
    repo.ok("done", "2", "-p", "parser")
    assert repo.run("show", "parser").err == ""


def test_a_worktree_of_git_is_named_too(repo: Folder) -> None:
    commit_plan(repo)
    repo.git("worktree", "add", "-q", "../other")
    assert repo.run("show", "parser").err == ""
    (repo.path.parent / "other" / PLAN).write_text((repo.path / PLAN).read_text().replace("- [ ]", "- [x]"))
    result = repo.run("show", "parser")
    assert f"{PARSER} is worked on in ../other (branch other, 2 tasks ahead of main)" in result.err
    assert result.out.endswith("next: cd ../other\n")


def test_neither_copy_is_older_if_both_were_changed(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    repo.ok("done", "2", "-p", "parser")
    assert f"{WORKTREE} has an older version" in repo.run("status", "parser").out
    worktree.ok("add", "Another task", "-p", "parser")
    changes = f"{WORKTREE} has other changes; commit both, then: git -C {WORKTREE} merge main\n"
    assert changes in repo.run("status", "parser").out
    assert changes in repo.run("next", "parser").out
    repo.ok("commit", "parser")
    worktree.ok("commit", "parser")
    worktree.git("merge", "-q", "main")
    assert f"in {WORKTREE} (branch plan/parser" in repo.run("status", "parser").out
