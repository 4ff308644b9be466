"""Moves that were killed half-way, and the next command, wherever it is run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from execplan.core.archive import move_execution, plan_move
from execplan.core.archive.plan_archive import archive_plan
from execplan.core.archive.plan_relocation import rename_plan
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.plan_store import claims, plan_selection
from tests.conftest import Folder
from tests.plans import CLEAN

if TYPE_CHECKING:
    from types import ModuleType

RENAME = "rename"


def kill_while_moving(
    folder: Folder, module: ModuleType, name: str, command: str = RENAME, *, commit: bool = False
) -> None:
    """Move the plan `parser` in a process that is killed where it calls a function: nothing is taken back."""
    child = os.fork()
    if not child:
        try:
            setattr(module, name, lambda *arguments, **options: os._exit(9))
            project, ref = plan_selection.select_plan(str(folder.path), "parser")
            if command == RENAME:
                rename_plan(project, ref, "Build the reader", WriteOptions(commit=commit))
            else:
                archive_plan(project, ref, WriteOptions(commit=commit), reason="Enough.")
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


@pytest.mark.parametrize("verb", [RENAME, "archive"])
def test_a_plan_whose_artifacts_were_an_empty_folder(repo: Folder, verb: str) -> None:
    repo.plan()
    (repo.path / ".agent/execplans/artifacts/2026-01-01_parser").mkdir(parents=True)
    repo.ok("next", "parser", "--claim", "ann")
    kill_while_moving(repo, claims, "move_claims", verb)
    result = repo.run("list", "--all")
    assert "is finished now" in result.err
    assert ("reader" if verb == RENAME else "archived") in result.out
    claims_text = (repo.path / ".git/execplan/claims.json").read_text()
    assert ("build-the-reader.md" in claims_text) is (verb == RENAME)
    assert "parser" not in claims_text


def test_a_commit_that_was_asked_for_is_not_made_then(repo: Folder) -> None:
    repo.plan()
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    head = repo.git("rev-parse", "HEAD")
    kill_while_moving(repo, claims, "move_claims", commit=True)
    message = repo.run("list").err
    assert "is finished now" in message
    assert repo.git("rev-parse", "HEAD") == head
    assert "build-the-reader" in repo.run("list").out
    repo.ok("commit", "build-the-reader")
    assert repo.git("status", "--porcelain") == ""


def test_without_git_a_home_below_finishes_what_was_begun_from_above(plain: Folder) -> None:
    plain.ok("init")
    plain.ok("init", "sub")
    plain.write(".agent/execplan.toml", 'homes = ["sub"]\n')
    plans = plain.write("sub/.agent/execplans/2026-01-01_parser.md", CLEAN).parent
    plain.write("sub/.agent/execplans/artifacts/2026-01-01_parser/run.log", "ok\n")
    kill_while_moving(plain, move_execution, "_replace_evidence")
    assert "is finished now" in plain.run("-C", "sub", "list").err
    assert (plans / "2026-01-01_build-the-reader.md").is_file()
    assert (plans / "artifacts/2026-01-01_build-the-reader/run.log").is_file()
    assert not list(plans.rglob("*parser*"))


def test_the_plans_that_name_it_follow_also_when_another_home_finishes_it(repo: Folder) -> None:
    for name in ("sub", "other"):
        repo.ok("init", name)
    repo.write("sub/.agent/execplans/2026-01-01_parser.md", CLEAN)
    naming = repo.write(
        "sub/.agent/execplans/2026-01-02_scanner.md",
        CLEAN.replace("None so far.", "- `.agent/execplans/2026-01-01_parser.md`"),
    )
    kill_while_moving(Folder(repo.path / "sub"), plan_move, "update_references")
    assert "is finished now" in repo.run("-C", "other", "list").err
    assert "`.agent/execplans/2026-01-01_build-the-reader.md`" in naming.read_text()


@pytest.mark.parametrize("named", [[], [".agent/execplans/2026-01-02_scanner.md"]])
def test_lint_is_a_next_command_too(repo: Folder, named: list[str]) -> None:
    repo.plan()
    repo.plan(name="2026-01-02_scanner")
    repo.write(".agent/execplans/artifacts/2026-01-01_parser/run.log", "ok\n")
    kill_while_moving(repo, move_execution, "_replace_evidence")
    assert "is finished now" in repo.run("lint", *named).err
    assert "is finished now" not in repo.run("lint", *named).err
