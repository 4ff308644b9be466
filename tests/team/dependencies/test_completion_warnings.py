"""`done` warns if the plan, or the task, waits for another plan; it checks the task off all the same."""

from __future__ import annotations

import pytest

from tests.conftest import Folder
from tests.team.dependencies.plan_files import plan_text

SCANNER, PARSER = "2026-01-01_scanner", "2026-01-02_parser"


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_a_plan_that_waits(repo: Folder, options: tuple[str, ...]) -> None:
    repo.plan(plan_text("Build the scanner", "Read lines"), SCANNER)
    path = repo.plan(plan_text("Build the parser", "Read blocks", needs="scanner"), PARSER)
    result = repo.run("done", "1", "-p", "parser", *options)
    assert result.exit == 0
    assert result.err == "execplan: warning: this plan waits for scanner (active, 0 of 1 tasks done)\n"
    assert ("[x]" in path.read_text()) is not bool(options)


def test_a_task_that_waits(repo: Folder) -> None:
    repo.plan(plan_text("Build the scanner", "Read lines"), SCANNER)
    repo.plan(plan_text("Build the parser", "Read blocks (needs scanner#1)", "Print them"), PARSER)
    assert repo.run("done", "2", "-p", "parser", "--json").json["warnings"] == []
    warnings = repo.run("done", "1", "-p", "parser", "--json").json["warnings"]
    assert warnings == ["task 1 waits for scanner#1 (open: Read lines)"]


def test_nothing_to_wait_for(repo: Folder) -> None:
    repo.plan(plan_text("Build the scanner", "Read lines"), SCANNER)
    repo.plan(plan_text("Build the parser", "Read blocks (needs scanner#1)", "Print", needs="scanner"), PARSER)
    assert repo.run("done", "1", "-p", "scanner").err == ""
    assert repo.run("done", "1", "2", "-p", "parser").err == ""
    assert repo.run("done", "1", "-p", "parser").err == "", "it was done already"


def test_what_can_not_be_found_out_is_no_error_after_the_edit(repo: Folder) -> None:
    settings = repo.path.parent / ".config/execplan/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("projects = 1\n")
    path = repo.plan(plan_text("Build the parser", "Read blocks", needs="elsewhere:scanner"), PARSER)
    result = repo.run("done", "1", "-p", "parser")
    assert (result.exit, "[x]" in path.read_text()) == (0, True)
    assert result.err.startswith("execplan: warning: couldn't find out whether this plan waits for others: ")
    assert "projects" in result.err
