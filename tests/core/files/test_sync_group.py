"""Files that are synced together: each once, at the end, or not at all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files
from execplan.core.files.sync_group import SyncGroup, UnsyncedFiles

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The inode of everything that is synced."""
    inodes: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda handle: inodes.append(os.fstat(handle).st_ino))
    return inodes


def test_each_file_and_directory_once(tmp_path: Path, synced: list[int]) -> None:
    with SyncGroup():
        for name in ("a", "b"):
            atomic_files.create(str(tmp_path / "new" / name), b"x", make_directories=True)
            with SyncGroup():
                atomic_files.replace(str(tmp_path / "new" / name), name.encode())
        assert synced == []
    expected = [tmp_path, tmp_path / "new", tmp_path / "new/a", tmp_path / "new/b"]
    assert {path.stat().st_ino for path in expected} <= set(synced)
    assert len(synced) == len(set(synced)) == len(expected) + 2  # and the two that were replaced
    atomic_files.create(str(tmp_path / "c"), b"x")
    assert len(synced) == len(expected) + 4


def test_what_can_be_replaced_is_not_synced(tmp_path: Path, synced: list[int]) -> None:
    with SyncGroup():
        with SyncGroup(is_replaceable=True):
            atomic_files.create(str(tmp_path / "a"), b"x")
        atomic_files.create(str(tmp_path / "b"), b"x")
    assert synced == [(tmp_path / "b").stat().st_ino, tmp_path.stat().st_ino]


def test_a_file_that_is_written_while_it_is_synced_is_synced_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unsynced, sizes = UnsyncedFiles(), []
    with open(tmp_path / "a", "wb", buffering=0) as file:

        def sync_and_write(handle: int) -> None:
            sizes.append(os.fstat(handle).st_size)
            if len(sizes) == 1:
                file.write(b"more")
                unsynced.add(file.fileno())

        monkeypatch.setattr(os, "fsync", sync_and_write)
        file.write(b"x")
        unsynced.add(file.fileno())
        unsynced.add(file.fileno())
        unsynced.sync()
        unsynced.sync()
    assert sizes == [1, 5]


def test_after_a_failure_nothing_is_taken_for_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(handle: int) -> None:
        raise OSError(5, "Input/output error")

    unsynced = UnsyncedFiles()
    with open(tmp_path / "a", "wb") as file:
        unsynced.add(file.fileno())
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="Input/output"):
        unsynced.sync()
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # the system has forgotten what it could not write
    with pytest.raises(OSError, match="Input/output"):
        unsynced.sync()


def test_a_disk_that_fails_is_reported_and_nothing_stays_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(handle: int) -> None:
        raise OSError(5, "Input/output error")

    def create(*names: str) -> None:
        with SyncGroup():
            for name in names:
                atomic_files.create(str(tmp_path / name), b"x")

    handles = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    with pytest.raises(ExecplanError, match="missing"):
        create("a", "missing/a")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(ExecplanError, match="can't write"):
        create("b")
    assert not handles or len(os.listdir("/proc/self/fd")) == handles
