"""Cache files: what is written is read back, and anything else counts as no cache."""

from __future__ import annotations

import os
from pathlib import Path
from time import time_ns
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.files.marshal_cache import read_cache, write_cache

HEADER = b"a cache 1\n"
VALUES = st.recursive(
    st.none() | st.integers() | st.text() | st.binary(),
    lambda children: st.lists(children).map(tuple) | st.dictionaries(st.text(), children),
    max_leaves=8,
)


@given(value=VALUES)
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    path = str(tmp_path_factory.mktemp("cache") / "new" / "cache")
    assert write_cache(path, HEADER, time_ns(), lambda start: value)
    assert read_cache(path, HEADER) == value


@given(position=st.integers(0, 200), replacement=st.binary(max_size=3))
def test_a_changed_file_is_no_cache(
    tmp_path_factory: pytest.TempPathFactory, position: int, replacement: bytes
) -> None:
    path = tmp_path_factory.mktemp("cache") / "cache"
    value = {"a": (1, "text", b"bytes")}
    write_cache(str(path), HEADER, time_ns(), lambda start: value)
    data = path.read_bytes()
    changed = data[:position] + replacement + data[position + len(replacement) + 1 :]
    path.write_bytes(changed)
    assert read_cache(str(path), HEADER) == (value if changed == data else None)


def test_another_header_is_no_cache(tmp_path: Path) -> None:
    path = str(tmp_path / "cache")
    write_cache(path, HEADER, time_ns(), lambda start: 1)
    assert read_cache(path, b"a cache 2\n") is None
    assert read_cache(str(tmp_path / "missing"), HEADER) is None


def test_neither_a_link_nor_a_pipe_is_a_cache(tmp_path: Path) -> None:
    path = str(tmp_path / "cache")
    write_cache(path, HEADER, time_ns(), lambda start: 1)
    os.symlink(path, tmp_path / "link")
    os.mkfifo(tmp_path / "pipe")
    assert read_cache(str(tmp_path / "link"), HEADER) is None
    assert read_cache(str(tmp_path / "pipe"), HEADER) is None


def test_a_directory_that_can_t_be_made_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not write_cache(str(tmp_path / "file" / "cache"), HEADER, time_ns(), lambda start: 1)


def test_the_start_is_that_of_the_file_system(tmp_path: Path) -> None:
    starts: list[int] = []
    started = time_ns()
    write_cache(str(tmp_path / "cache"), HEADER, started, starts.append)
    assert starts[0] <= started
