"""Conflict markers: which lines are some, and texts taken apart at them."""

from __future__ import annotations

import pytest

from execplan.core.errors import ExecplanError
from execplan.core.plan import reader
from execplan.core.plan.merge.conflict_regions import remove_conflicts, split_conflicts
from execplan.core.text.text_lines import Text

MERGE = "a\n{l} HEAD\nours\n{m}\ntheirs\n{r} topic\nb\n"
DIFF3 = "a\n{l} HEAD\nours\n{b} base\nwas\n{m}\ntheirs\n{r} topic\nb\n"


def marked(text: str, size: int) -> str:
    return text.format(l="<" * size, b="|" * size, m="=" * size, r=">" * size)


@pytest.mark.parametrize("size", [7, 8, 15, 40])
@pytest.mark.parametrize("text", [MERGE, DIFF3])
def test_taken_apart(size: int, text: str) -> None:
    sides = split_conflicts(marked(text, size).encode())
    assert sides.base == (b"a\nwas\nb\n" if text is DIFF3 else None)
    assert (sides.ours, sides.theirs) == (b"a\nours\nb\n", b"a\ntheirs\nb\n")
    assert (sides.labels, sides.conflict_count) == (("HEAD", "topic"), 1)


def test_a_base_only_where_every_conflict_shows_it() -> None:
    sides = split_conflicts((marked(MERGE, 7) + marked(DIFF3, 7)).encode())
    assert (sides.base, sides.conflict_count) == (None, 2)


def test_ends_and_mark_are_kept() -> None:
    text = "\ufeff" + marked(DIFF3, 7).replace("\n", "\r\n").removesuffix("\r\n")
    assert split_conflicts(text.encode())[:3] == tuple(
        ("\ufeffa\r\n" + side_text + "\r\nb").encode() for side_text in ("was", "ours", "theirs")
    )


def test_nothing_to_take_apart() -> None:
    text = b"# T\n\nTitle\n=======\n\n>>>>>>>> quote\n"
    assert split_conflicts(text) == (None, text, text, ("", ""), 0)


def test_longer_markers_inside_are_text() -> None:
    inner = marked(MERGE, 9)
    text = f"<<<<<<< A\nours\n||||||| base\n{inner}=======\ntheirs\n>>>>>>> B\n"
    sides = split_conflicts(text.encode())
    assert sides[:3] == (inner.encode(), b"ours\n", b"theirs\n")
    assert remove_conflicts(Text.from_str(text)).lines == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("<<<<<<< a\nb\n", 1),
        ("<<<<<<< a\n=======\nb\n", 1),
        ("<<<<<<< a\n<<<<<<< b\n=======\n>>>>>>> c\n", 2),
        ("<<<<<<< a\n>>>>>>> c\n", 2),
        ("<<<<<<< a\nTitle\n=======\n=======\n>>>>>>> c\n", 4),
        ("a\n=======\nb\n>>>>>>> c\n", 2),
        (marked(MERGE, 7) + ">>>>>>> c\n", 8),
    ],
)
def test_markers_that_do_not_nest_are_refused(text: str, line: int) -> None:
    with pytest.raises(ExecplanError) as caught:
        split_conflicts(text.encode())
    assert (caught.value.code, caught.value.exit, caught.value.line) == ("bad-markers", 3, line)


def test_a_base_whose_markers_do_not_nest_is_taken_as_it_is() -> None:
    assert remove_conflicts(Text.from_str("<<<<<<< a\nb\n")).lines == ["<<<<<<< a", "b"]


@pytest.mark.parametrize("size", [8, 12])
@pytest.mark.parametrize("text", [MERGE, DIFF3])
def test_longer_markers_are_read(size: int, text: str) -> None:
    plan = reader.read(f"# T\n\n## Progress\n\n{marked(text, size)}- [ ] A.\n".encode())
    assert len(plan.conflict_lines) == text.count("{")
    assert [task.text for task in plan.tasks] == ["A."]


@pytest.mark.parametrize(
    "text",
    [
        "Title\n=======\n",
        "Title\n==========\n",
        ">>>>>>> quote\n",
        ">>>>>>>>>> quote\n",
        "Title\n==========\n\n>>>>>>>>>> quote\n",
        "<<<<<<<<<<\n",
        "<<<<<<<< a\n\nTitle\n=======\n\n>>>>>>>>> b\n",
        "<<<<<<< no" .replace(" ", "-") + "\n",
        "||||||| a | table |\n",
        "    <<<<<<< indented\n",
        ">>>>>>>> b\n========\n<<<<<<<< a\n",
    ],
)  # fmt: skip
def test_other_lines_are_no_markers(text: str) -> None:
    assert reader.read(f"# T\n\n{text}".encode()).conflict_lines == []


def test_markers_of_two_sizes() -> None:
    inner = marked(MERGE, 9)
    lines = f"# T\n<<<<<<< a\nx\n||||||| base\n{inner}=======\ny\n>>>>>>> b\n".splitlines()
    assert reader.find_conflict_markers(lines) == [1, 3, 5, 7, 9, 11, 13]
