"""What scripts/corpus.py checks on every plan can fail; `make check` runs it over the corpus."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from execplan.edits import plan_writer

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

import corpus
import corpus_probe
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
