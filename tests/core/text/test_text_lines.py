"""Lines join back to the same bytes; only LF, CRLF and CR end one."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from execplan.core.text.text_lines import Edit, Text, apply_edits

PIECES = st.sampled_from(
    ["a", "b c", "\n", "\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\ufeff", ""]
)
TEXTS = st.lists(PIECES, max_size=30).map("".join)


@given(TEXTS | st.text())
def test_lines_join_back(source: str) -> None:
    data = source.encode("utf-8", "surrogatepass").decode("utf-8", "ignore").encode()
    assert Text.from_bytes(data).to_bytes() == data


@given(TEXTS)
def test_lines_are_cut_where_bytes_are(source: str) -> None:
    text = Text.from_str(source)
    bare = source.removeprefix("\ufeff")
    assert [line + end for line, end in zip(text.lines, text.ends, strict=True)] == [
        raw.decode() for raw in bare.encode().splitlines(keepends=True)
    ]
    assert text.bom == (bare != source)


@given(TEXTS, st.data())
def test_an_edit_leaves_other_lines_alone(source: str, data: st.DataObject) -> None:
    text = Text.from_str(source)
    size = len(text.lines)
    start = data.draw(st.integers(0, size))
    end = data.draw(st.integers(start, size))
    new = tuple(data.draw(st.lists(st.sampled_from(["x", "", "y z"]), max_size=3)))
    result = apply_edits(text, [Edit(start, end, new)])
    assume(result.bom or not result.lines or not result.lines[0].startswith("\ufeff"))  # it would become the mark
    assert result.lines == text.lines[:start] + list(new) + text.lines[end:]
    assert result.bom == text.bom
    reread = Text.from_bytes(result.to_bytes())
    assert (reread.lines, reread.ends) == (result.lines, result.ends) or not result.lines or not result.lines[-1]
    unchanged_count = min(start, max(len(result.ends) - 1, 0), max(size - 1, 0))
    assert result.ends[:unchanged_count] == text.ends[:unchanged_count]


@pytest.mark.parametrize(
    ("before", "edit", "after"),
    [
        ("a\r\nb\nc\n", Edit(1, 1, ("x",)), "a\r\nx\r\nb\nc\n"),
        ("a\r\nb\nc\n", Edit(2, 2, ("x",)), "a\r\nb\nx\nc\n"),
        ("a\r\nb\nc\n", Edit(1, 2, ("x", "y")), "a\r\nx\ny\r\nc\n"),
        ("a\rb", Edit(2, 2, ("x",)), "a\rb\rx"),
        ("\n\ra", Edit(1, 2, ("x", "")), "\nx\r\ra"),
        ("a", Edit(1, 1, ("x",)), "a\nx"),
        ("a\nb", Edit(1, 2, ()), "a"),
        ("", Edit(0, 0, ("x",)), "x\n"),
        ("\ufeffa\n", Edit(0, 0, ("x",)), "\ufeffx\na\n"),
    ],
)
def test_new_lines_end_as_their_neighbours_do(before: str, edit: Edit, after: str) -> None:
    assert apply_edits(Text.from_str(before), [edit]).to_str() == after


def test_overlaps_are_refused() -> None:
    text = Text.from_str("a\nb\nc\n")
    with pytest.raises(ValueError, match="overlap"):
        apply_edits(text, [Edit(0, 2, ("x",)), Edit(1, 3, ("y",))])
    with pytest.raises(ValueError, match="outside"):
        apply_edits(text, [Edit(2, 5, ("x",))])
