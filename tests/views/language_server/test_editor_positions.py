"""Columns in the three encodings, and texts that change as the editor's copy does, whatever their characters and line ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types as lsp

from execplan.core.text.text_lines import Text
from execplan.views.language_server.editor_positions import UTF_8, UTF_16, UTF_32, count_units, find_column
from execplan.views.language_server.open_text import OpenText

CODECS = {UTF_8: ("utf-8", 1), UTF_16: ("utf-16-le", 2), UTF_32: ("utf-32-le", 4)}
TEXTS = st.text(st.sampled_from("ab é漢🚀👍\u2028\x0c\x1c\r\n\n"), max_size=40)
"""Characters of one to four bytes, ends of lines, and what only Python takes for one."""


@given(TEXTS, st.sampled_from([*CODECS]))
def test_each_column_has_a_number_of_units_that_leads_back(line: str, encoding: str) -> None:
    codec, size = CODECS[encoding]
    for column in range(len(line) + 1):
        units = len(line[:column].encode(codec)) // size
        assert count_units(line[:column], encoding) == units
        assert find_column(line, units, encoding) == column


@pytest.mark.parametrize(("encoding", "inside"), [(UTF_16, 2), (UTF_8, 3)])
def test_units_in_a_character_are_its_start(encoding: str, inside: int) -> None:
    assert find_column("a🚀b", inside, encoding) == 1
    assert find_column("a🚀b", 100, encoding) == 3
    assert find_column("a🚀b", -1, encoding) == 0


def offset_of(text: str, position: lsp.Position) -> int:
    """Where a position is in a text, computed from the definition in the protocol."""
    line, at = 0, 0
    while line < position.line:
        at += 2 if text[at : at + 2] == "\r\n" else 1
        if text[at - 1] in "\r\n":
            line += 1
    return at + len(text[at:].encode("utf-16-le")[: 2 * position.character].decode("utf-16-le"))


def positions_of(text: str) -> list[lsp.Position]:
    """Each position in a text that is not within a line end."""
    positions, line, units, at = [], 0, 0, 0
    while True:
        positions.append(lsp.Position(line, units))
        if at >= len(text):
            return positions
        if text[at] in "\r\n":
            at += 2 if text[at : at + 2] == "\r\n" else 1
            line, units = line + 1, 0
        else:
            units += 2 if ord(text[at]) > 0xFFFF else 1
            at += 1


@given(TEXTS, st.data())
def test_a_change_of_the_editor_is_made_where_the_editor_makes_it(text: str, data: st.DataObject) -> None:
    document = OpenText(text, UTF_16)
    for _ in range(3):
        places = positions_of(document.source)
        start, end = sorted(data.draw(st.lists(st.sampled_from(range(len(places))), min_size=2, max_size=2)))
        new = data.draw(TEXTS)
        place = lsp.Range(places[start], places[end])
        before = document.source
        document = document.with_change(lsp.TextDocumentContentChangePartial(place, new))
        assert (
            document.source
            == before[: offset_of(before, places[start])] + new + before[offset_of(before, places[end]) :]
        )
        assert document.text.to_str() == document.source


@given(TEXTS, TEXTS)
def test_edits_to_another_text_make_it(before: str, after: str) -> None:
    document, wanted = OpenText(before, UTF_16), Text.from_str(after)
    text = before
    for edit in reversed(document.edits_to(wanted)):
        start, end = offset_of(before, edit.range.start), offset_of(before, edit.range.end)
        text = text[:start] + edit.new_text + text[end:]
    assert text == after


def test_edits_leave_other_lines_alone() -> None:
    document = OpenText("a\nb\nc\nd\ne\n", UTF_16)
    edits = document.edits_to(Text.from_str("a\nB\nc\nd\nE\n"))
    assert [(edit.range.start.line, edit.range.end.line, edit.new_text) for edit in edits] == [
        (1, 2, "B\n"),
        (4, 5, "E\n"),
    ]


def test_a_byte_order_mark_stays_and_counts_in_the_first_line_only() -> None:
    document = OpenText("\ufeffab\ncd", UTF_16)
    assert document.position_at(0, 1) == lsp.Position(0, 2)
    assert document.column_at(lsp.Position(0, 2)) == (0, 1)
    assert document.position_at(1, 1) == lsp.Position(1, 1)
    change = lsp.TextDocumentContentChangePartial(lsp.Range(lsp.Position(0, 1), lsp.Position(0, 2)), "X")
    assert document.with_change(change).source == "\ufeffXb\ncd"
