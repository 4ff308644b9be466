"""A repository whose plans are committed, and the worktrees of these plans."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from tests.conftest import Folder
from tests.plans import CLEAN

if TYPE_CHECKING:
    from tests.conftest import Result

PARSER = "2026-01-01_parser"
PLAN = f".agent/execplans/{PARSER}.md"
DONE = CLEAN.replace("- [ ]", "- [x] (2025-12-31 10:00Z)")
"""The plan with all tasks done."""


def commit_plan(repo: Folder, content: str = CLEAN, name: str = PARSER) -> None:
    """Commit a plan."""
    repo.plan(content, name)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "A plan")


def open_worktree(repo: Folder, name: str = "parser", *options: str) -> Folder:
    """Create the worktree of a plan with the command, and return it."""
    result = repo.run("worktree", name, *options, "-q")
    assert result.exit == 0, result
    return folder_at(repo, result.out.removesuffix("\n"))


def folder_at(repo: Folder, path: str | Path) -> Folder:
    """Return a directory in which commands run as in the repository."""
    folder = Folder(Path(path))
    folder.env = repo.env
    return folder


def refused(folder: Folder, code: str, *arguments: str) -> Result:
    """Run a command that must fail with an error code, and check that it explains itself."""
    result = folder.run(*arguments, "--json")
    error = result.json["error"]
    assert error is not None, result
    assert (error["code"], error["exit"]) == (code, result.exit), error
    assert error["hint"]
    return folder.run(*arguments)


def branches(repo: Folder) -> list[str]:
    """Return the branches of a repository."""
    return repo.git("branch", "--format=%(refname:short)").split()


def git_fails(folder: Folder, *arguments: str) -> bool:
    """Run git and return whether it failed."""
    command = ["git", *arguments]
    completed = subprocess.run(command, cwd=folder.path, env=folder.env, capture_output=True, check=False, timeout=60)
    return completed.returncode != 0
