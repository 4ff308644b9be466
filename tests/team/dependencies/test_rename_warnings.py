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
    before = {path: path.read_bytes() for path in (repo.path / ".agent/execplans").glob("*.md")}
    preview = repo.run("rename", "scanner", "Build the tokenizer", "--dry-run").out
    result = repo.run("rename", "scanner", "Build the tokenizer")
    new_id = "2026-01-01_build-the-tokenizer"
    assert (result.exit, result.err) == (0, "")
    for name in ("2026-01-02_a", "2026-01-03_b", "2026-01-04_c"):
        text = (repo.path / f".agent/execplans/{name}.md").read_text()
        assert new_id in text
        assert "scanner" not in text
        assert f"+++ b/.agent/execplans/{name}.md" in preview
    assert f"(needs {new_id}#1)" in text
    assert "blocked" in repo.run("graph").out
    after = {path: path.read_bytes() for path in (repo.path / ".agent/execplans").glob("*.md")}
    repo.ok("undo")
    assert {path: path.read_bytes() for path in (repo.path / ".agent/execplans").glob("*.md")} == before
    repo.ok("redo")
    assert {path: path.read_bytes() for path in (repo.path / ".agent/execplans").glob("*.md")} == after


def test_the_short_name_is_rewritten_only_where_it_names_the_plan(repo: Folder) -> None:
    repo.plan(plan_text("Build the scanner", "Lines"), SCANNER)
    text = plan_text("B", "Call the scanner twice", needs="scanner")
    repo.plan(text, "2026-01-03_b")
    repo.ok("rename", "scanner", "Build the tokenizer")
    written = (repo.path / ".agent/execplans/2026-01-03_b.md").read_text()
    assert written == text.replace("[scanner]", "[2026-01-01_build-the-tokenizer]")


def test_a_short_name_that_can_t_be_rewritten_is_reported(repo: Folder) -> None:
    repo.plan(plan_text("Build the scanner", "Lines"), SCANNER)
    path = repo.plan(plan_text("B", "x", needs="scanner"), "2026-01-03_b")
    path.chmod(0o444)
    result = repo.run("rename", "scanner", "Build the tokenizer")
    assert "2026-01-03_b.md:2: scanner no longer means this plan; write 2026-01-01_build-the-tokenizer" in result.err


def test_a_name_that_still_fits(repo: Folder) -> None:
    repo.plan(plan_text("Build the scanner", "Lines"), SCANNER)
    repo.plan(plan_text("B", "x", needs="scanner"), "2026-01-03_b")
    assert repo.run("rename", "scanner", "Build the scanner again", "--dry-run").err == ""
    assert repo.run("rename", "scanner", "Build the scanner again").err == ""
    assert repo.ok("next", "2026-01-03_b")["task"] is None
