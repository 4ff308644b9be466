"""Contents by name in one file: the last one counts, none is there twice, and a torn end is nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.errors import ENVIRONMENT, ExecplanError
from execplan.core.files import content_file
from execplan.core.files.sync_group import SyncGroup

if TYPE_CHECKING:
    from pathlib import Path

NAMES = st.sampled_from(("plan.md", "a b", "01-ä.tree", "-"))
CONTENTS = st.none() | st.binary(max_size=40) | st.sampled_from((b"", b"\n", b"- - plan.md\n"))


@given(kept=st.lists(st.dictionaries(NAMES, CONTENTS, max_size=3), max_size=6))
def test_the_last_content_with_a_name_counts(
    tmp_path_factory: pytest.TempPathFactory, kept: list[dict[str, bytes | None]]
) -> None:
    path = str(tmp_path_factory.mktemp("kept") / "file")
    expected: dict[str, bytes | None] = {}
    for contents in kept:
        content_file.keep(path, contents)
        expected |= contents
        assert {name: content_file.read(path, name) for name in expected} == expected
    assert {name for name in content_file.list_names(path) if content_file.read(path, name) is not None} == {
        name for name, content in expected.items() if content is not None
    }


def test_no_content_is_there_twice(tmp_path: Path) -> None:
    path = tmp_path / "file"
    content_file.keep(str(path), {"a": b"x" * 9000})
    size = path.stat().st_size
    content_file.keep(str(path), {"a": b"x" * 9000})
    assert path.stat().st_size == size
    content_file.keep(str(path), {"b": b"x" * 9000})
    assert content_file.keep_again(str(path), "c", "b")
    assert content_file.keep_again(str(path), "c", "b")
    assert not content_file.keep_again(str(path), "d", "missing")
    assert path.stat().st_size < size + 200
    assert [content_file.read(str(path), name) for name in "abcd"] == [b"x" * 9000] * 3 + [None]


@pytest.mark.parametrize("left", [b"", b"\0" * 300, b"x" * 5000])
def test_what_is_torn_at_the_end_is_nothing(tmp_path: Path, left: bytes) -> None:
    path = tmp_path / "file"
    content_file.keep(str(path), {"a": b"first"})
    complete = path.read_bytes()
    content_file.keep(str(path), {"b": b"second", "a": None})
    written = path.read_bytes()
    for cut in range(len(complete), written.index(b"second") + 6):
        path.write_bytes(written[:cut] + left)
        assert content_file.read(str(path), "a") == b"first"
        content_file.keep(str(path), {"b": b"second", "a": None})
        assert (content_file.read(str(path), "b"), content_file.read(str(path), "a")) == (b"second", None)
        assert left or path.read_bytes() == written


def test_a_content_that_a_power_failure_has_taken_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "file"
    content_file.keep(str(path), {"a": b"content"})
    path.write_bytes(path.read_bytes().replace(b"content", b"\0" * 7))
    content_file.keep(str(path), {"a": b"content"})
    assert content_file.read(str(path), "a") == b"content"


def test_an_altered_content_is_refused_and_named(tmp_path: Path) -> None:
    path = tmp_path / "file"
    content_file.keep(str(path), {"a": b"content", "b": b"other"})
    path.write_bytes(path.read_bytes().replace(b"content", b"CONTENT"))
    assert content_file.read(str(path), "b") == b"other"
    with pytest.raises(ExecplanError, match=f"a in {path} was altered") as caught:
        content_file.read(str(path), "a")
    assert caught.value.exit == ENVIRONMENT


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(handle: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "file"
    content_file.keep(str(path), {"a": b"content"})
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(ExecplanError, match="can't write"):
            content_file.keep(str(path), {"b": b"more"})
    assert path.read_bytes() == before


def test_the_file_and_its_name_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_ino))
    path = tmp_path / "file"
    with SyncGroup():
        content_file.keep(str(path), {"a": b"content"})
        content_file.keep(str(path), {"b": b"more"})
    assert synced == [path.stat().st_ino, tmp_path.stat().st_ino]
    content_file.keep(str(path), {"c": b"again"})
    assert synced[2:] == [path.stat().st_ino]
