"""Blobs are read with one git process, and a missing one is no error of its own."""

from __future__ import annotations

import os

import pytest

from execplan.core.errors import ExecplanError
from execplan.core.git.blob_reader import BlobReader, read_blobs
from execplan.core.git.git_query import GitFile
from execplan.core.plan.reader import MAX_BYTES
from execplan.core.project import project_discovery
from tests.conftest import Folder

MISSING = "1" * 40


def _blob(repo: Folder, data: bytes) -> str:
    path = repo.write("data.bin", data)
    return repo.git("hash-object", "-w", os.fspath(path)).strip()


def test_contents_in_order(repo: Folder) -> None:
    contents = [b"", b"one\n", b"\0\xff" * 100, b"x" * (MAX_BYTES + 5)]
    blobs = [_blob(repo, content) for content in contents]
    with BlobReader(project_discovery.find(os.fspath(repo.path))) as reader:
        expected = [(content[:MAX_BYTES], len(content)) for content in contents]
        assert [reader.read(blob) for blob in blobs] == expected
        assert reader.read_batch([*blobs, MISSING, *blobs]) == [*expected, None, *expected]
        assert reader.read(MISSING) is None
        assert reader.read(blobs[1]) == expected[1]


def test_a_reader_without_questions_starts_no_process(repo: Folder) -> None:
    with BlobReader(project_discovery.find(os.fspath(repo.path))) as reader:
        reader.close()


def test_a_missing_file_is_an_error(repo: Folder) -> None:
    project = project_discovery.find(os.fspath(repo.path))
    with pytest.raises(ExecplanError, match=r"does not have the content of a\.md"):
        list(read_blobs(project, [GitFile("a.md", MISSING)]))
    assert list(read_blobs(project, [])) == []
