"""Old findings block no new work: a hook counts only what a commit adds."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.agents.integrations.test_githooks import commit
from tests.conftest import Folder
from tests.plans import CLEAN

PLAN = ".agent/execplans/2026-01-01_parser.md"
OLD = (
    CLEAN.replace("## Decision Log", "## Decisions of old")
    .replace("## Outcomes & Retrospective", "## Results")
    .replace("(2025-12-30 09:15Z) ", "")
)
"""With errors: two living sections are missing."""
WORSE = OLD.replace("## Surprises & Discoveries", "## Surprising")


@pytest.fixture
def old(repo: Folder) -> Folder:
    """A repository with a plan that has old errors, and the git hook."""
    repo.plan(OLD)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Before there was a hook")
    assert repo.run("lint", PLAN).exit == 1
    repo.ok("install", "git-hooks")
    return repo


def test_work_on_a_plan_with_old_errors_can_be_committed(old: Folder) -> None:
    assert old.ok("done", "2", "--commit")["commit"]
    result = old.run("lint", "--staged", "--hook")
    assert (result.exit, result.out) == (0, "no plans to check\n")
    path = old.plan(OLD.replace("# ", "# New: ", 1))
    old.git("add", "-A")
    result = old.run("lint", "--staged", "--hook")
    assert result.exit == 0
    assert "older findings left out" in result.out
    assert commit(old).returncode == 0
    path.write_text(path.read_text().replace("## Surprises & Discoveries", "## Surprising"))
    old.git("add", "-A")
    blocked = commit(old)
    assert blocked.returncode == 1
    assert blocked.stderr.decode().count(" EP104 ") == 1
    assert b"missing section Surprises & Discoveries" in blocked.stderr


def test_without_the_hook_all_count(old: Folder) -> None:
    old.plan(OLD.replace("# ", "# New: ", 1))
    old.git("add", "-A")
    for arguments in (("--staged",), (), (PLAN,), ("--since", "HEAD")):
        assert old.run("lint", *arguments).exit == 1, arguments


def test_the_hook_with_names_as_pre_commit_calls_it(old: Folder) -> None:
    assert old.run("lint", "--hook", PLAN).exit == 1  # unchanged: `pre-commit run --all-files` sees it all
    old.plan(OLD.replace("# ", "# New: ", 1))
    for arguments in (("--hook", PLAN), ("--hook", "--level", "hint", PLAN)):
        result = old.run("lint", *arguments)
        assert result.exit == 0, result
        assert result.out.startswith("1 plan, no new findings; ")
    data = old.run("lint", "--hook", PLAN, "--json").json["data"]
    assert (data["findings"], data["older"] > 2) == ([], True)
    old.plan(WORSE)
    result = old.run("lint", "--hook", PLAN)
    assert result.exit == 1
    assert result.out.count(" EP104 ") == 1
    assert old.run("lint", "--hook", "--write-baseline", PLAN).exit == 0


def test_from_the_commit_that_pre_commit_names(old: Folder) -> None:
    base = old.git("rev-parse", "HEAD").strip()
    old.plan(OLD.replace("# ", "# New: ", 1))
    old.git("commit", "-qam", "Work", "--no-verify")
    assert old.run("lint", "--hook", PLAN).exit == 1
    assert old.run("lint", "--hook", PLAN, PRE_COMMIT_FROM_REF=base).exit == 0
    assert old.run("lint", "--hook", PLAN, PRE_COMMIT_FROM_REF="no-such-commit").exit == 1


def test_a_new_plan_counts_whole(old: Folder) -> None:
    old.write(".agent/execplans/2026-01-02_lexer.md", OLD)
    old.git("add", "-A")
    blocked = commit(old)
    assert blocked.returncode == 1
    assert b"2026-01-02_lexer.md:" in blocked.stderr
    assert b"2026-01-01_parser.md:" not in blocked.stderr


def test_the_first_commit_counts_whole(repo: Folder) -> None:
    os.rename(repo.path / ".git", repo.path.parent / "old.git")
    repo.git("init", "-q")
    repo.plan(OLD)
    repo.git("add", "-A")
    assert repo.run("lint", "--staged", "--hook").exit == 1
    assert repo.run("lint", "--hook", PLAN).exit == 1


def test_what_was_a_warning_and_is_an_error_now_counts(repo: Folder) -> None:
    plan = repo.ok("new", "Build the lexer", "--commit")["id"]
    repo.ok("add", "Read words", "-p", plan, "--commit")
    repo.ok("install", "git-hooks")
    stopped = repo.run("done", "1", "-p", plan, "--commit")
    assert stopped.exit == 6
    assert " EP109 8 sections still contain placeholder text: " in stopped.err


def test_a_plan_that_is_moved_keeps_its_old_findings(old: Folder) -> None:
    (old.path / ".agent/execplans/archive").mkdir(exist_ok=True)
    old.git("mv", PLAN, ".agent/execplans/archive/2026-01-01_parser.md")
    result = old.run("lint", "--staged", "--hook")
    assert " EP104 " not in result.out
    assert " EP502 " in result.out  # it is archived with open tasks, and that is new
    assert result.exit == 1


def test_more_findings_than_are_listed(old: Folder) -> None:
    tasks = "".join(f"- [x] Task {at} and {at}.\n" for at in range(150))
    many_tasks = OLD.replace("## Progress\n\n", f"## Progress\n\n{tasks}", 1)
    old.plan(many_tasks)
    old.git("commit", "-qam", "Many", "--no-verify")
    select = ("--staged", "--hook", "--select", "EP202")
    old.plan(many_tasks.replace("# ", "# New: ", 1))
    old.git("add", "-A")
    assert old.run("lint", *select).out == "1 plan, no new findings; 151 older findings left out\n"
    old.plan(many_tasks.replace("- [x] Task 3 and 3.\n", "- [x] Task 3 and 3.\n- [x] One more.\n"))
    old.git("add", "-A")
    data = old.run("lint", *select, "--json").json["data"]
    assert {finding["message"] for finding in data["findings"]} >= {"and 52 more"}


def test_one_error_fixed_and_another_made(old: Folder) -> None:
    old.plan(OLD.replace("## Results", "## Outcomes & Retrospective").replace("## Surprises & Discoveries", "## Found"))
    old.git("add", "-A")
    result = old.run("lint", "--staged", "--hook")
    assert result.exit == 1
    assert result.out.count(" EP104 ") == 1
    assert "missing section Surprises & Discoveries" in result.out


def test_no_process_of_git_where_nothing_fails(repo: Folder) -> None:
    path = repo.plan()
    (repo.path / "bin").mkdir()
    (repo.path / "bin/git").write_text("#!/bin/sh\nexit 99\n")
    (repo.path / "bin/git").chmod(0o755)
    env = {**repo.env, "PATH": f"{repo.path / 'bin'}:{repo.env['PATH']}"}
    command = [sys.executable, "-m", "execplan", "lint", "--hook", str(path)]
    completed = subprocess.run(command, cwd=repo.path, env=env, capture_output=True, check=False)
    assert (completed.returncode, completed.stderr) == (0, b"")
