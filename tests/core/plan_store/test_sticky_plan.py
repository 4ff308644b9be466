"""The sticky plan: whose it is, when it counts, and what hints and writers say of it."""

from __future__ import annotations

import re

import pytest

from execplan.cli.app import load_command
from execplan.cli.commands import COMMANDS
from execplan.cli.plan_arguments import DEFAULT_PLAN
from execplan.cli.plan_hints import DEFAULTING_COMMANDS
from tests.conftest import Folder
from tests.plans import CLEAN

PARSER, SCANNER = "2026-01-01_parser", "2026-01-02_scanner"


@pytest.fixture
def two_plans(repo: Folder) -> Folder:
    """Two open plans, of which the parser's is the sticky one."""
    repo.plan()
    repo.plan(CLEAN.replace("parser", "scanner"), SCANNER)
    assert repo.ok("use", "parser")["id"] == PARSER
    return repo


def test_it_is_meant_if_no_plan_is_named(two_plans: Folder) -> None:
    done = two_plans.run("done", "2")
    assert done.out.splitlines() == [
        "done: 2. Build the parser.",
        f"in the sticky plan {PARSER}",
        "next: execplan next",
    ]
    assert two_plans.ok("next")["id"] == PARSER
    assert two_plans.ok("status")["sticky"] == PARSER
    assert two_plans.ok("show", "scanner")["id"] == SCANNER
    assert two_plans.run("show", "--json", EXECPLAN_PLAN="scanner").json["data"]["id"] == SCANNER
    assert f"next: execplan next {SCANNER}" in two_plans.run("done", "2", "-p", "scanner").out
    assert two_plans.run("done", "9").err.endswith("hint: see the tasks: execplan show\n")
    two_plans.ok("use", "-")
    assert two_plans.run("done", "3").exit == 3


def test_an_agent_has_its_own(two_plans: Folder) -> None:
    assert two_plans.run("done", "3", EXECPLAN_AGENT="bo").exit == 3
    assert two_plans.run("use", "scanner", EXECPLAN_AGENT="bo").exit == 0
    assert two_plans.run("show", "--json", EXECPLAN_AGENT="bo").json["data"]["id"] == SCANNER
    assert two_plans.ok("show")["id"] == PARSER


def test_it_follows_a_rename_and_ends_in_the_archive(two_plans: Folder) -> None:
    two_plans.ok("rename", "parser", "Read blocks")
    assert two_plans.ok("use")["id"] == "2026-01-01_read-blocks"
    two_plans.ok("archive", "--as", "abandoned", "--reason", "No longer wanted.")
    assert two_plans.ok("use")["id"] is None
    assert "2026-01-01_read-blocks is archived or gone" in two_plans.run("use").out
    assert two_plans.ok("show")["id"] == SCANNER
    two_plans.ok("undo")
    assert two_plans.ok("use")["id"] == "2026-01-01_read-blocks"
    assert two_plans.run("use", "nothing").exit == 3


def test_another_worktree_has_none(two_plans: Folder) -> None:
    two_plans.git("add", "-A")
    two_plans.git("commit", "-q", "-m", "Plans")
    two_plans.git("worktree", "add", "-q", "../other")
    assert two_plans.run("use", "--json", cwd=two_plans.path.parent / "other").json["data"]["id"] is None


def test_hints_omit_it_only_where_it_is_the_default() -> None:
    defaulting = {
        name
        for name in COMMANDS
        for param in load_command(name).params
        if "-p" in param.opts and (param.help or "").endswith(f"Default: {DEFAULT_PLAN}.")
    }
    assert defaulting >= DEFAULTING_COMMANDS


def test_a_new_plan_says_that_another_one_stays_the_sticky_one(repo: Folder) -> None:
    assert "still mean" not in repo.run("new", "Alpha").err
    repo.ok("use", "alpha")
    result = repo.run("new", "Beta")
    assert re.search(r"still mean \S+_alpha; to change that: execplan use \S+_beta\n", result.err)
    repo.ok("use", "beta")
    assert "still mean" not in repo.run("show", "beta").err
