"""Plans that git ignores: every command that makes or moves them says so, with lines that really help."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from execplan.core.git.ignored_paths import find_ignored_paths
from execplan.core.project import project_discovery
from tests.cli.doctor.doctor_findings import assert_clean, only_finding
from tests.conftest import Folder
from tests.plans import CLEAN

if TYPE_CHECKING:
    from pathlib import Path

PATTERNS = {
    "/.agent/*": ".gitignore",
    "/.agent/": ".gitignore",
    ".agent": ".gitignore",
    ".*": ".gitignore",
    "*.md": ".gitignore",
    "*": ".agent/.gitignore",
    "execplans/": ".agent/.gitignore",
    ".agent/**": ".git/info/exclude",
}
FINISHED = CLEAN.replace("- [ ]", "- [x] (2025-12-31 10:00Z)")


@pytest.fixture
def empty(tmp_path: Path) -> Folder:
    """A git repository without a project."""
    folder = Folder(tmp_path / "repo")
    folder.path.mkdir()
    folder.git("init", "-q", "-b", "main")
    return folder


def apply_remedy(folder: Folder, warning: str) -> None:
    """Add the lines that a message names to the file that it names."""
    about, _, lines = warning.partition("to the end of ")[2].partition(": ")
    path = folder.path / about
    path.parent.mkdir(exist_ok=True)
    old = path.read_text() if path.exists() else ""
    path.write_text("\n".join([old, *lines.partition(";")[0].split("  "), ""]))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_init_says_so_with_lines_that_help(empty: Folder, pattern: str) -> None:
    empty.write(PATTERNS[pattern], f"{pattern}\n")
    result = empty.run("init", "--json").json
    assert result["ok"] is True
    (warning,) = [message for message in result["warnings"] if "git ignores" in message]
    assert f"because of the pattern {pattern} in {PATTERNS[pattern]}:1" in warning
    apply_remedy(empty, warning)
    assert not [message for message in empty.run("init", "--json").json["warnings"] if "git ignores" in message]
    empty.ok("new", "Build the parser", "--commit")
    assert "parser" in empty.git("ls-files")
    tracked = set(empty.git("ls-files", "--others", "--exclude-standard").split())
    assert {".agent/PLANS.md", ".agent/execplan.toml"} <= tracked


def test_what_else_was_ignored_stays_so(empty: Folder) -> None:
    empty.write(".gitignore", "/.agent/*\n")
    empty.write(".agent/secret", "x\n")
    (warning,) = [message for message in empty.run("init", "--json").json["warnings"] if "git ignores" in message]
    apply_remedy(empty, warning)
    assert ".agent/secret" not in empty.git("ls-files", "--others", "--exclude-standard")


def test_new_doctor_and_lint_say_so(empty: Folder) -> None:
    empty.write(".gitignore", "/.agent/*\n")
    created = empty.run("new", "Build the parser", "--json").json
    line = "add these lines to the end of .gitignore: !/.agent/execplans/"
    assert created["ok"] is True
    assert any([line in message for message in created["warnings"]])
    assert any([line in message for message in empty.run("lint", "--json").json["warnings"]])
    findings = empty.run("doctor", "--json").json["data"]["findings"]
    (finding,) = [candidate for candidate in findings if candidate["check"] == "ignored"]
    assert line in finding["mend"]
    assert finding["level"] == "warning"


def test_nothing_is_written_that_can_not_be_committed(empty: Folder) -> None:
    empty.write(".gitignore", "/.agent/*\n")
    error = empty.run("new", "Build the parser", "--commit", "--json").json["error"]
    assert (error["code"], error["exit"]) == ("ignored-by-git", 6)
    assert "!/.agent/execplans/" in error["hint"]
    assert not (empty.path / ".agent/execplans").exists()


def test_archive_checks_before_it_moves_anything(repo: Folder) -> None:
    path = repo.plan(FINISHED)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    repo.write(".gitignore", "/.agent/*\n")
    for command in (("archive", "--commit"), ("rename", "parser", "Read lines", "--commit")):
        error = repo.run(*command, "--json").json["error"]
        assert (error["code"], error["exit"]) == ("ignored-by-git", 6), command
        assert path.read_text() == FINISHED
    assert repo.git("status", "--short") == "?? .gitignore\n"
    assert repo.run("archive").exit == 0, "without a commit git need not know"
    repo.ok("restore", "parser", "--commit")
    apply_remedy(repo, error["hint"].partition("; or")[0])
    repo.ok("archive", "--commit")
    assert ".agent/execplans/archive/2026-01-01_parser.md" in repo.git("ls-files")


def test_no_warning_where_nothing_is_ignored(repo: Folder, plain: Folder) -> None:
    for folder in (repo, plain):
        folder.write(".gitignore", "*.pyc\n")
        assert folder.run("init", "--json").json["warnings"] == []
        assert folder.run("new", "Build the parser", "--json").json["warnings"] == []


def test_a_tracked_plan_is_not_ignored(repo: Folder) -> None:
    path = repo.plan(FINISHED)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    repo.write(".gitignore", "*.md\n")
    project = project_discovery.find(str(repo.path))
    assert find_ignored_paths(project, [str(path)]) == []
    assert repo.run("done", "1", "--commit").exit in (0, 3)


def test_directories_of_tracked_plans_are_ignored_on_purpose_but_a_new_plan_is_not_tracked(repo: Folder) -> None:
    repo.plan()
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    repo.write(".gitignore", "/.agent/execplans/\n")
    assert_clean(repo)
    assert repo.run("lint", "--json").json["warnings"] == []
    assert "git ignores" in repo.run("new", "Build the lexer").err
    repo.write(".gitignore", "/.agent/execplans/archive/\n")
    assert only_finding(repo, "ignored")["message"].startswith("git ignores .agent/execplans/archive ")


def test_init_names_ignored_settings_of_tracked_plans(empty: Folder) -> None:
    empty.write(".gitignore", ".*\n")
    empty.write(".cursor/plans/parser.plan.md", CLEAN)
    empty.git("add", "-f", ".")
    empty.git("commit", "-q", "-m", "Plan")
    assert "git ignores .agent/execplan.toml, .agent/PLANS.md because" in empty.run("init").err
