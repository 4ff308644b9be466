"""Results of tickets: only valid fields come in, whatever a worker returns."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.execution.engine.commands.command_result import CommandResult
from execplan.execution.engine.executors.ticket import OUTPUT, STDOUT, TAIL, TicketResult, pack_result, unpack_result
from execplan.execution.engine.workspace.file_archive import FileArchive, pack_archive, unpack_archive

ENDED = CommandResult(0, None, "", "", 1.5, 0.5, 10, b"out\n", sha256(b"out\n").hexdigest(), is_complete=True)
RESULT = TicketResult(
    ENDED, "bwrap", [(0, b"out\n"), (1, b"err\n")], 0, ["exit 0"], has_outputs=True, files=FileArchive({}, [], {}, {})
)
ENTRY = {"path": "a", "kind": "file", "mode": 0o644, "sha256": sha256(b"x").hexdigest()}


def packed() -> bytes:
    return pack_result("t", RESULT, [ENTRY], lambda path: b"x")


def test_a_result_comes_back() -> None:
    result = unpack_result(packed(), "t")
    assert result._replace(files=RESULT.files) == RESULT
    assert (result.files.entries, result.files.contents) == ([ENTRY], {0: b"x"})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("exit", -1), ("exit", 256), ("exit", True), ("exit", "0"), ("signal", 0), ("signal", 1000), ("cause", "drift"),
        ("cause", []), ("reason", None), ("seconds", -1), ("seconds", float("nan")), ("seconds", float("inf")),
        ("seconds", 1 << 60), ("peak_memory_bytes", 1.5), ("stdout_sha256", "x"), ("stdout_sha256", "0" * 64),
        ("is_complete", 1), ("more", 1),
    ],
)  # fmt: skip
def test_invalid_fields(field: str, value: Any) -> None:
    archive = unpack_archive(packed())
    archive.header["ended"][field] = value
    with pytest.raises(ValueError, match=r".*"):
        unpack_result(pack_archive(archive.header, [ENTRY], lambda path: b"x", archive.attachments), "t")


@pytest.mark.parametrize(
    "field", ["ticket", "schema", "ended", "output", "notes", "left_out", "sandbox", "has_outputs"]
)
def test_missing_fields(field: str) -> None:
    archive = unpack_archive(packed())
    del archive.header[field]
    with pytest.raises(ValueError, match=r".*"):
        unpack_result(pack_archive(archive.header, [ENTRY], lambda path: b"x", archive.attachments), "t")


@pytest.mark.parametrize("name", [OUTPUT, STDOUT, TAIL])
def test_missing_attachments(name: str) -> None:
    archive = unpack_archive(packed())
    del archive.attachments[name]
    with pytest.raises(ValueError, match=r".*"):
        unpack_result(pack_archive(archive.header, [ENTRY], lambda path: b"x", archive.attachments), "t")


def test_long_texts_are_cut() -> None:
    result = RESULT._replace(ended=ENDED._replace(reason="x" * 9999), notes=["y" * 9999] * 99)
    unpacked = unpack_result(pack_result("t", result, [], lambda path: b""), "t")
    assert len(unpacked.ended.reason) == 2000
    assert [len(note) for note in unpacked.notes] == [2000] * 20


@given(st.integers(0, 3000), st.binary(min_size=1, max_size=8))
def test_altered_bytes_are_an_error_or_a_valid_result(at: int, data: bytes) -> None:
    original = packed()
    altered = original[:at] + data + original[at + len(data) :]
    try:
        result = unpack_result(altered, "t")
    except ValueError:
        return
    assert json.loads(json.dumps(result.ended._replace(stdout=b"", output_tail=b"")._asdict(), default=str))


@given(st.binary(max_size=2000))
def test_any_bytes(data: bytes) -> None:
    with pytest.raises(ValueError, match=r".*"):
        unpack_result(data, "t")
