"""Mending as one change: twice is once, and what would say something else is left alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from execplan.core.edits.plan_writer import apply_change
from execplan.core.errors import ExecplanError
from execplan.core.plan.model import ParsedPlan
from execplan.core.text.text_lines import Edit
from execplan.linter.checking.plan_fix import build_fix_change
from execplan.linter.rule import SAFE, UNSAFE, WARNING, Rule, RuleContext, RuleMatch, on_line
from execplan.linter.runner import RULES
from tests.plans import CLEAN

LEVELS = {"TEST1": WARNING}


def _register_rule(monkeypatch: pytest.MonkeyPatch, old: str, new: str, kind: str = SAFE) -> None:
    """A rule that finds a line with the old words and puts the new ones into it; none takes the line out."""

    def check(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
        for at, line in enumerate(plan.text.lines):
            if old in line:
                lines = (line.replace(old, new),) if new else ()
                yield on_line(plan, at, "found", (Edit(at, at + 1, lines),))

    monkeypatch.setitem(RULES, "TEST1", Rule("TEST1", WARNING, check, fix=kind))


def _apply_fixes(data: bytes, *, unsafe: bool = False) -> tuple[str, int]:
    fix_counts: Counter[str] = Counter()
    return apply_change(data, build_fix_change(RuleContext(), LEVELS, unsafe=unsafe, fix_counts=fix_counts))[
        0
    ].decode(), fix_counts.total()


def test_every_line_is_mended_at_once_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    _register_rule(monkeypatch, "Every step", "Each step")
    text, count = _apply_fixes(CLEAN.encode())
    assert (text, count) == (CLEAN.replace("Every step", "Each step"), 1)
    assert _apply_fixes(text.encode()) == (text, 0)


def test_a_task_without_a_space_below_another_one_is_fixed() -> None:
    data = CLEAN.replace("- [ ] Build the parser.", "- [ ] Build\n  -[ ] Test\n-[x] Write").encode()
    fix = build_fix_change(RuleContext(), {"EP206": WARNING}, unsafe=False, fix_counts=Counter())
    assert b"- [ ] Build\n  - [ ] Test\n- [x] Write" in apply_change(data, fix)[0]


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_stay(monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    _register_rule(monkeypatch, "Every step", "Each step")
    data = CLEAN.replace("\n", end).encode()
    assert _apply_fixes(data)[0].encode() == data.replace(b"Every step", b"Each step")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# Build the parser", "# Another"),
        ("- [ ] Build the parser.", "- [x] Build the parser."),
        ("- [ ] Build the parser.", ""),
        ("Rationale: A task is a line.", "Rationale: None."),
        ("## Context and Orientation", "## Contexts"),
        ("Lines can be read.", "Lines can't be read."),
    ],
)
def test_a_safe_fix_that_would_say_something_else_is_not_made(
    monkeypatch: pytest.MonkeyPatch, old: str, new: str
) -> None:
    _register_rule(monkeypatch, old, new)
    assert _apply_fixes(CLEAN.encode()) == (CLEAN, 0)


def test_one_that_would_does_not_keep_the_others_from_being_made(monkeypatch: pytest.MonkeyPatch) -> None:
    _register_rule(monkeypatch, "parse", "pars")
    text = CLEAN.replace("Every step", "Every parse step").replace("Write the scanner", "Parse, parse")
    fixed, count = _apply_fixes(text.encode())
    assert count == 2
    assert "Every pars step" in fixed
    assert "- [ ] Build the parser." in fixed


def test_an_unsafe_fix_is_made_where_asked_and_may_change_tasks_only(monkeypatch: pytest.MonkeyPatch) -> None:
    _register_rule(monkeypatch, "- [ ] Build the parser.", "- [ ] Build it.", UNSAFE)
    assert _apply_fixes(CLEAN.encode()) == (CLEAN, 0)
    assert _apply_fixes(CLEAN.encode(), unsafe=True)[1] == 1
    _register_rule(monkeypatch, "# Build the parser", "# Build it", UNSAFE)
    assert _apply_fixes(CLEAN.encode(), unsafe=True) == (CLEAN, 0)


def test_a_fix_that_brings_its_finding_back_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    _register_rule(monkeypatch, "Every step", "Every step!")
    text, count = _apply_fixes(CLEAN.encode())
    assert count == text.count("!") == 20


def test_nothing_behind_an_open_fence_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    _register_rule(monkeypatch, "Every step", "Each step")
    text = CLEAN.replace("## Concrete Steps\n", "## Concrete Steps\n\n```\n")
    assert _apply_fixes(text.encode()) == (text, 0)


def test_a_plan_in_conflict_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _register_rule(monkeypatch, "Every step", "Each step")
    with pytest.raises(ExecplanError, match="conflict"):
        _apply_fixes(CLEAN.replace("Every step", "<<<<<<< HEAD\nEvery step\n=======\n>>>>>>> x\n").encode())
