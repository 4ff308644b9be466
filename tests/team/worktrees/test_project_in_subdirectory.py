"""The worktree of a plan whose project is in a subdirectory: every directory that is shown is one to work in."""

from __future__ import annotations

import shlex

import pytest

from tests.conftest import Folder
from tests.plans import CLEAN
from tests.team.worktrees.scratch import DONE, PARSER, PLAN, folder_at, open_worktree, refused


@pytest.fixture
def api(repo: Folder) -> Folder:
    """A committed project in a subdirectory, as the only one of the repository."""
    repo.write(f"svc/api/{PLAN}", CLEAN)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "A plan")
    return folder_at(repo, repo.path / "svc/api")


def test_the_printed_directories_are_those_of_the_project(repo: Folder, api: Folder) -> None:
    worktree = open_worktree(api)
    root = repo.path.parent / "repo.worktrees" / PARSER
    assert worktree.path == root / "svc/api"
    assert worktree.ok("next")["id"] == PARSER
    assert api.ok("worktree", "parser")["path"] == str(worktree.path)
    assert api.ok("worktree")["worktrees"][0]["path"] == str(worktree.path)
    worktree.ok("done", "2", "--commit")
    result = worktree.run("worktree", "--finish")
    assert result.out == f"{api.path}\n"
    assert f"removed {root} and its branch" in result.err


@pytest.mark.parametrize("command", ["status", "next", "list", "board"])
def test_suggested_commands_run_in_the_project(api: Folder, command: str) -> None:
    worktree = open_worktree(api)
    worktree.ok("decide", "Read bytes", "--why", "Nothing is lost.", "--create")
    result = api.run(command)
    assert f"../../../repo.worktrees/{PARSER}/svc/api" in result.out
    document = api.run(command, "--json").json
    for suggested in [*document["next"], *filter(None, [(document["data"].get("do") or {}).get("then")])]:
        assert api.run(*shlex.split(suggested)[1:]).exit == 0, suggested


def test_a_conflict_in_the_plan_is_committed_in_its_worktree(api: Folder) -> None:
    worktree = open_worktree(api)
    for folder, text in ((worktree, "First the reader."), (api, "First the scanner.")):
        folder.ok("set", "Plan of Work", text, "-p", "parser", "--commit")
    result = refused(worktree, "merge-conflicts", "worktree", "--finish")
    commands = (
        f"execplan merge {PARSER} && git add {PLAN} && git commit --no-edit && execplan worktree {PARSER} --finish"
    )
    assert f"resolve the conflicts, then finish it: {commands}; " in result.err


def test_finished_from_another_project(repo: Folder) -> None:
    """The plan is archived in its own project, and the directory of that is printed."""
    repo.write(".agent/execplan.toml", "")
    repo.write(f"svc/api/{PLAN}", DONE)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "A plan")
    worktree = open_worktree(repo, f"svc/api/{PLAN}")
    worktree.ok("outcome", "Blocks are read.", "--create", "--commit")
    data = repo.ok("worktree", "--finish")
    assert data["archived"] == f"svc/api/.agent/execplans/archive/{PARSER}.md"
    assert data["path"] == str(repo.path / "svc/api")
