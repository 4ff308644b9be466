"""Lint output for people: each finding with its source line, and carets that mark the place."""

from __future__ import annotations

import os
import sys

from execplan.cli.error_handler import printable_line
from execplan.cli.formats import concise
from execplan.cli.output.terminal_text import color
from execplan.linter.checking.plan_check import read_lines
from execplan.linter.finding_summary import is_overflow, merge_findings
from execplan.linter.rule import SAFE
from execplan.secrets.certain_secrets import mask_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.linter.checking.plan_check import CheckedFile
    from execplan.linter.rule import Finding

_WIDTH = 100
_MIN_WIDTH = 40
"""Minimum output width in columns; a narrower terminal wraps the lines."""
_GUTTER = 9
_COLORS = {"error": "31", "warning": "33", "hint": "36"}
_TAB = "    "


def render(checked: Sequence[CheckedFile]) -> str:
    """Render all findings, with equal findings of a plan merged, in color on a terminal unless NO_COLOR is set."""
    terminal = sys.stdout.isatty()
    width = max((os.get_terminal_size().columns or _WIDTH) if terminal else _WIDTH, _MIN_WIDTH)
    is_colored = terminal and "NO_COLOR" not in os.environ
    return "\n".join(
        [
            line
            for checked_file in checked
            if checked_file.findings
            for line in _plan_lines(checked_file, width, is_colored=is_colored)
        ]
    )


def _plan_lines(checked: CheckedFile, width: int, *, is_colored: bool) -> list[str]:
    """Return the output lines for a plan's findings."""
    lines = read_lines(checked)
    output_lines: list[str] = []
    previous_span = None
    findings = merge_findings(checked.findings)
    for at, finding in enumerate(findings):
        color_code, bold, plain = (
            (color(_COLORS[finding.level]), color("1"), color("0")) if is_colored else ("", "", "")
        )
        location, message = concise.location_and_message(checked, finding)
        output_lines.append(f"{bold}{location}{plain} {color_code}{finding.code}{plain} {message}")
        line_text = mask_secrets(lines[finding.line - 1]) if finding.line <= len(lines) else ""
        note = _note(finding)
        if [(next_finding[2:6], _note(next_finding)) for next_finding in findings[at + 1 : at + 2]] == [
            (finding[2:6], note)
        ]:
            continue  # findings at the same place share one excerpt
        # A finding on the title is about the whole plan, so its line shows nothing useful.
        if line_text and not line_text.startswith("# ") and finding[2:6] != previous_span and not is_overflow(finding):
            source, carets = _excerpt(line_text, finding, width - _GUTTER)
            output_lines.append(f"{finding.line:6} | {source}")
            note = f"{carets} {note}"
        output_lines.append(f"{'':6} | {color_code}{note}{plain}")
        previous_span = finding[2:6]
    return output_lines


def _note(finding: Finding) -> str:
    """Return a finding's level, with its fix option and last line if they apply."""
    note = finding.level
    if finding.fix is not None:
        note += f"; fixable with {'--fix' if finding.fix.kind == SAFE else '--unsafe-fixes'}"
    return f"{note}; through line {finding.end_line}" if finding.end_line > finding.line else note


def _excerpt(line: str, finding: Finding, max_width: int) -> tuple[str, str]:
    """Return a line as shown on a terminal, cut around the finding if too long, and the carets for the next line."""
    begin = min(finding.column - 1, len(line))
    end = min(finding.end_column if finding.end_line == finding.line else len(line), len(line))
    is_whole_line = not line[:begin].strip() and not line[end:].strip()
    low, high = max(begin - max_width, 0), begin + 2 * max_width
    cells = _cells(line[low:high])
    begin, end = begin - low, max(min(end - low, len(cells)), begin - low)
    widths = [width for _, width in cells]
    first, last = 0, len(cells)
    if low or high < len(line) or sum(widths) > max_width:
        width_before, marked_width = sum(widths[:begin]), sum(widths[begin:end])
        while first < begin and width_before > max_width // 3 and width_before + marked_width > max_width * 3 // 4:
            width_before -= widths[first]
            first += 1
        used, last = 1, first
        while last < len(cells) and used + widths[last] < max_width:
            used += widths[last]
            last += 1
    prefix = "…" if low or first else ""
    suffix = "…" if last < len(cells) or high < len(line) else ""
    source = prefix + "".join([text for text, _ in cells[first:last]]) + suffix
    # If a finding covers its whole line, as for most rules about an item, one caret is enough.
    caret_count = 1 if is_whole_line else max(sum(widths[begin : min(end, last)]), 1)
    return source, " " * (len(prefix) + sum(widths[first:begin])) + "^" * caret_count


def _cells(text: str) -> list[tuple[str, int]]:
    """Return each character as shown on a terminal, with its width in columns."""
    if text.isascii() and text.isprintable():
        return [(char, 1) for char in text]
    from unicodedata import combining, east_asian_width

    cells = []
    for char in text:
        if char == "\t":
            cells.append((_TAB, len(_TAB)))
        elif not char.isprintable():
            escaped = printable_line(char)
            cells.append((escaped, len(escaped)))
        elif combining(char) or "\ufe00" <= char <= "\ufe0f":
            cells.append((char, 0))
        else:
            cells.append((char, 2 if east_asian_width(char) in "WF" else 1))
    return cells
