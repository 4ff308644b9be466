"""What `rename` reports about plans that depend on the plan by its old name."""

from __future__ import annotations

from tests.conftest import Folder
from tests.team.dependencies.plan_files import plan_text

SCANNER = "2026-01-01_scanner"


def test_dependencies_that_lose_the_plan(repo: Folder) -> None:
    repo.plan(plan_text("Build the scanner", "Lines", "Tabs"), SCANNER)
    repo.plan(plan_text("A", "x", needs=SCANNER), "2026-01-02_a")
    repo.plan(plan_text("B", "x", needs="scanner"), "2026-01-03_b")
    repo.plan(plan_text("C", "Use lines (needs scanner#1)", f"Use tabs (needs {SCANNER}#2)"), "2026-01-04_c")
    result = repo.run("rename", "scanner", "Build the tokenizer")
    new_id = "2026-01-01_build-the-tokenizer"
    assert result.exit == 0
    assert result.err.splitlines() == [
        f"execplan: warning: .agent/execplans/2026-01-03_b.md:2: scanner no longer means this plan; write {new_id}",
        f"execplan: warning: .agent/execplans/2026-01-04_c.md:7: scanner#1 no longer means this plan; write {new_id}#1",
    ]
    assert "blocked" in repo.run("graph").out


def test_a_name_that_still_fits(repo: Folder) -> None:
    repo.plan(plan_text("Build the scanner", "Lines"), SCANNER)
    repo.plan(plan_text("B", "x", needs="scanner"), "2026-01-03_b")
    assert repo.run("rename", "scanner", "Build the scanner again", "--dry-run").err == ""
    assert repo.run("rename", "scanner", "Build the scanner again").err == ""
    assert repo.ok("next", "2026-01-03_b")["task"] is None
