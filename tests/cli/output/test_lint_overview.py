"""`lint` of a whole project: a long report has changed and open plans in full, and the rest as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.plans import CLEAN

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Folder

FAULTY = (
    CLEAN.replace("- [ ]", "- [x]").replace("## Context and Orientation", "## Context").replace("2025-12-30 / Ann", "")
)
FAULTY_OPEN = FAULTY.replace("- [x] Write the tests.", "- [ ] Write the tests.")


@pytest.fixture
def many(repo: Folder) -> Folder:
    """Forty committed plans with findings, of which two are open."""
    for number in range(40):
        repo.plan(FAULTY_OPEN if number in (7, 8) else FAULTY, f"2026-01-{number % 28 + 1:02}_plan-{number}")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "All")
    return repo


def files_in_full(out: str) -> set[str]:
    """The plans whose findings are listed."""
    return {line.split(":")[0].split("_")[-1] for line in out.splitlines() if ".md:" in line}


def test_a_long_report_is_an_overview(many: Folder) -> None:
    for arguments in (("lint",), ("lint", "--no-cache")):
        out = many.run(*arguments).out
        assert len(out.splitlines()) < 100
        assert files_in_full(out) == {"plan-7.md", "plan-8.md"}
        assert "38 other plans with findings:" in out
        assert "38  EP107  warning  38 --fix" in out
        assert out.splitlines()[-3:] == [
            "next: execplan lint --fix  # fixes 80 findings",
            "next: execplan lint --write-baseline  # records these findings, for lint --baseline FILE",
            "next: execplan lint --all  # lists all findings",
        ]


def test_fixes_of_archived_plans_are_not_suggested(many: Folder) -> None:
    plans = many.path / ".agent/execplans"
    (plans / "archive").mkdir()
    for path in plans.glob("*.md"):
        path.rename(plans / "archive" / path.name)
    out = many.run("lint").out
    assert "40 plans with findings:" in out
    assert "lint --fix" not in out


def test_a_changed_plan_is_in_full(many: Folder) -> None:
    path: Path = many.path / ".agent/execplans/2026-01-04_plan-3.md"
    path.write_text(path.read_text() + "\nMore.\n")
    assert files_in_full(many.run("lint").out) == {"plan-3.md", "plan-7.md", "plan-8.md"}


@pytest.mark.parametrize(
    "arguments", [("--all",), ("--hook",), (".agent/execplans",), ("--format", "concise"), ("--format", "github")]
)
def test_other_reports_are_complete(many: Folder, arguments: tuple[str, ...]) -> None:
    out = many.run("lint", *arguments).out
    assert all(f"plan-{number}.md" in out for number in range(40))


def test_json_is_complete(many: Folder) -> None:
    paths = {finding["path"] for finding in many.run("lint", "--json").json["data"]["findings"]}
    assert len(paths) == 40


def test_a_short_report_has_no_table(repo: Folder) -> None:
    repo.plan(FAULTY)
    out = repo.run("lint").out
    assert "with findings:" not in out
    assert out.endswith("next: execplan archive .agent/execplans/2026-01-01_parser.md\n")


def test_missing_sections_are_one_finding(repo: Folder) -> None:
    text = CLEAN.replace("## Plan of Work", "## A").replace("## Concrete Steps", "## B")
    repo.plan(text)
    out = repo.run("lint").out
    assert "EP103 missing sections Plan of Work, Concrete Steps\n" in out


def test_conflict_markers_suggest_a_merge(repo: Folder) -> None:
    repo.plan(
        CLEAN.replace("- [ ] Build", "<<<<<<< a\n- [ ] Build").replace("- [ ] Write", "=======\n>>>>>>> b\n- [ ] Write")
    )
    out = repo.run("lint").out
    assert out.splitlines()[-1] == "next: execplan merge 2026-01-01_parser"


def test_a_baseline_that_was_written_is_suggested(many: Folder) -> None:
    assert many.run("lint", "--write-baseline").exit == 0
    command = "execplan lint --baseline .agent/lint-baseline.json"
    assert f"next: {command}  # ignores the findings in the baseline" in many.run("lint").out
    assert many.run(*command.split()[1:]).exit == 0
