"""Bad inputs 1 to 8 and 12 to 14: what a file's bytes can be."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

import pytest

from tests.bad_inputs.assertions import (
    WRITERS,
    checked_output,
    codes,
    edit,
    expect_error,
    expect_unreadable,
    lint,
    names_in,
)
from tests.plans import CLEAN

if TYPE_CHECKING:
    from tests.conftest import Folder

pytestmark = pytest.mark.exhaustive

SHORT = "# T\n\n## Decision Log\n\n- Decision: A.\n  Rationale: B.\n  Date/Author: 2025-12-30 / Ann\n\n## Progress\n\n- [ ] One."
"""A plan that ends with its only task, and without a line end."""
MAX = 5 * 1024 * 1024


def tick(content: str) -> str:
    """What `done 2` makes of the clean plan."""
    return content.replace("- [ ] Build the parser.", "- [x] (2026-01-01 00:00Z) Build the parser.")


@pytest.mark.parametrize("head", ["", "---\nowner: Ann\n---\n"])
def test_01_byte_order_mark(plain: Folder, head: str) -> None:
    """A byte order mark stays, once, and hides neither the front matter nor the title."""
    path = plain.plan("\ufeff" + head + CLEAN)
    assert plain.ok("show")["title"] == "Build the parser"
    assert codes(plain, path) == ["EP005"]
    plain.ok("done", "2")
    assert path.read_bytes() == ("\ufeff" + head + tick(CLEAN)).encode()
    for writer in WRITERS[2:]:
        edit(plain, path, *writer)
    assert path.read_bytes().count("\ufeff".encode()) == 1
    assert path.read_bytes().startswith("\ufeff".encode())


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_02_04_crlf_and_lone_cr(plain: Folder, end: str) -> None:
    """CRLF and a lone CR end lines, those that are added too."""
    path = plain.plan(CLEAN.replace("\n", end))
    assert codes(plain, path) == []
    assert plain.ok("status")["plans"][0]["counts"] == {"open": 2, "done": 1, "other": 0, "total": 3}
    plain.ok("done", "2")
    assert path.read_bytes() == tick(CLEAN).replace("\n", end).encode()
    plain.ok("reopen", "2")
    assert path.read_bytes() == CLEAN.replace("\n", end).encode()
    for writer in WRITERS[2:]:
        assert all(line.endswith(end) for line in edit(plain, path, *writer))
    assert b"\n" not in path.read_bytes().replace(end.encode(), b"")
    section = plain.run("show", "--section", "Progress")
    assert section.exit == 0
    assert codes(plain, path) == []


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_02_04_section_is_added_with_the_ends_of_the_file(plain: Folder, end: str) -> None:
    """The lines of a section that `--create` adds end as the others do."""
    path = plain.plan(CLEAN.replace("## Outcomes & Retrospective\n\nLines can be read.\n\n", "").replace("\n", end))
    plain.ok("outcome", "Bytes can be read.", "--create")
    expected = CLEAN.replace("Lines can be read.", "Bytes can be read.").replace("\n", end)
    assert path.read_bytes() == expected.encode()


def test_03_mixed_line_ends(plain: Folder) -> None:
    """Each line keeps its end, and a new one takes that of its neighbour."""
    head, tail = CLEAN.split("## Surprises", 1)
    content = head.replace("\n", "\r\n") + "## Surprises" + tail.replace("Ann\n\n", "Ann\r\r")
    path = plain.plan(content.encode())
    assert plain.ok("show")["counts"]["total"] == 3
    plain.ok("done", "2")
    assert path.read_bytes() == tick(content).encode()
    assert edit(plain, path, "add", "Ship it.") == ["- [ ] Ship it.\r\n"]
    assert all(line.endswith("\n") and "\r" not in line for line in edit(plain, path, *WRITERS[4]))
    assert all(line.endswith("\r") for line in edit(plain, path, *WRITERS[3]))


def test_03_mixed_ends_around_a_new_line(plain: Folder) -> None:
    """A new line takes the end of the line above it."""
    path = plain.plan(b"# T\r\n\n## Progress\r\n\n- [ ] One.\n- [ ] Two.\r\n- [ ] Three.\n")
    plain.ok("add", "Four.", "--after", "2")
    assert path.read_bytes() == b"# T\r\n\n## Progress\r\n\n- [ ] One.\n- [ ] Two.\r\n- [ ] Four.\r\n- [ ] Three.\n"


@pytest.mark.parametrize("char", ["\v", "\f", "\x85", "\u2028", "\u2029", "\x1c", "\x1e"])
def test_04_other_characters_end_no_line(plain: Folder, char: str) -> None:
    """What some libraries take for a line end is a character like others: no heading, no task begins behind it."""
    content = CLEAN.replace("Read lines.", f"Read lines.{char}- [ ] Ghost{char}## Progress{char}")
    path = plain.plan(content)
    plan_data = plain.ok("show")
    assert plan_data["counts"]["total"] == 3
    assert len(plan_data["sections"]) == 12
    assert "EP105" not in codes(plain, path)
    plain.ok("done", "2")
    assert path.read_bytes() == tick(content).encode()
    edit(plain, path, "add", "Ship it.")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_05_missing_final_newline(plain: Folder, end: str) -> None:
    """A file that ends without a line end still does after an edit of its last line, or behind it."""
    content = SHORT.replace("\n", end)
    path = plain.plan(content)
    plain.ok("done", "1")
    assert path.read_bytes() == content.replace("[ ]", "[x] (2026-01-01 00:00Z)").encode()
    plain.ok("reopen", "1")
    assert path.read_bytes() == content.encode()
    plain.ok("add", "Two.")
    assert path.read_bytes() == f"{content}{end}- [ ] Two.".encode()
    plain.ok("outcome", "It works.", "--create")
    text = path.read_bytes().decode()
    assert not text.endswith(("\r", "\n"))
    assert "\n" not in text.replace(end, "")
    assert plain.ok("show")["outcomes"][0]["text"] == "It works."


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("section", "writer", "last"),
    [
        ("Decision Log", WRITERS[3], "  Date/Author: 2026-01-01 / Ann"),
        ("Surprises & Discoveries", WRITERS[4], "  Evidence: A test."),
        ("Outcomes & Retrospective", WRITERS[5], "Bytes can be read."),
    ],
)
@pytest.mark.parametrize("body", ["", "None yet.", "filled"])
def test_05_entry_at_the_very_end(
    plain: Folder, end: str, section: str, writer: tuple[str, ...], last: str, body: str
) -> None:
    """An entry goes behind a last line that has no end, and ends without one itself."""
    filled = {
        "Decision Log": "- Decision: A.\n  Rationale: B.\n  Date/Author: 2025-12-30 / Ann",
        "Surprises & Discoveries": "- Observation: A.\n  Evidence: B.",
        "Outcomes & Retrospective": "It works.",
    }
    section_body = filled[section] if body == "filled" else body
    content = f"# T\n\n## {section}" + (f"\n\n{section_body}" if section_body else "")
    content = content.replace("\n", end)
    path = plain.plan(content)
    edit(plain, path, *writer)
    data = path.read_bytes().decode()
    assert data.endswith(end + last)
    assert "\n" not in data.replace(end, "")
    if body != "None yet.":
        assert data.startswith(content + end)


@pytest.mark.parametrize(("content", "offset"), [(b"\0", 0), (CLEAN.encode() + b"\0", len(CLEAN)), (b"# T\n\0\n", 4)])
def test_06_nul_byte(plain: Folder, content: bytes, offset: int) -> None:
    """A NUL byte makes a plan unreadable; its offset is told."""
    line = content[:offset].count(b"\n") + 1
    path = plain.plan(content)
    expect_unreadable(plain, path, says=("NUL", f"offset {offset}"))
    expect_error(plain, path, "show", path.stem, says=(f".agent/execplans/{path.name}:{line}",))
    assert lint(plain, path)[0]["line"] == line


@pytest.mark.parametrize(
    "bad", [b"\xff", b"\xc3\x28", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", "é".encode("latin-1")]
)
def test_07_bad_utf8(plain: Folder, bad: bytes) -> None:
    """Bytes that are no UTF-8, surrogates and overlong forms included, make a plan unreadable; the offset is told."""
    path = plain.plan(b"# T\n\n" + bad)
    findings = lint(plain, path)
    assert [finding["code"] for finding in findings] == ["EP001"]
    assert findings[0]["line"] == 3
    for command in (("show",), ("done", "1"), ("add", "x")):
        error = expect_error(plain, path, *command, says=("offset 5", f"{path.name}:3"))
        assert "UTF-8" in error["hint"]


def test_07_bad_utf8_everywhere(plain: Folder) -> None:
    """Every verb tells of bytes that are no UTF-8."""
    path = plain.plan(CLEAN.encode() + b"caf\xe9\n")
    expect_unreadable(plain, path, says=(f"offset {len(CLEAN) + 3}", "0xe9"))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le", "utf-32"])
def test_08_utf16(plain: Folder, encoding: str) -> None:
    """UTF-16, with and without its mark, is refused with how to convert it."""
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    path = plain.plan(mark + CLEAN.encode(encoding))
    for command in (("show",), ("done", "2"), ("decide", "a", "--why", "b")):
        error = expect_error(plain, path, *command, says=("UTF-8",))
        assert "convert" in error["hint"]
    assert codes(plain, path) == ["EP001"]


def test_08_utf16_everywhere(plain: Folder) -> None:
    """Every verb tells of UTF-16."""
    expect_unreadable(plain, plain.plan(CLEAN.encode("utf-16")), says=("UTF-16",))


def test_12_large_file(plain: Folder) -> None:
    """A file of 100 MB is refused before it is read."""
    path = plain.path / ".agent" / "execplans" / "large.md"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.truncate(100_000_000)
    begin = monotonic()
    for arguments in (("show", "large"), ("done", "1"), ("new", "--from", str(path)), ("add", f"@{path}")):
        result = plain.run(*arguments)
        assert result.exit == 3, result
        assert "100,000,000" in checked_output(result)
        assert "large.md" in result.err
    listed = plain.run("list", "--json")
    assert listed.exit == 1
    assert listed.json["data"]["plans"][0]["state"] == "broken"
    linted = plain.run("lint", str(path))
    assert linted.exit == 1
    assert "EP001" in linted.out
    assert monotonic() - begin < 15
    assert path.stat().st_size == 100_000_000
    assert names_in(path) == ["large.md"]


def test_12_cap(plain: Folder) -> None:
    """The last byte that fits is read, the next is not; an edit that would go over the cap writes nothing."""
    path = plain.plan((CLEAN + "x" * (MAX - len(CLEAN))).encode())
    assert plain.ok("show")["counts"]["total"] == 3
    expect_error(plain, path, "add", "One more.", says=("5,242,880",))
    path.write_bytes(path.read_bytes() + b"x")
    expect_error(plain, path, "show", says=("5,242,881",))


def test_12_large_standard_input(plain: Folder) -> None:
    """What comes through standard input has the same cap."""
    for arguments in (("new", "--from", "-"), ("add", "-")):
        plain.plan()
        result = plain.run(*arguments, stdin=b"x" * (MAX + 1))
        assert result.exit == 3, result
        assert "5,242,880" in checked_output(result)


def test_13_one_long_line(plain: Folder) -> None:
    """One line of 50 MB is refused as a large file is."""
    path = plain.plan(b"# T " + b"x" * 50_000_000)
    begin = monotonic()
    expect_error(plain, path, "show", says=("50,000,004",))
    expect_error(plain, path, "done", "1", says=("50,000,004", path.name))
    assert codes(plain, path) == ["EP001"]
    assert monotonic() - begin < 15


@pytest.mark.parametrize("content", ["", "\n", " \t\r\n\r", "\ufeff", "\ufeff\n\n"])
def test_14_empty_file(plain: Folder, content: str) -> None:
    """A file with nothing but white space or a byte order mark is no plan."""
    path = plain.plan(content)
    expect_error(plain, path, "show", says=("empty", path.name))
    expect_error(plain, path, "done", "1", says=("empty", path.name))
    expect_error(plain, path, "outcome", "It works.", "--create", says=("empty", path.name))
    assert codes(plain, path) == ["EP001"]


def test_14_empty_file_everywhere(plain: Folder) -> None:
    """Every verb tells of an empty file, which `new --from` takes as little."""
    path = plain.plan("")
    expect_unreadable(plain, path, says=("empty",))
    expect_error(plain, path, "new", "--from", str(path), says=("empty",))
