"""Findings for a text in memory, with columns as an editor counts them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.linter.rule import Finding, RuleContext
from execplan.linter.runner import lint_bytes
from execplan.linter.text_check import CODE_POINTS, UTF_16, convert_columns, lint
from tests.plans import CLEAN


def _finding_at(column: int, end_column: int, line: int = 1, end_line: int = 1) -> Finding:
    return Finding("EP202", "warning", line, column, end_line, end_column, "a message")


def _utf16_columns(line: str, excerpt: str) -> tuple[int, int]:
    """The first and last column of words in a line, in UTF-16."""
    begin = line.index(excerpt)
    finding = convert_columns([_finding_at(begin + 1, begin + len(excerpt))], [line], UTF_16)[0]
    return finding.column, finding.end_column


def test_a_text_and_its_bytes_have_the_findings_of_the_file() -> None:
    bad = CLEAN.replace("(2025-12-30 09:15Z) ", "").replace("  Rationale: A task is a line.\n", "")
    expected = lint_bytes(bad.encode())
    assert [finding.code for finding in expected] == ["EP202", "EP301"]
    assert lint(bad) == lint(bad.encode()) == expected
    assert lint(CLEAN) == []


def test_what_is_told_of_the_place_and_the_rules_counts() -> None:
    assert [finding.code for finding in lint(CLEAN, RuleContext(is_archived=True))] == ["EP502"]
    assert lint(CLEAN, RuleContext(is_archived=True), {"EP202": "error"}) == []


def test_an_archived_plan_lacks_nothing_that_only_carrying_it_out_needs() -> None:
    """Nobody may add it there, so only what is wrong with the record itself is a finding."""
    text = CLEAN.replace("- [ ]", "- [x] (2026-01-01 00:00Z)").replace("`make test` passes.", "Run:\n\n    make test")
    text = text.replace("- [x] (2025-12-30 09:15Z)", "- [x]")
    assert {"EP202", "EP405"} <= {finding.code for finding in lint(text)}
    for context in RuleContext(is_archived=True), RuleContext(is_superseded=True):
        assert {finding.code for finding in lint(text, context)} == {"EP202"}


@pytest.mark.parametrize("text", ["", " \n", "a\0b", "\ud800", b"\xff\xfea", b"\x80", b"x" * (5 * 1024 * 1024 + 1)])
def test_what_cannot_be_read_is_a_finding(text: str | bytes) -> None:
    for columns in (CODE_POINTS, UTF_16):
        assert [finding.code for finding in lint(text, columns=columns)] == ["EP001"]


@pytest.mark.parametrize(
    ("line", "words", "columns"),
    [
        ("- [x] Read lines.", "Read", (7, 10)),
        ("- [x] 日本 Read", "Read", (10, 13)),
        ("- [x] e\u0301 Read", "Read", (10, 13)),
        ("\t\tRead", "Read", (3, 6)),
        ("😀 Read", "Read", (4, 7)),
        ("😀 Re😀d 😀", "Re😀d", (4, 8)),
        ("a😀b", "😀", (2, 3)),
    ],
)
def test_columns_in_utf_16(line: str, words: str, columns: tuple[int, int]) -> None:
    assert _utf16_columns(line, words) == columns


def test_the_end_of_a_place_is_counted_in_its_own_line() -> None:
    finding = convert_columns([_finding_at(1, 2, line=1, end_line=2)], ["😀😀", "x😀"], UTF_16)[0]
    assert (finding.column, finding.end_column) == (1, 3)


def test_a_place_behind_the_end_of_a_line_or_of_the_text() -> None:
    assert convert_columns([_finding_at(3, 5)], ["😀"], UTF_16)[0][3:6] == (4, 1, 6)
    assert convert_columns([_finding_at(2, 3, line=7, end_line=7)], [], UTF_16)[0][2:6] == (7, 2, 7, 3)


@given(st.text(min_size=1), st.data())
def test_columns_in_utf_16_are_places_in_the_encoded_line(line: str, data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(line) - 1))
    end = data.draw(st.integers(begin + 1, len(line)))
    finding = convert_columns([_finding_at(begin + 1, end)], [line], UTF_16)[0]
    encoded = line.encode("utf-16-le", "surrogatepass")
    assert encoded[2 * (finding.column - 1) : 2 * finding.end_column] == line[begin:end].encode(
        "utf-16-le", "surrogatepass"
    )


def test_a_byte_order_mark_is_in_no_column() -> None:
    text = "## 😀 Progress\n\n- [x] A\n"
    for columns in (CODE_POINTS, UTF_16):
        marked = [finding for finding in lint("\ufeff" + text, columns=columns) if finding.code != "EP005"]
        assert marked == lint(text, columns=columns)
    assert lint("😀\n")[0].end_column == 1
    assert lint("😀\n", columns=UTF_16)[0].end_column == 2


def test_a_way_of_counting_that_is_none() -> None:
    with pytest.raises(ValueError, match="utf-16"):
        lint(CLEAN, columns="utf-8")
