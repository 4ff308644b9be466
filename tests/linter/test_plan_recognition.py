"""A file that is not a plan is skipped with a notice, unless somebody named it."""

from __future__ import annotations

import os

import pytest

from execplan.linter.plan_recognition import is_plan
from execplan.linter.plan_source import PlanSource
from execplan.linter.rule import RuleContext
from execplan.plan import reader
from tests.conftest import Folder
from tests.plans import CLEAN

TRACKER = "docs/exec-plans/tech-debt-tracker.md"
DEBT = "# Tech debt tracker\n\n| debt | since |\n|---|---|\n| two parsers | 2025 |\n\n## Items\n\n- [ ] Merge the parsers.\n"
NOTICE = f"{TRACKER} is not a plan and was skipped; to check it anyway, name it: execplan lint FILE"


@pytest.fixture
def tracker(repo: Folder) -> Folder:
    """A repository with a plan, and with the tracker beside the plans of another layout."""
    repo.write(".agent/execplan.toml", 'plans = "docs/exec-plans"\narchive = "docs/exec-plans/completed"\n')
    repo.write("docs/exec-plans/2026-01-01_parser.md", CLEAN)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "A plan")
    repo.write(TRACKER, DEBT)
    return repo


def test_named_it_is_checked(tracker: Folder) -> None:
    for names in ([TRACKER], [TRACKER, "docs/exec-plans/2026-01-01_parser.md"], ["tech-debt-tracker"]):
        result = tracker.run("lint", *names)
        assert (result.exit, result.err) == (1, ""), names
        assert (result.out.count(" EP104 "), "4 errors" in result.out) == (1, True)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("docs",),
        ("--hook", TRACKER),
        ("--hook", TRACKER, "docs/exec-plans/2026-01-01_parser.md"),
        ("--hook", "--level", "hint", TRACKER),
        ("--fix", "--hook", TRACKER),
        ("--fix",),
        ("--since", "HEAD"),
        ("--staged",),
        ("--staged", "--hook", "-q"),
        ("--profile", "ci"),
        ("--no-cache",),
        ("--format", "concise"),
        ("--format", "sarif"),
        ("--statistics",),
    ],
)
def test_else_it_is_skipped_with_a_notice(tracker: Folder, arguments: tuple[str, ...]) -> None:
    tracker.git("add", "-A")
    result = tracker.run("lint", *arguments)
    assert result.exit == 0, result
    assert result.err == f"execplan: warning: {NOTICE}\n"
    assert "EP" not in result.out or arguments[:1] == ("--format",)
    assert (tracker.path / TRACKER).read_text() == DEBT
    if "--format" not in arguments:
        document = tracker.run("lint", *arguments, "--json").json
        assert document["data"]["skipped"] == [TRACKER]
        assert document["data"]["findings"] == []
        assert document["warnings"] == [NOTICE]


def test_several_are_reported_in_one_line(tracker: Folder) -> None:
    for at in range(7):
        tracker.write(f"docs/exec-plans/notes-{at}.md", "# Notes\n")
    result = tracker.run("lint")
    assert result.err.startswith(
        "execplan: warning: 8 files are not plans and were skipped: docs/exec-plans/notes-0.md, "
    )
    assert result.err.endswith(" and 3 more\n")
    assert result.out == "1 plan, no findings\n"


def test_the_cache_knows_it_too(tracker: Folder) -> None:
    for at in range(10):
        tracker.write(f"docs/exec-plans/2026-01-02_plan-{at}.md", CLEAN)
    files = sorted(os.listdir(tracker.path / "docs/exec-plans"))
    for path in (tracker.path / "docs/exec-plans").iterdir():
        os.utime(path, (1, 1))
    paths = [f"docs/exec-plans/{name}" for name in files]
    skipped = [tracker.run("lint") for _ in range(2)]
    assert [result.err for result in skipped] == [f"execplan: warning: {NOTICE}\n"] * 2
    assert {result.out for result in skipped} == {"11 plans, no findings\n"}
    for _ in range(2):
        assert "4 errors" in tracker.run("lint", *paths).out
        assert tracker.run("lint").err == f"execplan: warning: {NOTICE}\n"
        assert tracker.run("lint", "--hook", *paths).err == f"execplan: warning: {NOTICE}\n"


def test_a_commit_with_the_tracker_passes_the_git_hook(tracker: Folder) -> None:
    tracker.ok("install", "git-hooks")
    tracker.git("add", "-A")
    tracker.git("commit", "-qm", "The tracker")


def test_a_plan_that_was_emptied_is_not_skipped(tracker: Folder) -> None:
    tracker.write("docs/exec-plans/2026-01-01_parser.md", "# Build the parser\n")
    tracker.git("add", "-A")
    result = tracker.run("lint", "--staged", "--hook")
    assert result.exit == 1
    assert (result.out.count(" EP104 "), "4 errors" in result.out) == (1, True)


def test_a_baseline_has_no_entry_for_it(tracker: Folder) -> None:
    assert tracker.run("lint", "--write-baseline").exit == 0
    assert "tech-debt" not in (tracker.path / ".agent/lint-baseline.json").read_text()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CLEAN, True),
        (DEBT, False),
        ("# Notes\n\nSome words.\n", False),
        ("# Build the parser\n\n## Progress\n", True),
        ("# Build the parser\n\n## Decisions\n", True),
        ("# Build the parser\n\n### Progress\n", True),
        ("```md\n# Build the parser\n\n## Progress\n```\n", True),
        ("# ExecPlan: build the parser\n", True),
        ("# Exec-Plan 12\n", True),
        ("# Build the parser (ExecPlan)\n", True),
        ("# ExecPlans\n\nHow we write them.\n", False),
        ("# Build the parser\n\nThis ExecPlan is a living document.\n", True),
        ("# A\n\n## Plan of Work\n\n## Concrete Steps\n\n## Interfaces and Dependencies\n", True),
        ("# Parser design\n\n## Context\n\n## Goals\n", False),
        ("# Progress\n\nWe made some.\n", False),
    ],
)
def test_what_a_plan_is(text: str, expected: bool) -> None:
    plan = reader.read(text.encode())
    assert is_plan(plan, RuleContext(source=PlanSource(plan))) == expected
