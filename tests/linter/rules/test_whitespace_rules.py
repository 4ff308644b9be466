"""Line ends, spaces at the end of lines, and characters that nobody sees."""

from __future__ import annotations

import pytest
from hypothesis import given as given_by
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.linter.single_rule import findings, fixed_text, lines
from tests.plans import CLEAN

_PIECES = [
    "words",
    "  two",
    "- item",
    "> quote",
    "    code",
    "```",
    "~~~",
    "# Head",
    "---",
    "<!--",
    "-->",
    "a\\",
    "-",
    "1.",
    "",
    "  ",
    "***",
    "<div>",
]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_one_kind_of_end_is_fine(end: str) -> None:
    assert lines("EP005", CLEAN.replace("\n", end)) == []


def test_a_mark_is_told_and_kept() -> None:
    mark_findings = findings("EP005", "\ufeff" + CLEAN)
    assert [(finding.line, finding.fix) for finding in mark_findings] == [(1, None)]
    assert "byte order mark" in mark_findings[0].message


def test_rare_ends_become_the_common_one() -> None:
    text = "# A\n\ntext\r\nmore\n\rlast"
    assert [finding.message for finding in findings("EP005", text)] == [
        "2 lines end with CR or CRLF, the others with LF"
    ]
    assert fixed_text("EP005", text) == "# A\n\ntext\nmore\n\nlast"
    assert fixed_text("EP005", "# A\r\n\r\ntext\n") == "# A\r\n\r\ntext\r\n"
    assert fixed_text("EP005", "# A\ntext\r\n") == "# A\ntext\n"


def test_spaces_are_taken_away_and_nothing_else() -> None:
    text = "# A \n\t\none  \ntwo \nthree  \n\n    code \n     \n    more\n\n```\nx \n```\n\n<!-- a \n-->\nlast\t"
    assert lines("EP006", text) == [1, 2, 4, 5, 17, 17]
    assert fixed_text("EP006", text) == (
        "# A\n\none  \ntwo\nthree\n\n    code \n     \n    more\n\n```\nx \n```\n\n<!-- a \n-->\nlast\n"
    )


def test_columns_are_those_of_the_spaces() -> None:
    finding = findings("EP006", "# A\n\nwords \t \n")[0]
    assert (finding.line, finding.column, finding.end_line, finding.end_column) == (3, 6, 3, 8)


def test_the_last_line_ends_as_the_others_do() -> None:
    assert fixed_text("EP006", "# A\r\n\r\nwords") == "# A\r\n\r\nwords\r\n"
    assert fixed_text("EP006", "# A") == "# A\n"
    assert lines("EP006", "# A\n\nwords\n") == []


def test_a_backslash_does_not_become_a_break() -> None:
    assert lines("EP006", "# A\n\nwords\\ \nmore\n") == []


def test_front_matter_keeps_its_spaces() -> None:
    assert lines("EP006", "---\nname: a \n---\n\n# A\n") == []


def test_where_fences_are_tangled_no_space_is_judged() -> None:
    text = "# A\n\n```diff\n \n ```sh\n-a\n ```\n \n words \n```\n```\n"
    assert lines("EP006", text) == []


@given_by(st.lists(st.tuples(st.sampled_from(_PIECES), st.sampled_from(["", " ", "  ", "   "])), max_size=12))
def test_the_page_looks_the_same(spaced_pieces: list[tuple[str, str]]) -> None:
    text = "# A\n\n" + "\n".join(piece + spaces for piece, spaces in spaced_pieces) + "\n"
    renderer = MarkdownIt("commonmark")
    fixed = fixed_text("EP006", text)
    assert renderer.render(fixed) == renderer.render(text)
    assert lines("EP006", fixed) == []


@pytest.mark.parametrize(
    "words",
    [
        "سلام می\u200cخواهم",
        "क्\u200dष",
        "👩\u200d👩\u200d👧 family",
        "❤\ufe0f\u200d🔥",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f England",
        "שלום \u200eabc",
        "ภาษา\u200bไทย",
        "non\u00a0breaking and \u202f thin",
        "a\ttab",
        "한국어 \u2011 hyphen",
        "e\u0301 combined",
        "\ue0b0 private",
    ],
)
def test_what_scripts_and_emoji_need_is_fine(words: str) -> None:
    assert lines("EP009", f"# A\n\n{words}\n") == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("a\u200bb", "U+200B (zero width space) can't be seen"),
        ("a\u200db", "U+200D (zero width joiner) can't be seen"),
        ("a\u00adb", "U+00AD (soft hyphen) can't be seen"),
        ("a\ufeffb", "U+FEFF (zero width no-break space) can't be seen"),
        ("a\u2060b", "U+2060 (word joiner) can't be seen"),
        ("a\u202eb", "U+202E (right-to-left override) changes the direction of the text"),
        ("a\u200fb", "U+200F (right-to-left mark) changes the direction of the text"),
        ("שלום \u202eb", "U+202E (right-to-left override) changes the direction of the text"),
        ("a\u2028b", "U+2028 (line separator) can't be seen"),
        ("a\U000e0041\U000e0042b", "U+E0041 U+E0042 can't be seen"),
        ("a\x1b[31mb", "U+001B can't be seen"),
        ("a\x1b[31mb é", "U+001B can't be seen"),
        ("a\u2066\u202a\u202b\u202c\u202db", "U+2066 U+202A U+202B U+202C … changes the direction of the text"),
    ],
)
def test_what_is_hidden_is_shown(words: str, message: str) -> None:
    character_findings = findings("EP009", f"# A\n\n```sh\n{words}\n```\n")
    assert [(finding.line, finding.message) for finding in character_findings] == [(4, message)]
    column = next(at for at, char in enumerate(words, 1) if not char.isprintable())
    assert character_findings[0].column == column


def test_runs_on_one_line_are_told_apart() -> None:
    run_findings = findings("EP009", "# A\n\na\u200b\u200bb\u200bc\n")
    assert [(finding.column, finding.end_column) for finding in run_findings] == [(2, 3), (5, 5)]


@pytest.mark.parametrize("char", ["\u200f", "\u200b", "\U000e0041", "\u200d", "\x1b", " \n", "\t\n", "x \n", "\r\n\n"])
def test_much_of_one_character_is_no_work_without_end(char: str) -> None:
    text = "# A\n\n" + char * (100_000 // len(char.encode())) + "\n"
    for code in ("EP005", "EP006", "EP009"):
        assert len(findings(code, text)) <= 101
