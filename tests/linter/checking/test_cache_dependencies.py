"""What findings came from besides the plan: settings, options, rules, clock and tree."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from execplan.core.files import file_status
from execplan.linter.checking import lint_cache
from execplan.linter.checking.plan_check import CheckOptions
from execplan.linter.rule import RULES, WARNING, Rule
from execplan.linter.rule_selection import RuleSelection
from tests.linter.checking.lint_project import PLANS, LintProject, due_lines
from tests.plans import CLEAN


def test_archived(project: LintProject) -> None:
    folder = project.path / PLANS
    (folder / "archive").mkdir()
    (folder / "a.md").rename(folder / "archive" / "a.md")
    assert project.lint_consistently() == ["a.md"]
    assert [finding.code for result in project.lint() for finding in result.findings if "archive" in result.path] == [
        "EP502"
    ]
    (folder / "archive" / "a.md").rename(folder / "a.md")
    project.lint_consistently()


def test_settings(project: LintProject) -> None:
    file = project.path / ".agent" / "execplan.toml"
    file.write_text('stalled_days = 3\n[lint.levels]\nEP301 = "hint"\n')
    assert project.lint_consistently() == ["a.md", "b.md", "c.md"]
    assert [finding.level for finding in project.lint()[1].findings if finding.code == "EP301"] == ["hint"]
    file.write_text('[lint.paths."*/b.md"]\nignore = ["EP301"]\n')
    assert project.lint_consistently() == ["a.md", "b.md", "c.md"]
    file.unlink()
    assert project.lint_consistently() == []


def test_options(project: LintProject) -> None:
    for options in (
        CheckOptions(is_hook=True),
        CheckOptions(selection=RuleSelection(select=("EP2",))),
        CheckOptions(selection=RuleSelection(ignore=("EP2",))),
    ):
        project.options = options
        assert project.lint_consistently() == ["a.md", "b.md", "c.md"]
        assert project.lint_consistently() == []
    project.options = CheckOptions()
    assert project.lint_consistently() == []
    fields = ("is_hook", "selection", "trees", "histories", "committed")
    assert CheckOptions._fields == fields, "does the key of the cache tell what is new?"


def test_rules_and_versions(project: LintProject, monkeypatch: pytest.MonkeyPatch) -> None:
    for target, name, value in (
        (lint_cache, "__version__", "99"),
        (lint_cache, "package_fingerprint", lambda: "other rules"),
        (sys, "version", "3.99"),
        (os, "geteuid", lambda: 12345),
    ):
        monkeypatch.setattr(target, name, value)
        assert project.lint_consistently() == ["a.md", "b.md", "c.md"], name


def test_a_rule_that_was_just_edited(project: LintProject, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.undo()
    package = tmp_path / "package"
    (package / "lint").mkdir(parents=True)
    rules = package / "lint" / "rules.py"
    rules.write_text("a = 1\n")
    monkeypatch.setattr(file_status, "_PACKAGE_DIR", str(package))
    assert file_status.package_fingerprint() is None, "it may have been edited after it was loaded"
    monkeypatch.setattr(file_status, "MTIME_MARGIN_NS", -(10**12))
    fingerprint = file_status.package_fingerprint()
    assert fingerprint == file_status.package_fingerprint()
    rules.write_text("a = 12\n")
    assert file_status.package_fingerprint() not in (None, fingerprint)
    monkeypatch.setattr(file_status, "_PACKAGE_DIR", str(tmp_path / "in-a-zip"))
    assert file_status.package_fingerprint() is None


def test_rules_of_ones_own_and_history(project: LintProject, monkeypatch: pytest.MonkeyPatch) -> None:
    project.options = CheckOptions(histories={})
    for _ in range(2):
        assert project.lint_consistently() == ["a.md", "b.md", "c.md"]
    project.options = CheckOptions()
    monkeypatch.setitem(RULES, "XY1", Rule("XY1", WARNING, due_lines))
    for _ in range(2):
        assert project.lint_consistently() == ["a.md", "b.md", "c.md"]


def test_the_clock(project: LintProject) -> None:
    project.write("d.md", f"{CLEAN}\ndue 2000\n\ndue 3000\n")
    assert project.lint_consistently() == ["d.md"]
    for minute, checked, count in (
        (1999, [], 0),
        (2000, ["d.md"], 1),
        (2999, [], 1),
        (3000, ["d.md"], 2),
        (99999, [], 2),
        (2000, ["d.md"], 1),
        (0, ["d.md"], 0),
    ):
        project.minute = minute
        assert project.lint_consistently() == checked, minute
        assert len(project.lint()[3].findings) == count


def test_the_tree(project: LintProject) -> None:
    for name in "defg":
        project.write(f"{name}.md", f"{CLEAN}\nnames src/one.py\n" + "\nnames src/two.py\n" * (name == "g"))
    assert project.lint_consistently() == ["d.md", "e.md", "f.md", "g.md"]
    project.lint()
    assert sorted(project.questions) == [("has", "src/one.py"), ("has", "src/two.py")], "each question once"
    (project.path / "src").mkdir()
    (project.path / "src" / "two.py").touch()
    assert project.lint_consistently() == ["g.md"]
    (project.path / "src" / "one.py").touch()
    assert project.lint_consistently() == ["d.md", "e.md", "f.md", "g.md"]
    (project.path / "src" / "one.py").unlink()
    project.write("d.md", CLEAN)
    assert project.lint_consistently() == ["d.md", "e.md", "f.md", "g.md"]
    for name in "efg":
        project.write(f"{name}.md", CLEAN)
    project.lint()
    project.lint()
    assert project.questions == [], "questions that nobody asks any more are forgotten"


def test_touched_when_the_tree_has_changed(project: LintProject) -> None:
    path = project.write("d.md", f"{CLEAN}\nnames src\n")
    project.lint()
    os.utime(path)
    (project.path / "src").mkdir()
    assert project.lint_consistently() == ["d.md"]
