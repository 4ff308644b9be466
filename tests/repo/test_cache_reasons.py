"""What findings came from besides the plan: settings, options, rules, clock and tree."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from execplan.lint.rule import RULES, WARNING, Rule
from execplan.lint.selection import RuleSelection
from execplan.repo.checking import cache
from execplan.repo.checking.one import CheckOptions
from tests.plans import CLEAN
from tests.repo.caching import PLANS, Shelf, due


def test_archived(home: Shelf) -> None:
    folder = home.path / PLANS
    (folder / "archive").mkdir()
    (folder / "a.md").rename(folder / "archive" / "a.md")
    assert home.same() == ["a.md"]
    assert [each.code for found in home.lint() for each in found.findings if "archive" in found.path] == ["EP502"]
    (folder / "archive" / "a.md").rename(folder / "a.md")
    home.same()


def test_settings(home: Shelf) -> None:
    file = home.path / ".agent" / "execplan.toml"
    file.write_text('stalled_days = 3\n[lint.levels]\nEP301 = "hint"\n')
    assert home.same() == ["a.md", "b.md", "c.md"]
    assert [each.level for each in home.lint()[1].findings if each.code == "EP301"] == ["hint"]
    file.write_text('[lint.paths."*/b.md"]\nignore = ["EP301"]\n')
    assert home.same() == ["a.md", "b.md", "c.md"]
    file.unlink()
    assert home.same() == []


def test_options(home: Shelf) -> None:
    for way in (CheckOptions(is_hook=True), CheckOptions(selection=RuleSelection(select=("EP2",))), CheckOptions(selection=RuleSelection(ignore=("EP2",)))):
        home.way = way
        assert home.same() == ["a.md", "b.md", "c.md"]
        assert home.same() == []
    home.way = CheckOptions()
    assert home.same() == []
    fields = ("hook", "selection", "trees", "histories", "committed")
    assert CheckOptions._fields == fields, "does the key of the cache tell what is new?"


def test_rules_and_versions(home: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    for where, name, value in (
        (cache, "__version__", "99"),
        (cache, "package_fingerprint", lambda: "other rules"),
        (sys, "version", "3.99"),
        (os, "geteuid", lambda: 12345),
    ):
        monkeypatch.setattr(where, name, value)
        assert home.same() == ["a.md", "b.md", "c.md"], name


def test_a_rule_that_was_just_edited(home: Shelf, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.undo()
    package = tmp_path / "package"
    (package / "lint").mkdir(parents=True)
    rules = package / "lint" / "rules.py"
    rules.write_text("a = 1\n")
    monkeypatch.setattr(cache, "_PACKAGE_DIR", str(package))
    assert cache.package_fingerprint() is None, "it may have been edited after it was loaded"
    monkeypatch.setattr(cache, "_MTIME_MARGIN_NS", -(10**12))
    first = cache.package_fingerprint()
    assert first == cache.package_fingerprint()
    rules.write_text("a = 12\n")
    assert cache.package_fingerprint() not in (None, first)
    monkeypatch.setattr(cache, "_PACKAGE_DIR", str(tmp_path / "in-a-zip"))
    assert cache.package_fingerprint() is None


def test_rules_of_ones_own_and_history(home: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    home.way = CheckOptions(histories={})
    for _ in range(2):
        assert home.same() == ["a.md", "b.md", "c.md"]
    home.way = CheckOptions()
    monkeypatch.setitem(RULES, "XY1", Rule("XY1", WARNING, due))
    for _ in range(2):
        assert home.same() == ["a.md", "b.md", "c.md"]


def test_the_clock(home: Shelf) -> None:
    home.write("d.md", f"{CLEAN}\ndue 2000\n\ndue 3000\n")
    assert home.same() == ["d.md"]
    for minute, judged, found in (
        (1999, [], 0),
        (2000, ["d.md"], 1),
        (2999, [], 1),
        (3000, ["d.md"], 2),
        (99999, [], 2),
        (2000, ["d.md"], 1),
        (0, ["d.md"], 0),
    ):
        home.minute = minute
        assert home.same() == judged, minute
        assert len(home.lint()[3].findings) == found


def test_the_tree(home: Shelf) -> None:
    for name in "defg":
        home.write(f"{name}.md", f"{CLEAN}\nnames src/one.py\n" + "\nnames src/two.py\n" * (name == "g"))
    assert home.same() == ["d.md", "e.md", "f.md", "g.md"]
    home.lint()
    assert sorted(home.asked) == [("has", "src/one.py"), ("has", "src/two.py")], "each question once"
    (home.path / "src").mkdir()
    (home.path / "src" / "two.py").touch()
    assert home.same() == ["g.md"]
    (home.path / "src" / "one.py").touch()
    assert home.same() == ["d.md", "e.md", "f.md", "g.md"]
    (home.path / "src" / "one.py").unlink()
    home.write("d.md", CLEAN)
    assert home.same() == ["d.md", "e.md", "f.md", "g.md"]
    for name in "efg":
        home.write(f"{name}.md", CLEAN)
    home.lint()
    home.lint()
    assert home.asked == [], "questions that nobody asks any more are forgotten"


def test_touched_when_the_tree_has_changed(home: Shelf) -> None:
    path = home.write("d.md", f"{CLEAN}\nnames src\n")
    home.lint()
    os.utime(path)
    (home.path / "src").mkdir()
    assert home.same() == ["d.md"]
