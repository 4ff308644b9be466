"""The file of lint's cache: damaged, of somebody else, written by two, or not at all."""

from __future__ import annotations

import os
import zlib

import pytest

from execplan.linter.checking import batch_check, lint_cache
from execplan.linter.checking.check_targets import resolve_target_groups
from execplan.linter.checking.plan_check import CheckOptions
from execplan.linter.rule_selection import RuleSelection
from tests.linter.checking.lint_project import BAD, LintProject


@pytest.mark.parametrize("damage", ["empty", "cut", "end", "flip", "garbage", "foreign", "no-tuple", "folder", "link"])
def test_damaged(project: LintProject, damage: str) -> None:
    file = project.caches[0]
    data = file.read_bytes()
    head, body = data[:84], data[84:]
    if damage == "folder":
        file.unlink()
        file.mkdir()
    elif damage == "link":
        file.rename(project.path / "elsewhere")
        file.symlink_to(project.path / "elsewhere")
    else:
        file.write_bytes(
            {
                "empty": b"",
                "cut": data[: len(data) // 2],
                "end": data[:-1],
                "flip": data.replace(b"EP301", b"EP302"),
                "garbage": os.urandom(500),
                "foreign": head[:20] + b"x" + head[21:] + body,
                "no-tuple": head[:80] + zlib.crc32(b"N").to_bytes(4, "big") + b"N",
            }[damage]
        )
    assert project.lint_consistently() == ["a.md", "b.md", "c.md"]
    assert project.lint_consistently() == ([] if damage != "folder" else ["a.md", "b.md", "c.md"])


def test_of_another_user(project: LintProject, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "k" * 64
    assert lint_cache._load_cache(str(project.caches[0]), project.caches[0].read_bytes()[16:80]) is not None
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert lint_cache._load_cache(str(project.caches[0]), project.caches[0].read_bytes()[16:80]) is None
    assert lint_cache._load_cache(str(project.caches[0]), key.encode()) is None


def test_two_at_once(project: LintProject) -> None:
    project.write("d.md", BAD)
    first, second = [lint_cache.open_cache(lot.project, CheckOptions()) for lot in resolve_target_groups([])[:1] * 2]
    assert first is not None
    assert second is not None
    entry: lint_cache.CacheEntry = (
        (1, 2, 3, 4),
        b"x",
        b"",
        -lint_cache.NO_MINUTE_LIMIT,
        lint_cache.NO_MINUTE_LIMIT,
        (),
        None,
    )
    first.store("/nowhere", "one.md", entry, (("has", "x", True),), archived=False)
    second.store("/nowhere", "two.md", entry, (("has", "y", True),), archived=False)
    second.save()
    first.save()
    assert project.lint_consistently() == ["d.md"]
    assert [path.suffix for path in project.caches] == [""]


def test_old_ones_are_pruned(project: LintProject) -> None:
    for at in range(40):
        project.options = CheckOptions(selection=RuleSelection(ignore=(f"EP{at}",)))
        project.lint()
    assert len(project.caches) == 16
    project.lint()
    assert project.checked == []


def test_where_it_can_not_be_written(project: LintProject) -> None:
    import shutil

    shutil.rmtree(project.path / ".git" / "execplan")
    (project.path / ".git" / "execplan").write_text("in the way")
    for _ in range(2):
        assert project.lint_consistently() == ["a.md", "b.md", "c.md"]


def test_without_git(project: LintProject) -> None:
    (project.path / ".git").rename(project.path / "no-git")
    before = sorted(project.path.rglob("*"))
    for _ in range(2):
        assert project.lint_consistently() == ["a.md", "b.md", "c.md"]
    assert sorted(project.path.rglob("*")) == before


def test_few_are_not_looked_up(project: LintProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_check, "MIN_CACHED_PLANS", 3)
    assert project.lint_consistently() == ["a.md", "b.md", "c.md"]
