"""What scripts/corpus.py checks on every plan can fail; `make check` runs it over the corpus."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from execplan import Plan
from execplan.core.edits import plan_writer

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

import corpus
import corpus_page
import corpus_probe
import corpus_wild
from corpus_given import PlanLocation

LAY = PlanLocation("{slug}", archived=False, in_project=False)
BROKEN = b"# T\n\n## Progress\n\n- [ ] One  \r\n- [x] (2025-01-01) Two\n\n## Decision Log\n\nNone.\n"


def test_lines_that_change_beside_the_edit_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plan = tmp_path / "plan.md"
    plan.write_bytes(BROKEN)
    assert corpus.examine(("plan.md", plan, LAY)).failures == []
    changed = plan_writer.apply_change

    def careless(data: bytes, changer: object) -> object:
        new, change = changed(data, changer)  # type: ignore[arg-type]  # passed on as it came
        return new.replace(b"\r\n", b"\n"), change

    monkeypatch.setattr(corpus_probe, "apply_change", careless)
    failures = corpus.examine(("plan.md", plan, LAY)).failures
    assert "plan.md:5: done and then reopen does not give the same bytes" in failures
    assert any("changed lines that are not its own" in failure for failure in failures)


def test_a_task_that_another_reader_does_not_see_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plan = tmp_path / "plan.md"
    plan.write_bytes(BROKEN)
    monkeypatch.setattr(corpus_probe, "counted_again", lambda _: [(4, "open")])
    assert (
        "plan.md:6: 2 tasks, but markdown-it-py has 1, or not the same"
        in corpus.examine(("plan.md", plan, LAY)).failures
    )


OTHER_FORMS = {
    "docs/exec-plans/active/parser.md": "# Parser\n\n## Tasks\n\n- [ ] Read\n- [x] Write\n\nSee [it](../README.md).\n",
    "docs/exec-plans/README.md": "# Plans\n\n- [ ] No task\n",
    "openspec/changes/add-it/tasks.md": "## 1. Code\n\n- [ ] 1.1 Add\n- [ ] 1.2 Use\n",
    "openspec/changes/add-it/proposal.md": "# Why\n\nBecause.\n",
    "task_list.md": "# Notes\n",
}


def other_forms(folder: Path) -> tuple[str, dict[str, Path]]:
    """Write a repository with plans in other forms and its manifest, and return it as the script reads it."""
    rows = []
    for path, text in OTHER_FORMS.items():
        file = folder / "a__b" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        rows.append(f"a/b\tcommit\t{path}\t0\tsha\ta__b/{path}\n")
    (folder / "MANIFEST.tsv").write_text("owner/repo\tcommit\tpath\tbytes\tsha256\tfile\n" + "".join(rows))
    [repository] = corpus_wild.repositories(folder)
    return repository


def test_repositories_with_plans_in_other_forms_are_set_up_and_edited(tmp_path: Path) -> None:
    examined = corpus_wild.examine_repository(other_forms(tmp_path))
    assert examined.failures == []
    assert [(file.path, file.kind, file.reason, file.state, file.boxes) for file in examined.files] == [
        ("a/b/docs/exec-plans/README.md", "harness", "README or index", "", 1),
        ("a/b/docs/exec-plans/active/parser.md", "harness", "", "active", 2),
        ("a/b/openspec/changes/add-it/proposal.md", "openspec", "belongs to a plan, or describes the project", "", 0),
        ("a/b/openspec/changes/add-it/tasks.md", "openspec", "", "active", 2),
        ("a/b/task_list.md", "none", "in no directory for plans", "", 0),
    ]
    reports = [file.report for file in examined.files if file.report is not None]
    assert all(report.edits["archive"] == 1 and report.edits["decide --create"] == 1 for report in reports)
    page = corpus_page.render_other_forms(examined.files)
    assert "| harness | 2 | 1 | 1 | 0 | 2 | 2 | 0 |" in page
    unseen = examined.files[1]._replace(state="", report=None)
    assert f"| `{unseen.path}` | plan | no | 2 |" in corpus_page.render_other_forms([unseen])


def test_other_files_that_change_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    archive = Plan.archive

    def careless(plan: Plan, **options: bool) -> object:
        moved = archive(plan, **options)  # type: ignore[arg-type]  # passed on as it came
        Path(plan.project.root, "task_list.md").write_text("# Changed\n")
        return moved

    monkeypatch.setattr(Plan, "archive", careless)
    monkeypatch.setattr(corpus_probe, "counted_again", lambda _, anywhere: [])
    failures = corpus_wild.examine_repository(other_forms(tmp_path)).failures
    assert "a/b/docs/exec-plans/active/parser.md: archive changed task_list.md" in failures
    assert "a/b/docs/exec-plans/active/parser.md:5: 2 tasks, but markdown-it-py has 0, or not the same" in failures


def test_without_plans_in_other_forms_that_part_of_the_page_stays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plans, page = tmp_path / "plans", tmp_path / "page.md"
    plans.mkdir()
    (plans / "plan.md").write_bytes(BROKEN)
    page.write_text(f"old\n\n{corpus_page.OTHER_FORMS_TITLE}\n\nkept\n", encoding="utf-8")
    monkeypatch.setattr(corpus, "PAGE", page)
    monkeypatch.setattr(corpus, "WILD", tmp_path / "missing")
    monkeypatch.setattr(sys, "argv", ["corpus.py", str(plans)])
    assert corpus.main() == 0
    assert capsys.readouterr().out == (
        f"no plans in other forms in {tmp_path / 'missing'}: that part is not checked\n"
        f"1 plans, 0 files in other forms, 0 failures; docs/research/corpus.md written\n"
    )
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# Corpus results")
    assert text.endswith(f"\n\n{corpus_page.OTHER_FORMS_TITLE}\n\nkept\n")
