"""The journal: whole entries only, in order, whatever a killed writer has left."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.errors import ENVIRONMENT, ExecplanError
from execplan.execution.engine.journal.journal import Journal, parse_entries, read_journal

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = st.text(max_size=20)
VALUES = st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | TEXTS, lambda inner: st.lists(inner, max_size=3))


def write_entries(path: Path, count: int) -> bytes:
    """A journal of so many entries."""
    with Journal(str(path)) as journal:
        for number in range(count):
            journal.write("intent", step=f"s{number}")
    return path.read_bytes()


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(str(path)) as journal:
        entries = [
            journal.write("begun", run="0001"),
            journal.write("result", step="ä", reason="line\nline \u2028\x85"),
        ]
    assert read_journal(str(path)) == entries
    assert [(entry.number, entry.kind) for entry in entries] == [(1, "begun"), (2, "result")]
    assert path.read_bytes().count(b"\n") == 2


def test_an_entry_is_synced_with_the_next_one_after_what_they_depend_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_ino))
    path, kept = tmp_path / "journal.jsonl", tmp_path / "kept"
    kept.write_text("x")
    inodes = [kept.stat().st_ino]
    with Journal(str(path)) as journal, open(kept, "rb") as file:
        synced.clear()
        inodes.append(path.stat().st_ino)
        journal.append_entry("begun", {}, durable=False)
        for _ in range(2):
            journal.unsynced.add(file.fileno())
        assert synced == []
        journal.write("intent")
        assert synced == inodes
        journal.sync()
        journal.append_entry("result", {}, durable=False)
        assert synced == inodes
        journal.sync()
        assert synced == [*inodes, inodes[1]]
        journal.append_entry("ended", {}, durable=False)
    assert synced == [*inodes, inodes[1], inodes[1]], "it is synced when the journal is closed"
    assert len(read_journal(str(path))) == 4


@given(said=st.dictionaries(st.sampled_from(("step", "reason", "changes")), VALUES))
def test_any_value_comes_back(tmp_path_factory: pytest.TempPathFactory, said: dict[str, object]) -> None:
    path = str(tmp_path_factory.mktemp("j") / "journal.jsonl")
    with Journal(path) as journal:
        entry = journal.write("result", **said)
    (read_back,) = read_journal(path)
    assert read_back == entry
    assert read_back.fields == json.loads(json.dumps(said).encode("utf-8", "backslashreplace"))


def test_a_line_that_a_killed_writer_began_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    content = write_entries(path, 3)
    last_line_start = content.rindex(b"\n", 0, -1) + 1
    for cut in range(last_line_start, len(content)):
        path.write_bytes(content[:cut])
        assert len(read_journal(str(path))) == 2
        with Journal(str(path)) as journal:
            assert len(journal.entries) == 2
            assert path.read_bytes() == content[:last_line_start]
            assert journal.write("resumed").number == 3
        assert [entry.number for entry in read_journal(str(path))] == [1, 2, 3]


@pytest.mark.parametrize(
    "line", [b"{}", b"[]", b'{"n":9,"kind":"intent","at":""}', b"\xff", b'{"n":2,"kind":3,"at":""}', b""]
)
def test_a_line_that_is_no_entry_is_refused_and_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "journal.jsonl"
    content = write_entries(path, 1) + line + b"\n"
    path.write_bytes(content)
    for work in (lambda: read_journal(str(path)), lambda: Journal(str(path))):
        with pytest.raises(ExecplanError, match=r"journal\.jsonl:2 ") as caught:
            work()
        assert (caught.value.code, caught.value.exit) == ("journal-altered", ENVIRONMENT)
    assert path.read_bytes() == content


def test_a_disk_that_is_full_leaves_the_journal_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(str(path)) as journal:
        journal.write("begun")
        before, write = path.read_bytes(), os.write

        def partial_write(handle: int, data: bytes) -> int:
            if len(data) < 8:
                raise OSError(28, "full")
            return write(handle, bytes(data)[:7])

        monkeypatch.setattr(os, "write", partial_write)
        with pytest.raises(ExecplanError, match="no space left"):
            journal.write("result", reason="x" * 100)
        monkeypatch.undo()
        assert path.read_bytes() == before
        assert journal.write("result").number == 2
    assert len(read_journal(str(path))) == 2


def test_lines_have_the_digests_that_a_ledger_compares(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    content = write_entries(path, 2)
    one, two = parse_entries(content, "j")
    assert one.line != two.line
    assert parse_entries(content.replace(b"s1", b"s2"), "j")[1].line != two.line


def test_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"")
    (tmp_path / "journal.jsonl").symlink_to("elsewhere")
    with pytest.raises(ExecplanError):
        Journal(str(tmp_path / "journal.jsonl"))


@pytest.mark.parametrize("harm", ["remove", "replace", "cut", "append"])
def test_what_was_removed_or_written_to_while_the_run_was_at_work_is_added_nothing(tmp_path: Path, harm: str) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(str(path)) as journal:
        journal.write("begun")
        if harm == "remove":
            path.unlink()
        elif harm == "replace":
            data = path.read_bytes()
            path.unlink()
            path.write_bytes(data)
        else:
            path.write_bytes(b"" if harm == "cut" else path.read_bytes() + b"{}\n")
        remaining = path.read_bytes() if path.exists() else None
        with pytest.raises(ExecplanError, match="during the run, so the run stops here") as caught:
            journal.write("result")
        assert (caught.value.code, caught.value.exit) == ("journal-altered", ENVIRONMENT)
        assert (path.read_bytes() if path.exists() else None) == remaining
