"""A hint about a plan that the call names, names it, too: it never leads to another plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.plans import CLEAN

if TYPE_CHECKING:
    from tests.conftest import Folder

EMPTY = CLEAN.replace("- [ ]", "-").replace("- [x]", "-")


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        ("archive parser --as abandoned", "execplan archive parser --as abandoned --reason"),
        ("archive parser --force", "execplan archive parser --force --reason"),
        ("archive parser --reason No", "execplan archive parser --as abandoned --reason"),
        ("next parser --to bob", "execplan next parser --release --to bob"),
        ("next parser --for 2h", "execplan next parser --claim --for 2h"),
        ("next --claim --task 9 -p empty", "execplan add 'First step' -p empty"),
        ("done 1 --verify -p bare", "execplan add 'First step' --create -p bare"),
        ("done 99 -p parser", "execplan show 2026-01-01_parser"),
        ("done 1 -p parser --if-match 0000", "execplan show parser --json"),
        ("context parser --item foo", "execplan context parser --explain"),
        ("set Context -p parser", "execplan set 'Plan of Work' 'First the scanner.' -p parser"),
    ],
)
def test_a_hint_names_the_plan_of_the_call(repo: Folder, call: str, hint: str) -> None:
    repo.plan(CLEAN)
    repo.plan(EMPTY, "2026-01-02_empty")
    repo.plan("# Bare\n\n## Plan of Work\n\nBuild it.\n", "2026-01-03_bare")
    result = repo.run(*call.split(), "--json")
    assert result.exit != 0
    assert hint in result.json["error"]["hint"]


def test_a_name_that_is_a_plan_claims_nothing_unless_the_plan_is_given(repo: Folder) -> None:
    repo.plan(CLEAN)
    result = repo.run("next", "--claim", "parser", "--json")
    assert (result.exit, result.json["error"]["code"]) == (2, "usage")
    assert "execplan next 2026-01-01_parser --claim; " in result.json["error"]["hint"]
    assert repo.run("next", "2026-01-01_parser", "--claim", "parser").exit == 0


def test_the_next_commands_of_lint_keep_the_selected_rules(repo: Folder) -> None:
    for number in range(1, 29):
        repo.plan(CLEAN.replace("- [", "* ["), f"2026-01-{number:02}_p")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Plans")
    lines = repo.run("lint", "--select", "EP2", "--level", "hint").out.splitlines()
    commands = [line for line in lines if line.startswith("next: execplan lint ")]
    assert commands
    assert all([command.startswith("next: execplan lint --select EP2 --level hint --") for command in commands])
