"""Blocks in files of others: the bytes come back, edits are noticed, damage is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.agents.integrations.managed_block import (
    MARKDOWN,
    SHELL,
    CommentStyle,
    find_block,
    insert_block,
    remove_block,
    replace_block_lines,
    replace_line_with_block,
    restore_line,
)
from execplan.core.errors import ExecplanError

LINES = ["## Plans", "", "Look into `plans`."]
FILES = st.lists(
    st.tuples(
        st.sampled_from([b"", b"a", b"\xff", b"  b ", b"# c", "é".encode()]), st.sampled_from([b"\n", b"\r\n", b"\r"])
    ),
    max_size=5,
).map(lambda lines: b"".join([line + end for line, end in lines]))
LAST = st.sampled_from([b"", b"no end"])


@given(FILES, LAST, st.sampled_from([MARKDOWN, SHELL]))
def test_the_bytes_come_back_from_the_end(lines: bytes, last: bytes, style: CommentStyle) -> None:
    data = lines + last
    new = insert_block(data, len(data), LINES, style)
    block = find_block(new, style, "x")
    assert block is not None
    assert (block.is_edited, block.lines, block.note) == (False, tuple(LINES), "")
    assert remove_block(new, block, style) == data
    assert new.endswith((b"\n", b"\r")) == (not data or data.endswith((b"\n", b"\r")))


@given(FILES, FILES, LAST)
def test_the_bytes_come_back_from_between(above: bytes, below: bytes, last: bytes) -> None:
    if above.endswith(b"\r") and below.startswith(b"\n"):
        return
    new = insert_block(above + below + last, len(above), LINES, SHELL, indent="  ")
    block = find_block(new, SHELL, "x")
    assert block is not None
    assert not block.is_edited
    assert remove_block(new, block, SHELL) == above + below + last


@given(FILES, st.sampled_from([b"More.\n", b"\nMore.\n", b"## More", b"\n\n"]))
def test_what_is_written_below_stays(data: bytes, below: bytes) -> None:
    new = insert_block(data, len(data), LINES, MARKDOWN) + below
    block = find_block(new, MARKDOWN, "x")
    assert block is not None
    if not data.endswith(b"\r"):
        assert remove_block(new, block, MARKDOWN) == data + below


def test_what_is_written_below_a_last_line_without_an_end_stays_a_line_of_its_own() -> None:
    new = insert_block(b"Mine", 4, LINES, MARKDOWN) + b"\nBelow\n"
    block = find_block(new, MARKDOWN, "x")
    assert block is not None
    assert remove_block(new, block, MARKDOWN) == b"Mine\nBelow\n"


def test_line_ends_are_those_of_the_file() -> None:
    assert b"\n" not in insert_block(b"a\r\nb\r\n", 6, LINES, MARKDOWN).replace(b"\r\n", b"")
    assert b"\r" not in insert_block(b"a\r\nb\n", 5, LINES, MARKDOWN).split(b"a\r\n")[1]


def test_a_line_gives_way_and_comes_back() -> None:
    data = b"a: 1\nrepos: []   # none\nb: 2\n"
    new = replace_line_with_block(data, 5, 23, LINES, SHELL, "instead")
    block = find_block(new, SHELL, "x")
    assert block is not None
    assert block.note == "instead"
    assert b"repos" not in new
    assert restore_line(new, block, "repos: []   # none") == data


def test_swapped_lines_leave_the_rest() -> None:
    data = insert_block(b"a\r\nb\r\n", 3, LINES, SHELL, note="made", indent="    ")
    block = find_block(data, SHELL, "x")
    assert block is not None
    new = replace_block_lines(data, block, ["one"], SHELL)
    replaced = find_block(new, SHELL, "x")
    assert replaced is not None
    assert (replaced.lines, replaced.note, replaced.indent, replaced.is_edited) == (("one",), "made", "    ", False)
    assert remove_block(new, replaced, SHELL) == b"a\r\nb\r\n"


@pytest.mark.parametrize(
    "change", [(b"Look", b"See"), (b"## Plans\n", b""), (b"begin ", b"begin 1"), (b"\n\n", b"\n \n")]
)
def test_an_edit_inside_is_noticed(change: tuple[bytes, bytes]) -> None:
    data = insert_block(b"", 0, LINES, MARKDOWN)
    assert change[0] in data
    block = find_block(data.replace(*change), MARKDOWN, "x")
    assert block is not None
    assert block.is_edited


def test_other_line_ends_are_no_edit() -> None:
    block = find_block(insert_block(b"", 0, LINES, MARKDOWN).replace(b"\n", b"\r\n"), MARKDOWN, "x")
    assert block is not None
    assert not block.is_edited


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"a\n<!-- execplan:begin 1 -->\n", 2),
        (b"a\n\n<!-- execplan:end -->\n", 3),
        (b"<!-- execplan:end -->\n<!-- execplan:begin 1 -->\n", 1),
        (b"<!-- execplan:begin 1 -->\n<!-- execplan:begin 1 -->\n<!-- execplan:end -->\n", 2),
        (b"<!-- execplan:begin 1 -->\n<!-- execplan:end -->\n<!-- execplan:begin 1 -->\n<!-- execplan:end -->\n", 3),
    ],
)
def test_damage_is_refused_with_the_line(data: bytes, line: int) -> None:
    with pytest.raises(ExecplanError) as refused:
        find_block(data, MARKDOWN, "AGENTS.md")
    assert refused.value.exit == 3
    assert refused.value.message.startswith(f"AGENTS.md:{line}: ")
