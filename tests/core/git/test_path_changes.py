"""The steps of a branch that changed some files, and how much of a file is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from execplan.core.git import path_changes
from execplan.core.git.path_changes import ContentComparison, read_steps
from execplan.core.project import project_discovery
from tests.team.staleness.dated_repository import commit, merge

if TYPE_CHECKING:
    from tests.conftest import Folder

NAMES = ("a b.md", "ä.md", "-p.md", ":(top)x.md", "*.md")


def steps_of(folder: Folder, *paths: str) -> list[tuple[str, dict[str, str]]]:
    """Subjects and kinds of changes, newest first."""
    project = project_discovery.find(str(folder.path))
    return [
        (step.subject, {path: change.kind for path, change in step.changes.items()})
        for step in read_steps(project, paths)
    ]


@pytest.mark.parametrize("max_pathspecs", [500, 0])
def test_a_merge_is_one_step(repo: Folder, monkeypatch: pytest.MonkeyPatch, max_pathspecs: int) -> None:
    """Whether git gets the paths, or lists everything."""
    monkeypatch.setattr(path_changes, "_MAX_PATHSPECS", max_pathspecs)
    repo.write("a.py", "1\n")
    repo.write("other.py", "1\n")
    commit(repo, "2025-01-01", "Add")
    repo.git("checkout", "-qb", "topic")
    repo.write("a.py", "2\n")
    commit(repo, "2025-01-02", "Change")
    repo.write("b.py", "2\n")
    commit(repo, "2025-01-03", "Add another")
    repo.git("checkout", "-q", "main")
    merge(repo, "2025-01-04", "topic", "Merge it (#1)")
    (repo.path / "b.py").unlink()
    commit(repo, "2025-01-05", "Delete")
    assert steps_of(repo, "a.py", "b.py", "missing.py") == [
        ("Delete", {"b.py": "D"}),
        ("Merge it (#1)", {"a.py": "M", "b.py": "A"}),
        ("Add", {"a.py": "A"}),
    ]
    assert steps_of(repo, "README.md") == [("First", {"README.md": "A"})]


def test_names_are_literal(repo: Folder) -> None:
    for name in NAMES:
        repo.write(name, "1\n")
    commit(repo, "2025-01-01", "Add")
    for name in NAMES:
        assert steps_of(repo, name, "two\nlines", "\0/x.py", "\r") == [("Add", {name: "A"})]


def test_before_the_first_commit(plain: Folder) -> None:
    plain.git("init", "-q")
    assert steps_of(plain, "a.py") == []


def test_only_the_oldest_commit_has_no_parent(repo: Folder) -> None:
    repo.write("a.py", "1\n")
    commit(repo, "2025-01-01", "Add")
    steps = read_steps(project_discovery.find(str(repo.path)), ["a.py", "README.md"])
    assert [(step.position, step.has_parent) for step in steps] == [(0, True), (1, False)]


@pytest.mark.parametrize(
    ("old", "new", "share"),
    [
        ("a\nb\nc\nd\n", "a\nb\nc\nd\ne\n", 0.0),
        ("a\nb\nc\nd\n", "d\nc\nb\na\n", 0.0),
        ("a\nb\nc\nd\n", "a\nb\nx\ny\n", 0.5),
        ("a\na\na\na\n", "a\n", 0.75),
        ("a\nb\nc\nd\n", "", 1.0),
        ("a\nb\n", "", 0.0),
        ("a\n\0\nb\nc\n", "", 0.0),
    ],
)
def test_share_of_lost_lines(repo: Folder, old: str, new: str, share: float) -> None:
    old_blob, new_blob = [
        repo.git("hash-object", "-w", str(repo.write(f"{at}.txt", text))).strip() for at, text in enumerate((old, new))
    ]
    with ContentComparison(project_discovery.find(str(repo.path))) as comparison:
        assert comparison.share_of_lost_lines(old_blob, new_blob, 3) == share
        assert comparison.share_of_lost_lines("0" * 40, new_blob, 3) == 0.0
