"""A plan is stalled by its timestamps and by git; the time of a file counts only for what git does not have."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import CLOCK, Folder
from tests.plans import CLEAN

DAY = 86400
PLAN = ".agent/execplans/2026-01-01_parser.md"
OLD = CLEAN.replace("2025-12-30", "2025-11-01").replace("2025-12-31", "2025-11-01")
"""With no date in the last 14 days before the clock of the tests."""


def _commit(repo: Folder, days: int) -> None:
    """Commit everything as it was done so many days ago."""
    at = f"@{CLOCK - days * DAY} +0000"
    repo.env |= {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Plan", "--allow-empty")


def _touch(path: Path, days: int) -> None:
    os.utime(path, (CLOCK - days * DAY,) * 2)


def _stalled(repo: Folder) -> bool:
    plans = repo.ok("status")["plans"]
    stalled: bool = plans[0]["stalled"]
    assert ("stalled" in repo.run("prime").out) == stalled
    return stalled


@pytest.fixture
def old(repo: Folder) -> Folder:
    """A repository with an old plan that was committed 30 days ago; its file is new, as after a clone."""
    _touch(repo.plan(OLD), 0)
    _commit(repo, 30)
    return repo


def test_a_clone_of_an_old_plan_is_stalled(old: Folder) -> None:
    clone = Folder(old.path.parent / "clone")
    subprocess.run(["git", "clone", "-q", str(old.path), str(clone.path)], check=True, env=old.env)
    _touch(clone.path / PLAN, 0)
    assert _stalled(clone)
    assert _stalled(old)
    _touch(old.path / PLAN, 0)  # a checkout or a backup writes the same again
    assert _stalled(old)


def test_a_recent_timestamp_or_entry_counts(old: Folder) -> None:
    for days, text in (
        (30, OLD.replace("(2025-11-01 09:15Z)", "(2025-12-25 09:15Z)")),
        (31, OLD.replace("Date/Author: 2025-11-01", "Date/Author: 2025-12-25")),
    ):
        assert text != OLD
        _touch(old.plan(text), days)
        _commit(old, 30)
        assert not _stalled(old)


def test_a_recent_commit_counts(old: Folder) -> None:
    old.plan(OLD.replace("Read lines.", "Read all lines."))
    _touch(old.path / PLAN, 30)
    _commit(old, 3)
    assert not _stalled(old)


def test_a_commit_of_something_else_does_not(old: Folder) -> None:
    old.write("src/a.py", "x\n")
    _commit(old, 1)
    assert _stalled(old)


@pytest.mark.parametrize("staged", [False, True])
def test_an_uncommitted_edit_counts_from_when_it_was_made(old: Folder, staged: bool) -> None:
    path = old.plan(OLD.replace("Read lines.", "Read all lines."))
    for days, expected in ((0, False), (13, False), (20, True)):
        _touch(path, days)
        if staged:
            old.git("add", "-A")
        assert _stalled(old) == expected, days


@pytest.mark.parametrize("ignored", [False, True])
def test_a_plan_that_git_does_not_have(repo: Folder, ignored: bool) -> None:
    if ignored:
        repo.write(".gitignore", "/.agent/\n")
    _commit(repo, 30)
    path = repo.plan(OLD)
    for days, expected in ((0, False), (20, True)):
        _touch(path, days)
        assert _stalled(repo) == expected, days


def test_before_the_first_commit_and_without_git(repo: Folder, plain: Folder) -> None:
    os.rename(repo.path / ".git", repo.path.parent / "old.git")
    repo.git("init", "-q")
    for folder in (repo, plain):
        path = folder.plan(OLD)
        for days, expected in ((0, False), (20, True)):
            _touch(path, days)
            assert _stalled(folder) == expected, days


def test_where_git_is_not_installed_the_time_of_the_file_counts(old: Folder) -> None:
    empty = old.path.parent / "empty"
    empty.mkdir()
    for days, expected in ((0, False), (20, True)):
        _touch(old.path / PLAN, days)
        assert old.run("status", "--json", PATH=str(empty)).json["data"]["plans"][0]["stalled"] is expected


def test_a_plan_on_hold_is_not_stalled(old: Folder) -> None:
    old.plan(OLD.replace("\n", "\n\nStatus: deferred\n", 1))
    _commit(old, 30)
    assert not _stalled(old)


def test_the_setting_says_how_many_days(old: Folder) -> None:
    old.write(".agent/execplan.toml", "stalled_days = 60\n")
    assert not _stalled(old)


def test_git_is_asked_once_for_all_plans(old: Folder) -> None:
    for at in range(20):
        old.plan(OLD, name=f"2026-01-01_plan-{at}")
    _commit(old, 30)
    traced = old.run("status", "-v")
    assert traced.out.count("(stalled)") == 21
    assert traced.err.count("run git ") <= 2


def test_next_reports_the_last_commit_of_a_plan_without_dates(repo: Folder) -> None:
    undated = CLEAN.replace("(2025-12-30 09:15Z) ", "").replace("2025-12-30 / Ann", "Ann")
    for name in ("2026-01-01_a", "2026-01-01_b"):
        _touch(repo.plan(undated, name), 0)
    _commit(repo, 30)

    def changes() -> list[str]:
        return [plan["changed"] for plan in repo.run("next", "--json").json["error"]["candidates"]]

    committed = changes()
    assert len(set(committed)) == 1
    repo.plan(undated.replace("Read lines.", "Read all lines."), "2026-01-01_b")
    _touch(repo.path / ".agent/execplans/2026-01-01_b.md", 1)
    first, second = changes()
    assert first == committed[0] < second


def test_a_plan_that_came_with_a_merge_commit_is_not_stalled(repo: Folder) -> None:
    _commit(repo, 40)
    repo.git("checkout", "-qb", "other")
    repo.write("one.txt", "1")
    _commit(repo, 39)
    repo.git("checkout", "-q", "-")
    repo.write("two.txt", "2")
    _commit(repo, 39)
    repo.git("merge", "-q", "--no-commit", "other")
    _touch(repo.plan(OLD), 0)
    _commit(repo, 1)
    assert not _stalled(repo)
