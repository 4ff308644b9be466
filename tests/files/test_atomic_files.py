"""Locks and files that the operating system refuses."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.files.atomic_files import create, replace_if_unchanged
from execplan.files.file_lock import FileLock
from execplan.text.text_lines import digest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ENOSPC])
def test_lock_that_may_not_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """A git folder that is read-only, as sandboxes of agents have it, is no bug."""

    def refuse(*arguments: object, **kwargs: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(ExecplanError) as caught, FileLock(str(tmp_path / "home.lock"), "new of x"):
        pass
    assert caught.value.exit == ENVIRONMENT
    assert "home.lock" in caught.value.message


def test_a_leftover_of_a_killed_create_is_no_other_link(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    assert create(str(path), b"one\n")
    os.link(path, tmp_path / f".execplan-{digest(b'a.md')[:16]}.tmp")
    assert replace_if_unchanged(str(path), b"one\n", b"two\n") is False
    assert list(tmp_path.iterdir()) == [path]
    os.link(path, tmp_path / "b.md")
    assert replace_if_unchanged(str(path), b"two\n", b"three\n") is True
