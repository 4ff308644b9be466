"""What a plan holds can't do anything to the terminal that it is shown in."""

from __future__ import annotations

import sys

import pytest

from execplan.cli.answer import shown_lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\tlines\nof text\r\n", "two\tlines\nof text\r\n"),
        ("\x1b[1;31mred\x1b[0m and \x1b[mplain", "\x1b[1;31mred\x1b[0m and \x1b[mplain"),
        ("\x1b[2Jgone", r"\x1b[2Jgone"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x1b]8;;m", r"\x1b]8;;m"),
        ("\x1b[31\x1b[32m", "\\x1b[31\x1b[32m"),
        ("bell \x07, \x9b31m, \u202e", r"bell \x07, \x9b31m, \u202e"),
        ("at its end \x1b", r"at its end \x1b"),
    ],
)
def test_a_terminal_is_told_of_colours_only(text: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert shown_lines(text) == shown


def test_elsewhere_it_stays_as_it_is() -> None:
    assert shown_lines("\x1b[2J\x07") == "\x1b[2J\x07"
