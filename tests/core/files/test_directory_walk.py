"""Directories below another one: opened through no link, by openat2 and step by step alike."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from execplan.core.files import directory_walk

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(params=["openat2", "walk"])
def root(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    if request.param == "walk":
        monkeypatch.setattr(directory_walk, "_open_with_openat2", lambda *_: None)
    root = tmp_path / "root"
    (root / "a/b").mkdir(parents=True)
    (root / "a/link").symlink_to("b")
    (root / "a/file").write_text("")
    (tmp_path / "link").symlink_to("root")
    return tmp_path / "link"


@pytest.mark.parametrize("path", [".", "a", "a/b"])
def test_a_directory_is_opened(root: Path, path: str) -> None:
    handle = directory_walk.open_below(str(root), path)
    assert os.path.samestat(os.fstat(handle), (root / path).stat())
    os.close(handle)


@pytest.mark.parametrize(
    ("path", "failed", "number"),
    [
        ("a/link", "a/link", errno.ELOOP),
        ("a/link/x", "a/link", errno.ELOOP),
        ("a/file", "a/file", errno.ENOTDIR),
        ("a/file/x", "a/file", errno.ENOTDIR),
        ("a/x/y", "a/x", errno.ENOENT),
    ],
)
def test_the_error_names_the_directory(root: Path, path: str, failed: str, number: int) -> None:
    with pytest.raises(OSError, match=os.strerror(number)) as caught:
        directory_walk.open_below(str(root), path)
    assert caught.value.errno == number
    with pytest.raises(OSError, match=os.strerror(number)) as caught:
        directory_walk.open_stepwise(str(root), path)
    assert (caught.value.errno, caught.value.filename) == (number, failed)


def test_missing_directories_are_created(root: Path) -> None:
    created: list[str] = []
    handle = directory_walk.open_below(str(root), "a/x/y", created=created)
    assert os.path.samestat(os.fstat(handle), (root / "a/x/y").stat())
    os.close(handle)
    assert created == ["a/x", "a/x/y"]
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
        directory_walk.open_below(str(root), "a/link/z", created=created)
    assert created == ["a/x", "a/x/y"]
