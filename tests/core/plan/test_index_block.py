"""The index in a Markdown file: found between its markers, and replaced without touching any other byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.errors import ExecplanError
from execplan.core.plan.index_block import find_index_block, replace_index
from execplan.core.text.text_lines import Text

ROWS = ["| Plan |", "| --- |", "| [A](a.md) |"]
BEGIN, END = "<!-- execplan:index:begin -->", "<!-- execplan:index:end -->"


def write(source: str, lines: list[str]) -> str:
    """The text with these lines as its index."""
    text = Text.from_str(source)
    return replace_index(text, find_index_block(text, "README.md"), lines).to_str()


def test_a_new_file_gets_a_title() -> None:
    result = write("", ROWS)
    assert result.startswith("# Plans\n\n<!-- execplan:index:begin (")
    assert result.endswith(f"| [A](a.md) |\n{END}\n")


def test_an_index_is_added_after_the_text() -> None:
    result = write("# Notes\n\nMine.\n", ROWS)
    assert result.startswith("# Notes\n\nMine.\n\n<!-- execplan:index:begin")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_only_the_lines_between_the_markers_change(newline: str) -> None:
    before = newline.join(["# Mine", "", BEGIN, "old", END, "", "Also mine"])
    assert write(before, ROWS) == newline.join(["# Mine", "", BEGIN, *ROWS, END, "", "Also mine"])


def test_conflict_markers_inside_of_the_index_disappear() -> None:
    conflict = f"{BEGIN}\n<<<<<<< ours\n| a |\n=======\n| b |\n>>>>>>> theirs\n{END}\n"
    assert write(conflict, ROWS) == "\n".join([BEGIN, *ROWS, END, ""])


def test_markers_in_a_code_block_are_an_example() -> None:
    example = f"# Mine\n\n```md\n{BEGIN}\n{END}\n```\n"
    assert write(example, ROWS).startswith(example)


@pytest.mark.parametrize(
    ("lines", "line", "says"),
    [
        ([BEGIN, "x"], 1, "has no end"),
        (["x", END], 2, "without a beginning"),
        ([END, BEGIN], 1, "before it begins"),
        ([BEGIN, END, "", BEGIN, END], 4, "second plan index begins"),
        ([BEGIN, "x", END, END], 4, "second plan index ends"),
    ],
)
def test_markers_that_do_not_match(lines: list[str], line: int, says: str) -> None:
    with pytest.raises(ExecplanError, match=says) as caught:
        find_index_block(Text.from_str("\n".join(lines)), "docs/README.md")
    assert caught.value.message.startswith(f"docs/README.md:{line}: ")
    assert (caught.value.code, caught.value.exit, caught.value.line) == ("damaged-block", 3, line)


_PROSE = st.text(st.characters(exclude_characters="<`~", exclude_categories=["Cs"]), max_size=40)


@given(_PROSE, _PROSE, st.lists(st.text("ab|[]() ", max_size=9), max_size=4), st.booleans())
def test_the_text_around_stays(before: str, after: str, rows: list[str], has_index: bool) -> None:
    """Whatever the text is: nothing of it is lost, and writing twice is writing once."""
    source = f"{before}\n\n{BEGIN}\nold\n{END}\n{after}" if has_index else before
    result = write(source, rows)
    if has_index:
        assert result.startswith(f"{before}\n\n{BEGIN}\n")
        assert result.endswith(f"{END}\n{after}")
    else:
        assert result.startswith(before)
    assert write(result, rows) == result
