"""The summary for reviewers: what it lists, that plans can't add markup, and that it stays within GitHub's limit."""

from __future__ import annotations

import os
import re

import cmarkgfm
import pytest

from execplan.core.git.git_history import branch_point
from execplan.core.project import project_discovery
from execplan.linter.checking.plan_check import CheckOptions
from execplan.team.github.plan_report import PlanReport, count_levels, load_reports
from execplan.team.github.reviewer_summary import format_summary
from tests.conftest import CLOCK, Folder
from tests.plans import CLEAN

HOSTILE = "</details><img src=https://evil.example/x.png> ![x](https://evil.example) @org/team <!-- --> ``` | [a](b) ##[error]x\u202e"
MAX = 1 << 20


@pytest.fixture
def branch(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """A repository with a plan in its only commit."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(CLOCK))
    repo.plan()
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plans")
    return repo


def reports(repo: Folder, *paths: str) -> list[PlanReport]:
    """The plans that differ from HEAD."""
    project = project_discovery.find(os.fspath(repo.path))
    return load_reports(
        project, branch_point(project, "HEAD"), CheckOptions(), [str(repo.path / path) for path in paths]
    )


def test_nothing_changed(branch: Folder) -> None:
    assert format_summary(reports(branch), MAX) == "## Plans\n\nNo plan was changed.\n"


@pytest.mark.parametrize(("new_lines", "count"), [("First.\n", "+1 line"), ("First.\nSecond.\n", "+2 lines")])
def test_how_many_lines_changed(branch: Folder, new_lines: str, count: str) -> None:
    branch.plan(CLEAN.replace("Write the scanner, then", f"{new_lines}Write the scanner, then"))
    assert f"Plan of Work changed ({count})\n" in format_summary(reports(branch), MAX)


def test_what_a_reviewer_asks(branch: Folder) -> None:
    branch.plan(
        CLEAN.replace("- [ ] Build the parser.", "- [x] (2026-01-01 00:00Z) Build the parser.\n- [ ] Draw.")
        .replace(
            "## Outcomes",
            "- Decision: Read bytes.\n  Rationale: Nothing is lost.\n  Date/Author: 2026-01-01 / Ann\n\n## Outcomes",
        )
        .replace("Write the scanner, then", "Write the scanner and")
        + "\n### Open questions\n\n- Which encoding?\n- None.\n\n### Risks\n\n- It may be slow.\n"
    )
    (report,) = reports(branch)
    assert format_summary([report], MAX) == (
        "## 1 plan changed\n\n"
        "1 task done, 1 task added, 1 decision, 1 open question.\n\n"
        "### Build the parser\n\n"
        "**active**, 2 of 4 tasks done · .agent/execplans/2026-01-01\\_parser.md\n\n"
        "**Tasks done**\n\n- Build the parser.\n\n"
        "**Tasks added**\n\n- Draw.\n\n"
        "**Decisions**\n\n- Read bytes.<br>*Why:* Nothing is lost.\n\n"
        "**Sections**\n\n- Plan of Work changed (+1, -1 lines)\n"
        "- Interfaces and Dependencies changed (+5 lines)\n\n"
        "**Open questions**\n\n- Which encoding? <sub>Open questions</sub>\n"
    )


def test_a_new_plan_lists_a_done_task_once(branch: Folder) -> None:
    branch.plan(CLEAN.replace("Build the parser", "Draw"), "2026-01-02_draw")
    (report,) = reports(branch)
    summary = format_summary([report], MAX)
    assert "- New plan\n" in summary
    assert summary.count("- Read lines.") == 1
    assert "**Tasks added**\n\n- Draw.\n- Write the tests." in summary


def test_moved_and_deleted_plans(branch: Folder) -> None:
    branch.ok("rename", "parser", "Build the line parser")
    assert "- Renamed, was: 2026-01-01\\_parser" in format_summary(reports(branch), MAX)
    branch.ok("archive", "parser", "--force", "--reason", "No longer wanted.")
    assert "**archived**" in format_summary(reports(branch), MAX)
    next((branch.path / ".agent/execplans/archive").glob("*.md")).unlink()
    assert "**deleted** ·" in format_summary(reports(branch), MAX)


def test_findings_have_their_level_and_line(branch: Folder) -> None:
    branch.plan(CLEAN.replace("## Outcomes", "- Decision: Read bytes.\n  Date/Author: 2025-12-31 / Ann\n\n## Outcomes"))
    (report,) = reports(branch)
    assert count_levels([report]) == {"error": 1, "warning": 0, "hint": 0}
    assert "- ❌ error `EP301` line 26: the decision has no rationale: Read bytes." in format_summary([report], MAX)


def test_open_review_comments(branch: Folder) -> None:
    branch.ok("done", "2")
    branch.ok("comment", "parser", "--on", "task 3", "Which *tests*?")
    identifier = branch.ok("comment", "parser", "Is it needed?")["id"]
    branch.ok("resolve", identifier, "--reason", "It is.")
    summary = format_summary(reports(branch), MAX)
    assert "1 task done, 1 open comment." in summary
    assert "**Open comments**\n\n- Which \\*tests\\*? <sub>task 3 · Ann</sub>\n" in summary


def test_only_the_named_paths(branch: Folder) -> None:
    branch.ok("done", "2")
    branch.plan(CLEAN, "2026-01-02_draw")
    assert [report.change.ref.id for report in reports(branch, ".agent/execplans/2026-01-02_draw.md")] == [
        "2026-01-02_draw"
    ]
    assert len(reports(branch, ".agent")) == 2
    assert reports(branch, ".agent/exec", "src") == []


def test_other_files_among_the_plans_are_no_plans(branch: Folder) -> None:
    branch.plan("# Technical debt\n\nA list.\n", "tech-debt")
    assert reports(branch) == []


def test_a_plan_cant_add_markup(branch: Folder) -> None:
    text = (
        CLEAN.replace("Build the parser", HOSTILE)
        .replace("Write the tests.", HOSTILE)
        .replace("A task is a line.", HOSTILE)
    )
    text = text.replace("## Artifacts and Notes", f"## {HOSTILE}").replace("Read line by line.", HOSTILE)
    branch.plan(f"{text}\n### Open questions\n\n- {HOSTILE}\n", "2026-01-02_<img src=x>")
    markup = cmarkgfm.github_flavored_markdown_to_html(format_summary(reports(branch), MAX))
    tags = set(re.findall(r"<(/?\w+)", markup))
    assert tags <= {name for tag in "h2 h3 p ul li strong em code br sub".split() for name in (tag, f"/{tag}")}, tags
    assert "@org" not in markup
    assert "\u202e" not in markup


def test_the_limit_counts_bytes_and_cuts_at_a_plan(branch: Folder) -> None:
    for number in range(40):
        tasks = "".join(f"- [ ] Write the é part {part}.\n" for part in range(60))
        branch.plan(CLEAN.replace("- [ ] Write the tests.\n", tasks), f"2026-01-02_plan-{number:02}")
    plans = reports(branch)
    assert format_summary(plans, MAX).count("\n### ") == 40
    assert "- and 11 more\n" in format_summary(plans, MAX)
    for limit in (20_000, 10_007, 3_000, 100):
        summary = format_summary(plans, limit)
        assert len(summary.encode()) <= limit
        shown_count = summary.count("\n### ")
        assert summary.endswith(f"{40 - shown_count} more plans changed; GitHub limits the size of a summary.\n")
