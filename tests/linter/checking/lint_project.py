"""What the tests of lint's cache share: a home in which it is known what was judged, and two rules that ask."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from execplan.core.plan.model import ParsedPlan
from execplan.linter.checking import batch_check, effective_rules, lint_cache, pending_check
from execplan.linter.checking.check_targets import resolve_target_groups
from execplan.linter.checking.pending_check import lint_with_lines
from execplan.linter.checking.plan_check import CheckedFile, CheckOptions, make_rule_context
from execplan.linter.rule import CLOCK, RULES, TREE, WARNING, Rule, RuleContext, RuleMatch, on_line
from execplan.linter.rule_facts import Clock, RepositoryTree
from execplan.linter.runner import DEFAULT_LEVELS
from tests.plans import CLEAN

PLANS = ".agent/execplans"
BAD = CLEAN.replace("  Rationale: A task is a line.\n", "")
UNSTAMPED = CLEAN.replace("(2025-12-30 09:15Z) Read lines.", "Read all the lines that are th.")
"""With a finding, and as many bytes as the clean one."""
TICK = 0.012
"""Seconds in which every kernel's clock for files has moved on."""


def due_lines(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A line `due N` is found once minute N has begun."""
    for at, line in enumerate(plan.text.lines):
        if line.startswith("due ") and context.clock is not None and context.clock.has_passed(int(line[4:])):
            yield on_line(plan, at, "it is due")


def missing_path_lines(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A line `names PATH` is found where there is no such path."""
    for at, line in enumerate(plan.text.lines):
        if line.startswith("names ") and context.tree is not None and not context.tree.has_path(line[6:]):
            yield on_line(plan, at, f"there is no {line[6:]}")


class LintProject:
    """A home, a clock, and what was judged in the last run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.minute = 1000
        self.checked: list[str] = []
        self.questions: list[tuple[str, str]] = []
        self.options = CheckOptions()

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a plan; the clock for files moves on before."""
        time.sleep(TICK)
        path = self.path / PLANS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def lint(self, *names: str, cached: bool = True, **options: Any) -> list[CheckedFile]:
        """Check all plans, or some."""
        self.checked, self.questions = [], []
        return batch_check.check_plans(resolve_target_groups(names), self.options, use_cache=cached, **options)

    def lint_consistently(self) -> list[str]:
        """Check with the cache and without, expect the same, and give the names of what was judged with it."""
        results = self.lint()
        checked = self.checked
        assert results == self.lint(cached=False)
        return checked

    @property
    def caches(self) -> list[Path]:
        """The files of the cache."""
        folder = self.path / ".git" / "execplan" / "lint"
        return sorted(folder.iterdir()) if folder.is_dir() else []


def make_lint_project(path: Path, monkeypatch: pytest.MonkeyPatch, *, old: bool = True) -> LintProject:
    """An empty home in a git folder; its files are believed at once, as if they had been written long ago, if they shall be old."""
    for name in (".git", PLANS):
        (path / name).mkdir(parents=True)
    project = LintProject(path)
    monkeypatch.chdir(path)
    monkeypatch.setattr(batch_check, "MIN_CACHED_PLANS", 0)
    monkeypatch.setattr(lint_cache, "package_fingerprint", lambda: "these rules")
    monkeypatch.setattr(effective_rules, "_LEVELS_BY_LAYERS", {})
    if old:
        monkeypatch.setattr(lint_cache, "MTIME_MARGIN_NS", -(10**11))
    for code in [code for code, rule in RULES.items() if rule.needs in (CLOCK, TREE)]:
        monkeypatch.delitem(DEFAULT_LEVELS, code, raising=False)
    for code, check, needs in (("EP991", due_lines, CLOCK), ("EP992", missing_path_lines, TREE)):
        monkeypatch.setitem(RULES, code, Rule(code, WARNING, check, needs))
        monkeypatch.setitem(DEFAULT_LEVELS, code, WARNING)

    def answer(kind: str, subject: str) -> object:
        project.questions.append((kind, subject))
        return (path / subject).exists()

    def make_context(*about: Any, is_explicit: bool = True) -> RuleContext:
        return make_rule_context(*about, is_explicit=is_explicit)._replace(
            clock=Clock(project.minute), tree=RepositoryTree(answer)
        )

    def recording_lint(data: bytes, facts: RuleContext, levels: dict[str, str]) -> Any:
        project.checked.append(os.path.basename(facts.path))
        return lint_with_lines(data, facts, levels)

    for module in (batch_check, pending_check):
        monkeypatch.setattr(module, "make_rule_context", make_context)
    monkeypatch.setattr(pending_check, "lint_with_lines", recording_lint)
    return project
