"""EP308 runs by default where git can tell: the plan differs from HEAD."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import Folder
from tests.plans import CLEAN

PLAN = ".agent/execplans/2026-01-01_parser.md"
CHANGED = CLEAN.replace(
    "## Plan of Work\n\n", "## Plan of Work\n\nTake a library instead, and throw the scanner away.\n\n"
)
assert CHANGED != CLEAN


@pytest.fixture
def revised(repo: Folder) -> Folder:
    """A repository with a plan whose Plan of Work differs from HEAD."""
    repo.plan(CLEAN)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "A plan")
    path = repo.plan(CHANGED)
    mtime = os.stat(repo.path / ".git/index").st_mtime_ns + 10**9
    os.utime(path, ns=(mtime, mtime))
    return repo


def _codes(repo: Folder, *arguments: str) -> list[tuple[str, str]]:
    document = repo.run("lint", *arguments, "--json").json
    return [(finding["code"], finding["level"]) for finding in document["data"]["findings"]]


@pytest.mark.parametrize("arguments", [(), (PLAN,), ("parser",), (".agent",), ("--no-cache",), ("--hook", PLAN)])
def test_on_by_default_as_a_warning(revised: Folder, arguments: tuple[str, ...]) -> None:
    assert _codes(revised, *arguments) == [("EP308", "warning")]
    quick = revised.run("lint", *arguments)
    assert quick.exit == 0
    assert quick.out.count(" EP308 Plan of Work changed since the plan was committed") == 1


def test_a_reason_in_a_log_is_enough(revised: Folder) -> None:
    revised.ok("decide", "Take a library", "--why", "It reads all of CommonMark")
    assert ("EP308", "warning") not in _codes(revised)


def test_nothing_where_git_can_not_tell(revised: Folder, plain: Folder) -> None:
    plain.plan(CHANGED)
    assert _codes(plain) == []
    revised.git("commit", "-qam", "Changed")
    assert _codes(revised) == []
    os.rename(revised.path / ".git", revised.path.parent / "old.git")
    revised.git("init", "-q")
    assert _codes(revised) == []


def test_staged_it_is_found_too(revised: Folder) -> None:
    revised.git("add", "-A")
    assert ("EP308", "warning") in _codes(revised, "--staged", "--hook")
    assert _codes(revised) == [("EP308", "warning")]


def test_it_can_be_ignored_and_then_git_is_not_asked(revised: Folder) -> None:
    revised.write(".agent/execplan.toml", "lint = { ignore = ['EP308'] }\n")
    assert _codes(revised) == []
    traced = revised.run("lint", "-v")
    assert "run git diff" not in traced.err


def test_other_rules_of_history_stay_with_the_profile_ci(revised: Folder) -> None:
    revised.plan(CHANGED.replace("- [x]", "- [ ]"))
    assert "EP212" not in dict(_codes(revised))
    assert "EP212" in dict(_codes(revised, "--profile", "ci"))


@pytest.mark.parametrize("change", ["complete", "draft", "context", "living", "plan path"])
def test_what_may_change_freely(repo: Folder, change: str) -> None:
    before, after = CLEAN, CHANGED
    if change == "complete":
        before, after = before.replace("- [ ]", "- [x]"), after.replace("- [ ]", "- [x]")
    elif change == "draft":
        before, after = before.replace("- [x]", "- [ ]"), after.replace("- [x]", "- [ ]")
    elif change == "context":
        after = before.replace(
            "## Context and Orientation\n\n", "## Context and Orientation\n\nThere is a library now.\n\n"
        )
    elif change == "living":
        after = before.replace("- [ ] ", "- [ ] Soon: ", 1)
    else:
        before = before.replace("## Plan of Work\n\n", "## Plan of Work\n\nSee `docs/exec-plans/active/`.\n\n")
        after = before.replace("docs/exec-plans/active/", ".agent/execplans/")
    assert before != after
    repo.plan(before)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "A plan")
    repo.plan(after)
    assert "EP308" not in dict(_codes(repo))


def test_the_cache_does_not_keep_it(revised: Folder) -> None:
    for at in range(12):
        revised.plan(CLEAN, name=f"2026-01-02_plan-{at}")
    revised.git("add", ".agent/execplans/2026-01-02*")
    revised.git("commit", "-qm", "More", "--", ".agent/execplans/2026-01-02_plan-0.md")
    for path in (revised.path / ".agent/execplans").glob("*.md"):
        os.utime(path, (1, 1))
    for _ in range(2):
        assert ("EP308", "warning") in _codes(revised)
    revised.git("commit", "-qam", "All")
    for _ in range(2):
        assert "EP308" not in dict(_codes(revised))


def test_a_file_that_git_has_as_it_is_starts_no_process(repo: Folder) -> None:
    path = repo.plan(CLEAN)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "A plan")
    command = [sys.executable, "-X", "importtime", "-m", "execplan", "lint", str(path)]
    completed = subprocess.run(command, cwd=repo.path, env=repo.env, capture_output=True, check=True)
    assert b"subprocess" not in completed.stderr
    assert b"execplan.linter.checking.modified_plans" not in completed.stderr
