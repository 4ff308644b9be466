"""Looks at a tree that was looked at before: they ask git only if what it ignores may have changed."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from execplan.core.git import git_query
from execplan.execution.engine.workspace import workspace_snapshot
from tests.conftest import Folder
from tests.execution.engine.project_workspace import ProjectWorkspace, open_workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.core.project.project import Project
    from execplan.execution.engine.workspace.workspace_snapshot import WorkspaceSnapshot

PATTERNS = ("*.o", "build/", "build", "build/*", "!build/kept", "a/", "kept", "/one", "*")
NAMES = ("one", "kept", "x.o", "build", "build/kept", "build/new", "a/b/x.o", "a/b/one", "a/build/out")


class CountedWorkspace(NamedTuple):
    """A home with the number of times that git was asked what it ignores."""

    repo: Folder
    workspace: ProjectWorkspace
    queries: list[str]

    def look(self, previous: WorkspaceSnapshot | None = None) -> tuple[WorkspaceSnapshot, int]:
        """Look at the tree; return also how often git was asked."""
        before = len(self.queries)
        snapshot = self.workspace.take_snapshot(previous=previous, keep=False)
        return snapshot, len(self.queries) - before


@pytest.fixture
def counted(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> CountedWorkspace:
    """A home whose files are old enough to be known by their times."""
    monkeypatch.setattr(workspace_snapshot, "_MARGIN", -(1 << 60))
    queries: list[str] = []
    ask: Callable[[Project], dict[str, bool]] = git_query.ignored_paths

    def count(project: Project) -> dict[str, bool]:
        queries.append(project.root)
        return ask(project)

    monkeypatch.setattr(git_query, "ignored_paths", count)
    return CountedWorkspace(repo, open_workspace(repo.path), queries)


def change(repo: Folder, choice: random.Random, number: int) -> None:
    """Change a file, what git ignores, or what it tracks."""
    path = repo.path / choice.choice(NAMES)
    kind = choice.choice(("write", "write", "remove", "folder", "patterns", "exclude", "track", "untrack"))
    if kind in ("patterns", "exclude"):
        place = choice.choice((".gitignore", "a/.gitignore")) if kind == "patterns" else ".git/info/exclude"
        repo.write(place, "\n".join([*choice.sample(PATTERNS, 3), "#" * number, ""]))
    elif kind == "track" and path.is_file():
        repo.git("add", "-f", str(path))
    elif kind == "untrack":
        repo.git("rm", "-q", "--cached", "-r", "--ignore-unmatch", str(path))
    elif kind == "remove" and path.exists():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    elif kind in ("write", "folder") and all([not part.is_file() for part in path.parents]):
        if kind == "folder" and not path.exists():
            path.mkdir(parents=True)
        elif kind == "write" and not path.is_dir():
            repo.write(str(path.relative_to(repo.path)), "x" * number)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_known_from_before_is_the_same_as_what_git_says(counted: CountedWorkspace, seed: int) -> None:
    choice = random.Random(seed)
    snapshot, _ = counted.look()
    for number in range(1, 25):
        for _ in range(choice.randrange(3)):
            change(counted.repo, choice, number)
        snapshot, _ = counted.look(snapshot)
        fresh, _ = counted.look()
        assert (snapshot.states, snapshot.unseen) == (fresh.states, fresh.unseen), number


def test_git_is_asked_only_if_its_answer_may_differ(counted: CountedWorkspace) -> None:
    repo = counted.repo
    repo.write(".gitignore", "*.o\nbuild/\n")
    repo.write("one", "x")
    repo.write("x.o", "x")
    repo.write("build/out", "x")
    snapshot, asked = counted.look()
    assert asked == 1
    repo.write("one", "xx")
    repo.write("x.o", "xx")
    repo.write("build/new", "x")
    snapshot, asked = counted.look(snapshot)
    assert (asked, snapshot.states["one"].size, set(snapshot.unseen)) == (0, 2, {"x.o", "build"})
    for name in ("two", "y.o"):
        repo.write(name, "x")
        snapshot, asked = counted.look(snapshot)
        assert asked == 1, name
    shutil.rmtree(repo.path / "build")
    snapshot, asked = counted.look(snapshot)
    assert (asked, set(snapshot.unseen)) == (0, {"x.o", "y.o"})
    repo.write("build", "a file, which the pattern does not match")
    snapshot, asked = counted.look(snapshot)
    assert (asked, "build" in snapshot.states) == (1, True)


def test_rules_that_were_just_written_are_not_relied_upon(
    counted: CountedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two versions of a file may have the same times and size if one follows the other at once."""
    monkeypatch.setattr(workspace_snapshot, "_MARGIN", 1 << 60)
    snapshot, _ = counted.look()
    assert counted.look(snapshot)[1] == 1


def test_what_is_saved_is_known_again(counted: CountedWorkspace) -> None:
    counted.repo.write(".gitignore", "*.o\n")
    counted.repo.write("x.o", "x")
    path = str(counted.repo.path.parent / "tree.json")
    Path(path).write_bytes(workspace_snapshot.encode(counted.look()[0]))
    snapshot, asked = counted.look(workspace_snapshot.load_if_usable(path))
    assert (asked, set(snapshot.unseen)) == (0, {"x.o"})
    Path(path).write_text("{}")
    assert workspace_snapshot.load_if_usable(path) is None
    assert workspace_snapshot.load_if_usable(f"{path}.missing") is None


def test_the_same_tree_is_known_again(counted: CountedWorkspace) -> None:
    tree, _ = counted.look()
    assert workspace_snapshot.is_same_tree(workspace_snapshot.decode(workspace_snapshot.encode(tree), "tree"), tree)
    counted.repo.write("one", "x")
    assert not workspace_snapshot.is_same_tree(counted.look()[0], tree)
