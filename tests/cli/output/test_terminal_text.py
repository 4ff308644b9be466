"""What a plan holds can't do anything to the terminal, or to the log, that it is printed on."""

from __future__ import annotations

import pytest

from execplan.cli.output.terminal_text import printable_text


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("two\tlines\nof text\r\n", "two\tlines\nof text\r\n"),
        ("\x1b[1;31mred\x1b[0m and \x1b[mplain", r"\x1b[1;31mred\x1b[0m and \x1b[mplain"),
        ("\x1b[2Jgone", r"\x1b[2Jgone"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x1b]8;;m", r"\x1b]8;;m"),
        ("\x1b[31\x1b[32m", r"\x1b[31\x1b[32m"),
        ("bell \x07, \x9b31m, \u202e", r"bell \x07, \x9b31m, \u202e"),
        ("at its end \x1b", r"at its end \x1b"),
        ("over\rwritten", r"over\rwritten"),
    ],
)
def test_escapes_of_others_are_printed_as_text(text: str, printed: str) -> None:
    assert printable_text(text) == printed
