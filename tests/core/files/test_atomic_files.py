"""Locks and files that the operating system refuses, and replacements that leave the old or the new bytes."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

import pytest

from execplan.core.errors import ENVIRONMENT, ExecplanError
from execplan.core.files.atomic_files import create, replace, replace_if_unchanged, temp_file_name
from execplan.core.files.file_lock import FileLock
from execplan.core.text.text_lines import digest
from execplan.execution.engine.journal.journal import append

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ENOSPC])
def test_lock_that_may_not_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """A git folder that is read-only, as sandboxes of agents have it, is no bug."""

    def refuse(*arguments: object, **kwargs: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(ExecplanError) as caught, FileLock(str(tmp_path / "project.lock"), "new of x"):
        pass
    assert caught.value.exit == ENVIRONMENT
    assert "project.lock" in caught.value.message


def test_a_leftover_of_a_killed_create_is_no_other_link(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    assert create(str(path), b"one\n")
    os.link(path, tmp_path / f".execplan-{digest(b'a.md')[:16]}.tmp")
    assert replace_if_unchanged(str(path), b"one\n", b"two\n") is False
    assert list(tmp_path.iterdir()) == [path]
    os.link(path, tmp_path / "b.md")
    assert replace_if_unchanged(str(path), b"two\n", b"three\n") is True


@pytest.mark.parametrize("durable", [True, False])
@pytest.mark.parametrize("is_locked", [True, False])
def test_a_file_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, durable: bool, is_locked: bool) -> None:
    synced: list[bool] = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(stat.S_ISDIR(os.fstat(handle).st_mode)))
    path, other = tmp_path / "a.md", tmp_path / "b.md"
    other.write_bytes(b"one\n")
    path.symlink_to(other)
    (tmp_path / temp_file_name("a.md")).write_bytes(b"left by a killed writer")
    replace(str(path), b"two\n", mode=0o600, durable=durable, is_locked=is_locked)
    assert synced == ([False, True] if durable else [])
    assert (path.read_bytes(), stat.S_IMODE(path.lstat().st_mode), other.read_bytes()) == (b"two\n", 0o600, b"one\n")
    assert (tmp_path / temp_file_name("a.md")).exists() is not is_locked


def test_a_replacement_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **kwargs: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    path = tmp_path / "a.md"
    path.write_bytes(b"one\n")
    for call in ("write", "fsync", "rename"):
        with monkeypatch.context() as failing:
            failing.setattr(os, call, refuse)
            with pytest.raises(ExecplanError) as caught:
                replace(str(path), b"two\n")
        assert caught.value.exit == ENVIRONMENT
        assert path.read_bytes() == b"one\n"
        assert list(tmp_path.iterdir()) == [path]


def test_an_append_that_fails_leaves_the_old_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "log"
    path.write_bytes(b"one\n")
    monkeypatch.setattr(os, "fsync", refuse)
    handle = os.open(path, os.O_WRONLY | os.O_APPEND)
    with pytest.raises(OSError, match="space"):
        append(handle, b"two\n", 4)
    os.close(handle)
    assert path.read_bytes() == b"one\n"


def test_a_file_in_place_of_a_directory_has_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"")
    with pytest.raises(ExecplanError) as caught:
        create(str(path / "directory/a.md"), b"one\n", make_directories=True)
    assert (caught.value.code, caught.value.message) == ("no-such-file", f"can't make {path}: not a directory")
