"""Lint's cache over series of changes, and under the command."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import Folder
from tests.linter.checking.lint_project import BAD, PLANS, UNSTAMPED, LintProject, make_lint_project
from tests.plans import CLEAN

STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["write", "write", "swap", "touch", "back", "rename", "delete", "archive", "clock", "tree", "link", "part"]
        ),
        st.integers(0, 3),
        st.integers(0, 5),
    ),
    min_size=2,
    max_size=9,
)


CONTENTS = [
    CLEAN,
    UNSTAMPED,
    BAD,
    f"{CLEAN}\ndue 1010\n",
    f"{CLEAN}\nnames src1\n\nnames src2\n",
    f"{CLEAN}\ndue 1020\n\nnames src2\n",
]


def step(project: LintProject, operation: str, which: int, variant: int) -> None:
    """Do one thing to a home."""
    folder = project.path / PLANS
    path, other = folder / f"{which}.md", folder / f"{(which + 1 + variant % 3) % 4}.md"
    if operation == "write":
        if path.is_symlink() and not path.exists():
            path.unlink()  # a link that leads nowhere, or in a circle
        project.write(path.name, CONTENTS[variant])
    elif operation == "swap":
        project.write("new", CONTENTS[variant]).replace(path)
    elif operation == "clock":
        project.minute = 1000 + 5 * variant
    elif operation == "tree":
        directory = project.path / f"src{which % 2 + 1}"
        directory.rmdir() if directory.exists() else directory.mkdir()
    elif operation == "part":
        project.lint(PLANS)
    elif path.exists():
        _change(project, operation, path, other, CONTENTS[variant])


def _change(project: LintProject, operation: str, path: Path, other: Path, content: str) -> None:
    status = path.stat()
    if operation == "touch":
        os.utime(path)
    elif operation == "back":
        project.write(path.name, content)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    elif operation == "rename":
        path.rename(other)
    elif operation == "delete":
        path.unlink()
    elif operation == "archive":
        (path.parent / "archive").mkdir(exist_ok=True)
        path.rename(path.parent / "archive" / path.name)
    else:
        path.unlink()
        path.symlink_to(other.name)


@pytest.mark.parametrize("old", [True, False])
@settings(max_examples=25)
@given(steps=STEPS)
def test_whatever_happens(old: bool, steps: list[tuple[str, int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as monkeypatch:
        project = make_lint_project(Path(folder).resolve() / "home", monkeypatch, old=old)
        for arguments in (("write", 0, 0), ("write", 1, 4), ("write", 2, 3), *steps):
            step(project, *arguments)
            project.lint_consistently()
        os.chdir("/")


def plans(repo: Folder) -> None:
    """Twelve plans, of which three have something found."""
    for at in range(12):
        repo.plan([CLEAN, CLEAN, BAD, CLEAN][at % 4], f"2026-01-01_plan-{at:02}")


def test_the_quick_way_and_the_verb_say_the_same(repo: Folder) -> None:
    plans(repo)
    for names in ([], [".agent/execplans"], [f".agent/execplans/2026-01-01_plan-{at:02}.md" for at in range(10)]):
        results = [repo.run("lint", *names), repo.run("lint", *names), repo.run("lint", *names, "--no-cache")]
        results += [repo.run("-C", ".", "lint", *names), repo.run("lint", "--hook", *names)]
        assert len({result.out for result in results}) == 1
        assert {result.exit for result in results} == {1}
        assert {result.err for result in results} == {""}
    first, second = repo.run("lint", "--json"), repo.run("lint", "--json")
    assert first == second
    assert first.json["data"]["plans"] == 12


def test_the_command_says_what_came_from_the_cache(repo: Folder) -> None:
    plans(repo)
    assert "0 of 12 plans from the cache" in repo.run("lint", "-v").err
    assert "12 of 12 plans from the cache" in repo.run("lint", "-v").err
    assert "from the cache" not in repo.run("lint", "-v", "--no-cache").err
    assert repo.git("status", "--porcelain", "--ignored") == "?? .agent/\n"


def test_no_cache_writes_none(repo: Folder) -> None:
    plans(repo)
    repo.run("lint", "--no-cache")
    assert not (repo.path / ".git" / "execplan").exists()


def test_each_worktree_has_its_own(repo: Folder) -> None:
    plans(repo)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plans")
    repo.git("worktree", "add", "-q", "../other")
    repo.run("lint")
    other = repo.path.parent / "other"
    assert repo.run("lint", cwd=other).out == repo.run("lint").out
    assert list((repo.path / ".git" / "execplan" / "lint").iterdir())
    assert list((repo.path / ".git" / "worktrees" / "other" / "execplan" / "lint").iterdir())
    (other / ".agent" / "execplans" / "2026-01-01_plan-02.md").write_text(CLEAN)
    assert repo.run("lint", cwd=other).out != repo.run("lint").out


def test_an_empty_home(repo: Folder) -> None:
    assert repo.run("lint").out == repo.run("-C", ".", "lint").out == "no plans to check\n"
