"""`new` before `init` where a repository keeps plans already, and an `init` after it: no plan is in a second place, none is left out."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from execplan.cli.answer import Call
from execplan.cli.commands.new import offer_setup
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.project import project_discovery
from tests.cli.terminal import Terminal
from tests.conftest import Folder
from tests.plans import CLEAN

if TYPE_CHECKING:
    from pathlib import Path

OLD, NEW = ".agent/execplans", "docs/plans/active"
NAME = "2026-01-01_parser"


@pytest.fixture
def repo_with_plans(tmp_path: Path) -> Folder:
    """A repository that keeps four plans, and is not set up."""
    folder = Folder(tmp_path / "repo")
    folder.path.mkdir()
    folder.git("init", "-q", "-b", "main")
    for name in "abcd":
        folder.write(f"{NEW}/{name}.md", CLEAN.replace("# Build the parser", f"# Plan {name}"))
    folder.git("add", "-A")
    folder.git("commit", "-q", "-m", "Plans")
    return folder


def on_terminal(folder: Folder, monkeypatch: pytest.MonkeyPatch, answer: str, *arguments: str) -> tuple[int, str]:
    """Type a command on a terminal, and an answer to its question."""
    from execplan.cli.main import main

    for name, value in folder.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(folder.path)
    monkeypatch.setattr(sys, "argv", ["execplan", *arguments])
    terminal = Terminal(main)
    terminal.answer("[y/N] ", answer)
    result = terminal.end()
    return result.exit, result.raw


@pytest.mark.parametrize("more", [(), ("--dry-run",), ("--commit",)])
def test_new_stops_where_plans_are_kept(repo_with_plans: Folder, more: tuple[str, ...]) -> None:
    document = repo_with_plans.run("new", "Scan it", *more, "--json").json
    error = document["error"]
    assert (error["code"], error["exit"]) == ("existing-plans", 6)
    assert error["candidates"] == [f"{NEW}: 4 plans"]
    assert "execplan init" in error["hint"]
    assert repo_with_plans.git("status", "--short") == ""
    repo_with_plans.ok("init")
    assert repo_with_plans.ok("new", "Scan it")["path"] == f"{NEW}/scan-it.md"
    assert len(repo_with_plans.ok("list")["plans"]) == 5


def test_a_plans_directory_that_another_process_begins(plain: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first plan of another process, written since this one looked for the project, stops nothing."""
    monkeypatch.chdir(plain.path)
    project = project_discovery.find(str(plain.path))
    plain.plan()
    assert not project.exists
    assert offer_setup(Call(), project, WriteOptions()) == project_discovery.find(str(plain.path))


def test_a_plan_written_elsewhere_stops_too(repo_with_plans: Folder) -> None:
    source = repo_with_plans.path.parent / "draft.md"
    source.write_text(CLEAN)
    assert repo_with_plans.run("new", "--from", str(source)).exit == 6
    assert repo_with_plans.git("status", "--short") == ""


def test_new_asks_on_a_terminal(repo_with_plans: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    status, output = on_terminal(repo_with_plans, monkeypatch, "\n", "new", "Scan it")
    assert (status, repo_with_plans.git("status", "--short")) == (6, ""), output
    assert "this repository has 4 plans in docs/plans/active" in output
    status, output = on_terminal(repo_with_plans, monkeypatch, "y\n", "new", "Scan it")
    assert status == 0, output
    assert len(repo_with_plans.ok("list")["plans"]) == 5
    assert (repo_with_plans.path / NEW / "scan-it.md").exists()


def test_another_plans_directory_can_be_begun_on_purpose(repo_with_plans: Folder) -> None:
    hint = repo_with_plans.run("new", "Scan it", "--json").json["error"]["hint"]
    command = hint.rpartition(": execplan ")[2].split()
    repo_with_plans.ok(*command)
    assert repo_with_plans.ok("new", "Scan it")["path"].startswith(f"{OLD}/")


def test_new_begins_where_there_is_no_plan(repo: Folder, plain: Folder) -> None:
    os.rmdir(repo.path / OLD)
    for folder in (repo, plain):
        folder.write("docs/guide.md", "# A guide\n")
        assert folder.ok("new", "Scan it")["path"].endswith("_scan-it.md")


def add_second_directory(repo_with_plans: Folder) -> None:
    """A plan that an older version has put into the default directory, and one that is archived there."""
    repo_with_plans.write(f"{OLD}/{NAME}.md", CLEAN)
    repo_with_plans.write(f"{OLD}/artifacts/{NAME}/run.log", "ok\n")
    complete_plan = CLEAN.replace("- [ ]", "- [x] (2025-12-31 10:00Z)").replace("Build the parser", "Build the writer")
    repo_with_plans.write(f"{OLD}/2025-12-01_writer.md", complete_plan)
    repo_with_plans.ok("archive", "writer")
    repo_with_plans.git("add", "-A")
    repo_with_plans.git("commit", "-q", "-m", "A second place")


def test_a_later_init_includes_the_default_directory(repo_with_plans: Folder) -> None:
    add_second_directory(repo_with_plans)
    data = repo_with_plans.ok("init")
    assert [(entry["settings"]["plans"], entry["plans"], entry["archived"]) for entry in data["homes"]] == [
        (NEW, 4, 0),
        (OLD, 1, 1),
    ]
    assert {plan["id"] for plan in repo_with_plans.ok("list", "--all")["plans"]} == {*"abcd", NAME, "2025-12-01_writer"}
    repo_with_plans.ok("done", "1", "-p", NAME)
    assert repo_with_plans.run("init", "--check").exit == 0


def test_a_list_of_the_plans_is_no_guide(repo_with_plans: Folder) -> None:
    text = "# Plans\n\nHow to write one.\n\n"
    index = repo_with_plans.write("docs/PLANS.md", text + "- [A](plans/active/a.md)\n- [B](plans/active/b.md)\n")
    assert repo_with_plans.ok("init", "--dry-run")["homes"][0]["settings"]["guide"] == ".agent/PLANS.md"
    index.write_text(f"{text}An [example](plans/active/a.md).\n")
    assert repo_with_plans.ok("init", "--dry-run")["homes"][0]["settings"]["guide"] == "docs/PLANS.md"
    os.symlink("nowhere", repo_with_plans.path / "PLANS.md")
    repo_with_plans.ok("init", "--dry-run")
