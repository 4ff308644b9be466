"""Layout for people at a terminal: its size, wrapped lines, colors and bars; piped output has none of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from execplan.cli.output.terminal_text import color

_MIN_WIDTH = 20
"""Minimum width in columns, whatever the terminal's width."""
_MAX_TEXT_WIDTH = 120
"""Maximum width of prose in columns; longer lines are hard to read."""
_HANGING_INDENT = 2
_BAR_WIDTH = 24
_BAR_SIGNS = ("━", "─")
_ASCII_BAR_SIGNS = ("#", ".")
"""Signs of a bar where the terminal has another encoding than UTF-8."""
_RESET = "0"
_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36", "bold red": "1;31"}

STATE_STYLES = {
    "broken": "bold red",
    "active": "green",
    "draft": "yellow",
    "complete": "cyan",
    "archived": "dim",
    "document": "dim",
}
"""Styles of plan states, by state."""
RUN_STYLES = {
    "completed": "green",
    "recovered": "green",
    "failed": "bold red",
    "blocked": "red",
    "interrupted": "yellow",
    "paused": "yellow",
    "in progress": "yellow",
    "running": "yellow",
    "skipped": "dim",
    "pending": "dim",
    "rolled back": "dim",
    "rolled_back": "dim",
}
"""Styles of the states of runs and their steps, by state."""
RISK_STYLES = {"LOW": "green", "MEDIUM": "yellow", "HIGH": "red", "CRITICAL": "bold red"}
"""Styles of risk levels, by level."""
LEVEL_STYLES = {"error": "bold red", "warning": "yellow", "hint": "cyan"}
"""Styles of the levels of findings, by level."""

APPROVAL_STYLES = {
    "approved": "green",
    "stale": "yellow",
    "expired": "yellow",
    "altered": "bold red",
    "used": "dim",
    "revoked": "dim",
}
"""Styles of the states of approvals, by state."""
VERDICT_STYLES = {"may run": "green", "blocked": "bold red", "done": "dim"}
"""Styles of the verdicts about steps, by verdict."""
COLUMN_STYLES = {
    "state": {**RUN_STYLES, **APPROVAL_STYLES, **STATE_STYLES},
    "status": RUN_STYLES,
    "risk": RISK_STYLES,
    "level": LEVEL_STYLES,
    "verdict": VERDICT_STYLES,
}
"""Styles of the cells of tables, by the name of their column and their text."""


def is_terminal() -> bool:
    """Return whether standard output is a terminal that can show a layout."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def has_color() -> bool:
    """Return whether output may have colors."""
    return is_terminal() and "NO_COLOR" not in os.environ


def terminal_size() -> tuple[int, int]:
    """Return the number of columns and lines of the terminal."""
    from shutil import get_terminal_size

    columns, lines = get_terminal_size()
    return max(columns, _MIN_WIDTH), lines


def paint(text: str, style: str) -> str:
    """Return a text in a style if output may have colors; an empty style changes nothing."""
    return f"{color(_CODES[style])}{text}{color(_RESET)}" if text and style and has_color() else text


def paint_words(text: str, styles: Mapping[str, str]) -> str:
    """Paint the first occurrence of each word in a text, in the style of the word."""
    for word, style in styles.items():
        text = text.replace(word, paint(word, style), 1)
    return text


def fit_line(line: str, *, indent: int | None = None) -> list[str]:
    """Wrap a printable line of prose at the terminal's width; elsewhere, the line stays unchanged.

    The following lines are indented by `indent` columns, or slightly more than the first one. A word that is longer
    than a line is not broken, so that paths and links can be copied.
    """
    if not is_terminal():
        return [line]
    from execplan.cli.output.text_width import text_width

    width = min(terminal_size()[0], _MAX_TEXT_WIDTH)
    if text_width(line) <= width:
        return [line]
    own_indent = len(line) - len(line.lstrip(" "))
    hanging = " " * min(own_indent + _HANGING_INDENT if indent is None else indent, width // 2)
    lines, current = [], " " * own_indent
    for word in line[own_indent:].split(" "):
        candidate = f"{current} {word}" if current.strip() else current + word
        if text_width(candidate) > width and current.strip():
            lines.append(current.rstrip())
            current = hanging + word
        else:
            current = candidate
    return [*lines, current.rstrip()]


def fit_lines(*lines: str) -> list[str]:
    """Wrap several lines of prose at the terminal's width."""
    return [fitted_line for line in lines for fitted_line in fit_line(line)]


def bar_parts(done: int, total: int, *, width: int = _BAR_WIDTH) -> tuple[str, str]:
    """Return the done and the remaining part of a progress bar, without colors; both are empty without a total."""
    if not total:
        return "", ""
    encoding = getattr(sys.stdout, "encoding", "utf-8")  # that of the interactive board has none, and writes UTF-8
    is_utf = (encoding or "").lower().startswith("utf")
    full_sign, empty_sign = _BAR_SIGNS if is_utf else _ASCII_BAR_SIGNS
    full = width * done // total
    return full_sign * full, empty_sign * (width - full)
