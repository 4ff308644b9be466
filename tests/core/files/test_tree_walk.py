"""The walk of a directory tree: what `os.walk` yields, at any depth."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from typing import TYPE_CHECKING

import pytest

from execplan.core.files.tree_walk import copy_tree, remove_tree, walk_tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Folder

DEPTH = 1200
"""More than the limit of Python's recursion; the path is still shorter than a system call takes."""


@pytest.fixture
def nested(repo: Folder) -> Iterator[Folder]:
    """A plan with nested directories in its artifacts; rm removes them, because pytest can't."""
    repo.plan()
    path = repo.path / ".agent/execplans/artifacts/2026-01-01_parser"
    path.mkdir(parents=True)
    start = os.getcwd()
    try:
        os.chdir(path)
        for _ in range(DEPTH):
            os.mkdir("d")
            os.chdir("d")
        os.chdir(start)
        yield repo
    finally:
        os.chdir(start)
        subprocess.run(["rm", "-rf", str(repo.path)], check=True)


def test_the_same_as_os_walk(tmp_path: Path) -> None:
    for name in ("a/b/c", "a/d", "e"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        (tmp_path / name / "file").write_text("")
    (tmp_path / "a" / "link").symlink_to("../e")
    (tmp_path / "gone").symlink_to("nowhere")
    assert list(walk_tree(str(tmp_path))) == list(os.walk(tmp_path))
    for walk in (walk_tree, os.walk):
        visited = []
        for directory, subdirectories, _ in walk(str(tmp_path)):
            subdirectories[:] = sorted(set(subdirectories) - {"b"})
            visited.append(os.path.relpath(directory, tmp_path))
        assert visited == [".", "a", "a/d", "e"]
    errors: list[OSError] = []
    assert list(walk_tree(str(tmp_path / "none"), errors.append)) == []
    assert [type(error) for error in errors] == [FileNotFoundError]


def test_a_copy_is_the_same_and_a_removal_follows_no_link(tmp_path: Path) -> None:
    top = tmp_path / "top"
    (top / "a/b").mkdir(parents=True)
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/file").write_text("kept")
    (top / "a/file").write_text("x")
    os.chmod(top / "a/file", 0o640)
    os.utime(top / "a", (1, 1))
    (top / "link").symlink_to("../kept")
    (top / "gone").symlink_to("nowhere")
    copies = tmp_path / "ours", tmp_path / "theirs"
    copy_tree(str(top), str(copies[0]))
    shutil.copytree(top, copies[1], symlinks=True)
    described = [
        {
            str(path.relative_to(copy)): (
                stat.S_IMODE(path.lstat().st_mode),
                path.lstat().st_mtime_ns,
                path.is_symlink(),
            )
            for path in copy.rglob("*")
        }
        for copy in copies
    ]
    assert described[0] == described[1]
    assert len(described[0]) == 5
    for copy in copies:
        remove_tree(str(copy))
        assert not copy.exists()
    assert (tmp_path / "kept/file").read_text() == "kept"
    with pytest.raises(FileNotFoundError):
        remove_tree(str(copies[0]))
    errors: list[OSError] = []
    remove_tree(str(copies[0]), errors.append)
    assert {type(error) for error in errors} == {FileNotFoundError}


def test_deep_trees_are_copied_and_removed(nested: Folder) -> None:
    artifacts = nested.path / ".agent/execplans/artifacts"
    copy_tree(str(artifacts), str(nested.path / "copy"))
    assert len([*walk_tree(str(nested.path / "copy"))]) == DEPTH + 2
    remove_tree(str(nested.path / "copy"))
    assert not (nested.path / "copy").exists()


@pytest.mark.parametrize(
    "command",
    [
        "context",
        "site --dry-run",
        "site",
        "checkpoint",
        "doctor",
        "lint",
        "show",
        "status",
        "search it",
        "archive --dry-run",
    ],
)
def test_deeply_nested_artifacts_end_no_command(nested: Folder, command: str) -> None:
    result = nested.run(*command.split())
    assert result.exit in (0, 1), result.err


def test_deeply_nested_artifacts_move_with_their_plan(nested: Folder) -> None:
    call = ("archive", "--force", "--reason", "No longer wanted.")
    for command in (
        call,
        ("undo",),
        call,
        ("restore", "parser"),
        ("rename", "parser", "Build the line parser"),
        ("undo",),
    ):
        result = nested.run(*command)
        assert result.exit == 0, (command, result.err[-500:])
