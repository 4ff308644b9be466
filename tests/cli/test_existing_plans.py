"""`new` before `init` where a repository keeps plans already, and an `init` after it: no plan is in a second place, none is left out."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.terminal import Terminal
from tests.conftest import Folder
from tests.plans import CLEAN

if TYPE_CHECKING:
    from pathlib import Path

OLD, NEW = ".agent/execplans", "docs/plans/active"
NAME = "2026-01-01_parser"


@pytest.fixture
def kept(tmp_path: Path) -> Folder:
    """A repository that keeps four plans, and is not set up."""
    folder = Folder(tmp_path / "repo")
    folder.path.mkdir()
    folder.git("init", "-q", "-b", "main")
    for name in "abcd":
        folder.write(f"{NEW}/{name}.md", CLEAN.replace("# Build the parser", f"# Plan {name}"))
    folder.git("add", "-A")
    folder.git("commit", "-q", "-m", "Plans")
    return folder


def on_terminal(folder: Folder, monkeypatch: pytest.MonkeyPatch, answer: str, *words: str) -> tuple[int, str]:
    """Type a command on a terminal, and an answer to its question."""
    from execplan.cli.main import main

    for name, value in folder.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(folder.path)
    monkeypatch.setattr(sys, "argv", ["execplan", *words])
    terminal = Terminal(main)
    terminal.answer("[y/N] ", answer)
    shown = terminal.end()
    return shown.exit, shown.raw


@pytest.mark.parametrize("more", [(), ("--dry-run",), ("--commit",)])
def test_new_stops_where_plans_are_kept(kept: Folder, more: tuple[str, ...]) -> None:
    document = kept.run("new", "Scan it", *more, "--json").json
    error = document["error"]
    assert (error["code"], error["exit"]) == ("existing-plans", 6)
    assert error["candidates"] == [f"{NEW}: 4 plans"]
    assert "execplan init" in error["hint"]
    assert kept.git("status", "--short") == ""
    kept.ok("init")
    assert kept.ok("new", "Scan it")["path"] == f"{NEW}/scan-it.md"
    assert len(kept.ok("list")["plans"]) == 5


def test_a_plan_written_elsewhere_stops_too(kept: Folder) -> None:
    source = kept.path.parent / "draft.md"
    source.write_text(CLEAN)
    assert kept.run("new", "--from", str(source)).exit == 6
    assert kept.git("status", "--short") == ""


def test_new_asks_on_a_terminal(kept: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    status, shown = on_terminal(kept, monkeypatch, "\n", "new", "Scan it")
    assert (status, kept.git("status", "--short")) == (6, ""), shown
    assert "this repository has 4 plans in docs/plans/active" in shown
    status, shown = on_terminal(kept, monkeypatch, "y\n", "new", "Scan it")
    assert status == 0, shown
    assert len(kept.ok("list")["plans"]) == 5
    assert (kept.path / NEW / "scan-it.md").exists()


def test_another_plans_directory_can_be_begun_on_purpose(kept: Folder) -> None:
    hint = kept.run("new", "Scan it", "--json").json["error"]["hint"]
    command = hint.rpartition(": execplan ")[2].split()
    kept.ok(*command)
    assert kept.ok("new", "Scan it")["path"].startswith(f"{OLD}/")


def test_new_begins_where_there_is_no_plan(repo: Folder, plain: Folder) -> None:
    os.rmdir(repo.path / OLD)
    for folder in (repo, plain):
        folder.write("docs/guide.md", "# A guide\n")
        assert folder.ok("new", "Scan it")["path"].endswith("_scan-it.md")


def with_second_place(kept: Folder) -> None:
    """A plan that an older version has put into the default directory, and one that is archived there."""
    kept.write(f"{OLD}/{NAME}.md", CLEAN)
    kept.write(f"{OLD}/artifacts/{NAME}/run.log", "ok\n")
    done = CLEAN.replace("- [ ]", "- [x] (2025-12-31 10:00Z)").replace("Build the parser", "Build the writer")
    kept.write(f"{OLD}/2025-12-01_writer.md", done)
    kept.ok("archive", "writer")
    kept.git("add", "-A")
    kept.git("commit", "-q", "-m", "A second place")


def test_a_later_init_stops_rather_than_leave_plans_out(kept: Folder) -> None:
    with_second_place(kept)
    result = kept.run("init", "--json").json
    assert (result["error"]["code"], result["error"]["exit"]) == ("plans-left-out", 1)
    assert f"{OLD}/{NAME}.md" in result["error"]["candidates"]
    assert kept.git("status", "--short") == ""
    check = kept.run("init", "--check", "--json")
    assert check.exit == 1
    assert {"from": f"{OLD}/{NAME}.md", "to": f"{NEW}/{NAME}.md"} in check.json["data"]["moves"]
    assert check.json["next"] == ["execplan init --move"]
    assert kept.git("status", "--short") == ""


def test_init_moves_them_with_their_artifacts_and_evidence(kept: Folder) -> None:
    with_second_place(kept)
    evidence = next((kept.path / OLD).rglob("execplan-evidence.json")).read_bytes()
    before = {each["id"] for each in kept.ok("list", "--all")["plans"]}
    kept.ok("init", "--move")
    found = {each["id"]: each["path"] for each in kept.ok("list", "--all")["plans"]}
    assert set(found) == before | set("abcd")
    assert found[NAME] == f"{NEW}/{NAME}.md"
    assert found["2025-12-01_writer"] == "docs/plans/completed/2025-12-01_writer.md"
    assert (kept.path / f"docs/plans/artifacts/{NAME}/run.log").read_text() == "ok\n"
    assert next((kept.path / "docs").rglob("execplan-evidence.json")).read_bytes() == evidence
    assert not (kept.path / OLD).exists()
    assert kept.run("init", "--check").exit == 0


def test_init_asks_on_a_terminal(kept: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    with_second_place(kept)
    assert on_terminal(kept, monkeypatch, "n\n", "init")[0] == 1
    assert kept.git("status", "--short") == ""
    assert on_terminal(kept, monkeypatch, "y\n", "init")[0] == 0
    assert len(kept.ok("list", "--all")["plans"]) == 6
