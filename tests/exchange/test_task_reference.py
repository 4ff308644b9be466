"""The ID and the link of a task in another program survive the edits of its text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.exchange.task_reference import format_reference, keep_reference, split_reference, to_reference_id


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Read (id: A-1)", ("Read", "A-1", "")),
        ("Read ([#7](https://example.org/a_b))", ("Read", "#7", "https://example.org/a_b")),
        ("Read (id: 1) (id: 2)", ("Read (id: 1)", "2", "")),
        ("Read (fast)", ("Read (fast)", "", "")),
        ("Read [x](y)", ("Read [x](y)", "", "")),
        ("Read (see [the page](y))", ("Read (see [the page](y))", "", "")),
        ("Read ([the page](y))", ("Read ([the page](y))", "", "")),
        ("Read (id: a b)", ("Read (id: a b)", "", "")),
        ("Read (id: )", ("Read (id: )", "", "")),
        ("(id: 1)", ("(id: 1)", "", "")),
    ],
)
def test_a_reference_is_at_the_end(text: str, parts: tuple[str, str, str]) -> None:
    assert split_reference(text) == parts


@given(st.text(), st.text(), st.sampled_from(["", "https://example.org/1"]))
def test_what_is_written_is_read(text: str, name: str, link: str) -> None:
    text, name = " ".join(text.split()), to_reference_id(name)
    link = link if name else ""
    if name:
        assert split_reference(text + format_reference(name, link)) == (text, name, link)
        assert keep_reference(f"Old{format_reference(name, link)}", "New") == f"New{format_reference(name, link)}"


def test_a_new_reference_replaces_the_old_one() -> None:
    assert keep_reference("Old (id: 1)", "New (id: 2)") == "New (id: 2)"
    assert keep_reference("Old (fast)", "New") == "New"
