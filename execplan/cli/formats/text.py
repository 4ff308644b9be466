"""For people: under the line of each finding the line that it is about, with carets under the place."""

from __future__ import annotations

import os
import sys

from execplan.cli.door import shown
from execplan.cli.formats import concise
from execplan.cli.printing import colour
from execplan.lint.folded import fold
from execplan.lint.rule import SAFE
from execplan.lint.tally import stands_for_more
from execplan.repo.checking.reading import lines_of
from execplan.text.secrets import masked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.lint.rule import Finding
    from execplan.repo.checking.one import Checked

_WIDTH = 100
_LEAST = 40
"""Columns of a terminal; in a narrower one the lines are wrapped."""
_GUTTER = 9
_COLOURS = {"error": "31", "warning": "33", "hint": "36"}
_TAB = "    "


def render(checked: Sequence[Checked]) -> str:
    """All findings, equal ones of a plan as one; in colours where a terminal shows them and NO_COLOR is not set."""
    terminal = sys.stdout.isatty()
    width = max((os.get_terminal_size().columns or _WIDTH) if terminal else _WIDTH, _LEAST)
    is_coloured = terminal and "NO_COLOR" not in os.environ
    return "\n".join(
        [line for each in checked if each.findings for line in _plan(each, width, is_coloured=is_coloured)]
    )


def _plan(checked: Checked, width: int, *, is_coloured: bool) -> list[str]:
    """The findings of one plan."""
    lines = lines_of(checked)
    told: list[str] = []
    seen = None
    findings = fold(checked.findings)
    for at, finding in enumerate(findings):
        hue, bold, plain = (colour(_COLOURS[finding.level]), colour("1"), colour("0")) if is_coloured else ("", "", "")
        place, rest = concise.parts(checked, finding)
        told.append(f"{bold}{place}{plain} {hue}{finding.code}{plain} {rest}")
        words = masked(lines[finding.line - 1]) if finding.line <= len(lines) else ""
        note = _note(finding)
        if [(each[2:6], _note(each)) for each in findings[at + 1 : at + 2]] == [(finding[2:6], note)]:
            continue  # what is found in one place is told together
        # A finding on the title is about the whole plan, and what it says of it can't be seen there.
        if words and not words.startswith("# ") and finding[2:6] != seen and not stands_for_more(finding):
            source, carets = _excerpt(words, finding, width - _GUTTER)
            told.append(f"{finding.line:6} | {source}")
            note = f"{carets} {note}"
        told.append(f"{'':6} | {hue}{note}{plain}")
        seen = finding[2:6]
    return told


def _note(finding: Finding) -> str:
    """The level, and what the carets can't say."""
    note = finding.level
    if finding.fix is not None:
        note += f"; {'--fix' if finding.fix.kind == SAFE else '--unsafe-fixes'} mends it"
    return f"{note}; down to line {finding.end_line}" if finding.end_line > finding.line else note


def _excerpt(line: str, finding: Finding, room: int) -> tuple[str, str]:
    """A line as a terminal shows it, cut around the place where it is too long, and the carets that go under it."""
    begin = min(finding.column - 1, len(line))
    end = min(finding.end_column if finding.end_line == finding.line else len(line), len(line))
    whole = not line[:begin].strip() and not line[end:].strip()
    low, high = max(begin - room, 0), begin + 2 * room
    cells = _cells(line[low:high])
    begin, end = begin - low, max(min(end - low, len(cells)), begin - low)
    widths = [width for _, width in cells]
    first, last = 0, len(cells)
    if low or high < len(line) or sum(widths) > room:
        before, place = sum(widths[:begin]), sum(widths[begin:end])
        while first < begin and before > room // 3 and before + place > room * 3 // 4:
            before -= widths[first]
            first += 1
        used, last = 1, first
        while last < len(cells) and used + widths[last] < room:
            used += widths[last]
            last += 1
    left = "…" if low or first else ""
    right = "…" if last < len(cells) or high < len(line) else ""
    source = left + "".join([text for text, _ in cells[first:last]]) + right
    # Where all of a line is meant, as by most rules about an item, one caret says so.
    under = 1 if whole else max(sum(widths[begin : min(end, last)]), 1)
    return source, " " * (len(left) + sum(widths[first:begin])) + "^" * under


def _cells(text: str) -> list[tuple[str, int]]:
    """Each character as it is shown, and how many columns of a terminal it takes."""
    if text.isascii() and text.isprintable():
        return [(char, 1) for char in text]
    from unicodedata import combining, east_asian_width

    cells = []
    for char in text:
        if char == "\t":
            cells.append((_TAB, len(_TAB)))
        elif not char.isprintable():
            escaped = shown(char)
            cells.append((escaped, len(escaped)))
        elif combining(char) or "\ufe00" <= char <= "\ufe0f":
            cells.append((char, 0))
        else:
            cells.append((char, 2 if east_asian_width(char) in "WF" else 1))
    return cells
