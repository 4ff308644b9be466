"""What `init` passes over in and beside plans directories, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.plans import CLEAN

if TYPE_CHECKING:
    from tests.conftest import Folder

TASKS = "# Tasks\n\n- [ ] 1.1 Read lines.\n"
OTHER_FILES = {
    "docs/exec-plans/active/README.md": "README, index or guide",
    "docs/exec-plans/_template.md": "template",
    "docs/exec-plans/tech-debt-tracker.md": "tracker of technical debt",
    "docs/exec-plans/active/AGENTS.md": "instructions for agents",
    "docs/exec-plans/active/reader-design.md": "design without tasks",
    "docs/exec-plans/active/meeting.md": "no tasks, no sections of a plan",
    "docs/exec-plans/active/old/notes.md": "in a subdirectory",
    "docs/exec-plans/artifacts/a/log.md": "belongs to a plan",
    "openspec/changes/add-login/proposal.md": "belongs to a plan",
    "openspec/changes/add-login/specs/login/spec.md": "belongs to a plan",
    "openspec/changes/add-logout/proposal.md": "its directory has no tasks.md",
    "docs/superpowers/specs/parser.md": "belongs to a plan",
    "findings.md": "belongs to a plan",
}


def test_each_file_that_is_no_plan_has_a_reason(plain: Folder) -> None:
    for path in ("docs/exec-plans/active/a.md", "docs/superpowers/plans/b.md", "task_plan.md"):
        plain.write(path, CLEAN)
    plain.write("openspec/changes/add-login/tasks.md", TASKS)
    for path in OTHER_FILES:
        plain.write(path, "# Design of the reader\n" if "design" in path else "# Notes\n")
    plain.write("docs/notes/elsewhere.md", "# Notes\n")
    data = plain.ok("init")
    assert {file["path"]: file["why"] for file in data["passed_over"]} == OTHER_FILES
    [line] = [line for line in plain.run("doctor").out.splitlines() if "meeting.md: " in line]
    assert line.endswith("but is not a plan: no tasks, no sections of a plan")


def test_the_report_fits_a_terminal(plain: Folder) -> None:
    plain.write("docs/plans/a.md", CLEAN)
    for number in range(100):
        plain.write(f"docs/plans/note-{number:03}.md", "# Notes\n")
        plain.write(f"docs/plans/b-{number:03}.md", CLEAN.replace("- [ ]", "- [x] (2025-12-30 10:00Z)"))
    lines = plain.run("init", "--check").out.splitlines()
    assert (
        "  no tasks, no sections of a plan (100): docs/plans/note-000.md, docs/plans/note-001.md, docs/plans/note-002.md and 97 more"
        in lines
    )
    assert "  and 95 more; see all: execplan init --check --json" in lines
    assert len(lines) < 30
