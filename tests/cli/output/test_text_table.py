"""Tables and cut lines on a terminal."""

from __future__ import annotations

import pytest

from execplan.cli.output.text_table import format_table
from execplan.cli.output.text_width import cut_segments, cut_to_width, text_width
from tests.cli.terminal import Terminal

WIDE = "計画を書く"
"""Five characters of two columns each."""


@pytest.mark.parametrize(
    ("text", "width"),
    [("plan", 4), (WIDE, 10), ("e\u0301", 1), ("a\u200bb", 2), ("ﬀ", 1), ("🚀 go", 5), ("\u00adx", 1), ("äöü", 3)],
)
def test_the_width_of_a_text(text: str, width: int) -> None:
    assert text_width(text) == width


@pytest.mark.parametrize(("width", "start"), [(0, ""), (1, ""), (2, "計"), (3, "計"), (10, WIDE)])
def test_a_wide_character_is_never_halved(width: int, start: str) -> None:
    assert cut_to_width(WIDE, width) == start


def test_a_cut_line_ends_with_an_ellipsis() -> None:
    line = [("read ", "green"), ("lines", "")]
    assert cut_segments(line, 10) == line
    assert cut_segments(line, 8) == [("read ", "green"), ("li…", "")]
    assert cut_segments(line, 5) == [("read…", "green")]
    assert cut_segments(line, 0) == [("", "green")]


def on_terminal(columns: int, *, wraps: bool = False) -> list[str]:
    """The lines of a table on a terminal."""

    def work() -> int:
        rows = [["parser", "active", "Read all the lines of a file"], [WIDE, "draft", "x" * 40]]
        print(format_table(("id", "state", "next"), rows, ["state"], wraps=wraps))
        return 0

    return [line for line in Terminal(work, columns=columns, env={"NO_COLOR": "1"}).end().lines if line]


def test_a_table_fits_the_terminal() -> None:
    assert on_terminal(80) == [
        "id          state   next",
        "parser      active  Read all the lines of a file",
        f"{WIDE}  draft   {'x' * 40}",
    ]
    assert on_terminal(40) == [
        "id          state   next",
        "parser      active  Read all the lines …",
        f"{WIDE}  draft   {'x' * 19}…",
    ]
    assert on_terminal(30) == ["id          next", "parser      Read all the line…", f"{WIDE}  {'x' * 17}…"]


def test_the_last_column_can_be_wrapped() -> None:
    assert on_terminal(40, wraps=True) == [
        "id          state   next",
        "parser      active  Read all the lines",
        "                    of a file",
        f"{WIDE}  draft   {'x' * 20}",
        f"                    {'x' * 20}",
    ]
