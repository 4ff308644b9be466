"""`merge --driver`, called as git calls it: whatever the files hold, both sides are in what it leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conftest import Folder, Result
from tests.core.git_merge.branches import BOTH, OURS, THEIRS, edited
from tests.plans import CLEAN

if TYPE_CHECKING:
    from pathlib import Path

PROSE = ("Scan first.", "Read first.")


def drive(
    folder: Folder, ours: str | bytes, theirs: str | bytes, *arguments: str, env: dict[str, str] | None = None
) -> Result:
    """Call the driver."""
    for name, content in (("O", CLEAN), ("A", ours), ("B", theirs)):
        folder.write(name, content)
    folder.env |= env or {}
    return folder.run("merge", "--driver", "O", "A", "B", *(arguments or ("7", "plans/a.md")))


def prose(line: str) -> str:
    """The plan with another line of prose."""
    return CLEAN.replace("Write the scanner, then the reader.", line)


def test_clean_says_merged(plain: Folder) -> None:
    result = drive(plain, edited(CLEAN, *OURS), edited(CLEAN, *THEIRS))
    assert (result.exit, result.out, result.err) == (0, "merged\n", "")
    text = (plain.path / "A").read_text()
    assert [text.count(phrase) for phrase in BOTH] == [1] * len(BOTH)
    assert sorted(path.name for path in plain.path.iterdir()) == ["A", "B", "O"]


@pytest.mark.parametrize(
    ("more", "markers"),
    [
        (("7", "p.md"), ("<" * 7 + " ours", ">" * 7 + " theirs")),
        (("7", "p.md", "%S", "%X", "%Y"), ("<" * 7 + " ours", ">" * 7 + " theirs")),
        (("7", "p.md", "", "", ""), ("<" * 7 + " ours", ">" * 7 + " theirs")),
        (("12", "p.md", "abc", "HEAD", "topic/ä b"), ("<" * 12 + " HEAD", ">" * 12 + " topic/ä b")),
        (("%L", "%P"), ("<" * 7 + " ours", ">" * 7 + " theirs")),
    ],
)
def test_size_and_labels(plain: Folder, more: tuple[str, ...], markers: tuple[str, str]) -> None:
    result = drive(plain, prose(PROSE[0]), prose(PROSE[1]), *more)
    assert (result.exit, result.out) == (1, "conflicts\n")
    lines = (plain.path / "A").read_text().splitlines()
    at = lines.index(markers[0])
    assert lines[at + 1 :: 2][:2] == list(PROSE)
    assert lines[at + 4] == markers[1]


def test_the_temporary_folder_is_empty_again(plain: Folder, tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    assert drive(plain, prose(PROSE[0]), prose(PROSE[1]), env={"TMPDIR": str(tmp_path / "t")}).exit == 1
    assert list((tmp_path / "t").iterdir()) == []


@pytest.mark.parametrize(("ours", "theirs"), [("PLAN", b"a\0b"), (b"\0", "PLAN")])
def test_a_binary_side_leaves_ours(plain: Folder, ours: str | bytes, theirs: str | bytes) -> None:
    sides = [CLEAN.encode() if isinstance(side, str) else side for side in (ours, theirs)]
    result = drive(plain, sides[0], sides[1])
    assert (result.exit, result.out) == (1, "conflicts\n")
    assert "plans/a.md: it is binary" in result.err
    assert (plain.path / "A").read_bytes() == sides[0]


@pytest.mark.parametrize("which", ["ours", "theirs"])
def test_a_side_that_is_no_text_is_merged_by_lines(plain: Folder, which: str) -> None:
    odd, even = CLEAN.encode() + b"caf\xe9\n", edited(CLEAN, *OURS).encode()
    result = drive(plain, *((odd, even) if which == "ours" else (even, odd)))
    assert (result.exit, result.out) == (1, "conflicts\n")
    assert result.err.count("\n") == 1
    assert "merged line by line instead: review the result before you stage it" in result.err
    data = (plain.path / "A").read_bytes()
    assert b"caf\xe9\n" in data
    assert b"Handle CRLF" in data


@pytest.mark.parametrize("env", [{"PATH": "/nowhere"}, {"TMPDIR": "/nowhere"}])
def test_without_git_prose_is_merged_all_the_same(plain: Folder, env: dict[str, str]) -> None:
    result = drive(plain, prose(PROSE[0]), edited(prose(PROSE[1]), *THEIRS), env=env)
    assert (result.exit, result.out) == (1, "conflicts\n")
    text = (plain.path / "A").read_text()
    assert "<<<<<<< ours\nScan first.\n=======\nRead first.\n>>>>>>> theirs\n" in text
    assert text.count("<<<<<<<") == 1
    assert "Handle tabs" in text


def test_without_git_a_side_that_is_no_text_conflicts_whole(plain: Folder) -> None:
    result = drive(plain, "ours", b"caf\xe9", env={"PATH": "/nowhere"})
    assert (result.exit, result.out) == (1, "conflicts\n")
    assert (plain.path / "A").read_bytes() == b"<<<<<<< ours\nours\n=======\ncaf\xe9\n>>>>>>> theirs\n"


def test_a_file_that_is_gone_or_read_only(plain: Folder) -> None:
    (plain.path / "C").mkdir()
    drive(plain, "a\n", "b\n")
    before = (plain.path / "A").read_bytes()
    for theirs in ("nowhere", "C"):
        result = plain.run("merge", "--driver", "O", "A", theirs, "7", "p.md")
        assert result.exit == 3
        assert result.out == ""
        assert (plain.path / "A").read_bytes() == before
    (plain.path / "A").write_bytes(b"c\n")
    (plain.path / "A").chmod(0o444)
    result = plain.run("merge", "--driver", "O", "A", "B", "7", "p.md")
    assert (result.exit, result.out) == (6, "")
    assert (plain.path / "A").read_bytes() == b"c\n"


@pytest.mark.parametrize("arguments", [[], ["O", "A", "B"], ["O", "A", "B", "7"]])
def test_called_with_too_little(plain: Folder, arguments: list[str]) -> None:
    result = plain.run("merge", "--driver", *arguments)
    assert (result.exit, result.out) == (2, "")
    assert "%O %A %B %L %P" in result.err


def test_nothing_heavy_is_imported(plain: Folder) -> None:
    drive(plain, edited(CLEAN, *OURS), edited(CLEAN, *THEIRS))
    result = drive(plain, edited(CLEAN, *OURS), edited(CLEAN, *THEIRS), env={"PYTHONPROFILEIMPORTTIME": "1"})
    names = {line.rpartition("|")[2].strip() for line in result.err.splitlines()}
    assert "execplan.core.plan.merge.plan_merge" in names
    assert names.isdisjoint({"click", "subprocess", "tempfile", "json", "git", "pathlib", "typing"})
