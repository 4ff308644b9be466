"""The reader and every writer on every plan of the corpus, by the checks of scripts/corpus.py."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from execplan.repo import amend
from tests.conftest import find_corpus

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

import corpus

FOLDER = find_corpus()
PARTS = 8
"""How many tests the plans are dealt out to, so that processes share them."""


@pytest.mark.skipif(FOLDER is None, reason="no corpus: it lies in ../shared/corpus or where EXECPLAN_CORPUS says")
@pytest.mark.parametrize("part", range(PARTS))
def test_the_plans(part: int) -> None:
    assert FOLDER is not None
    plans = corpus.plans(FOLDER)[part::PARTS]
    assert plans
    assert [failure for plan in plans for failure in corpus.examine(plan).failures] == []


BROKEN = b"# T\n\n## Progress\n\n- [ ] One  \r\n- [x] (2025-01-01) Two\n\n## Decision Log\n\nNone.\n"


def test_lines_that_change_beside_the_edit_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plan = tmp_path / "plan.md"
    plan.write_bytes(BROKEN)
    assert corpus.examine(("plan.md", plan)).failures == []
    changed = amend.changed

    def careless(data: bytes, changer: object) -> object:
        new, change = changed(data, changer)  # type: ignore[arg-type]
        return new.replace(b"\r\n", b"\n"), change

    monkeypatch.setattr(corpus, "changed", careless)
    failures = corpus.examine(("plan.md", plan)).failures
    assert "plan.md:5: done and then reopen does not give the same bytes" in failures
    assert any("changed lines that are not its own" in failure for failure in failures)


def test_a_task_that_another_reader_does_not_see_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plan = tmp_path / "plan.md"
    plan.write_bytes(BROKEN)
    monkeypatch.setattr(corpus, "counted_again", lambda _: [(4, "open")])
    assert "plan.md:6: 2 tasks, but markdown-it-py has 1, or not the same" in corpus.examine(("plan.md", plan)).failures
