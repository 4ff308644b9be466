"""Lint output for people: each finding with its source line, and carets that mark the place."""

from __future__ import annotations

import sys

from execplan.cli.error_handler import printable_line
from execplan.cli.output.terminal_text import color, printable_text
from execplan.core import features
from execplan.core.named_tuple import NamedTuple
from execplan.linter.checking.plan_check import read_lines
from execplan.linter.finding_summary import is_overflow, merge_findings, summarize
from execplan.linter.rule import SAFE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from execplan.linter.checking.plan_check import CheckedFile
    from execplan.linter.finding_summary import FindingReport
    from execplan.linter.rule import Finding

_WIDTH = 100
_MIN_WIDTH = 40
"""Minimum output width in columns; a narrower terminal wraps the lines."""
_GUTTER = 9
_COLORS = {"error": "31", "warning": "33", "hint": "36"}
_TAB = "    "
_NAME = "\0"
"""Place of a plan's name in a stored report; printed text contains no NUL."""


class _Layout(NamedTuple):
    """The layout of the output."""

    width: int
    is_grouped: bool
    """Whether the findings are grouped by file."""
    is_colored: bool


_PLAIN_LAYOUT = _Layout(_WIDTH, is_grouped=False, is_colored=False)
"""Layout of output that is not for a terminal."""


def render(checked: Sequence[CheckedFile]) -> str:
    """Render all findings, with equal findings of a plan merged.

    On a terminal, the findings are grouped by file below its name, wrapped, and in color unless NO_COLOR is set.
    """
    return "".join(_iter_parts(checked, lambda text: text))


def iter_printable(checked: Sequence[CheckedFile]) -> Iterator[str]:
    """Yield the parts of what `render` returns, one for each plan, with unprintable characters escaped."""
    return _iter_parts(checked, printable_text)


def _iter_parts(checked: Sequence[CheckedFile], escape: Callable[[str], str]) -> Iterator[str]:
    layout = _terminal_layout() if sys.stdout.isatty() else _PLAIN_LAYOUT
    separator = ""
    for checked_file in checked:
        if not checked_file.findings:
            continue
        name = printable_line(checked_file.display_name)
        if layout == _PLAIN_LAYOUT and checked_file.report is not None and checked_file.report.text and name.isascii():
            yield separator + checked_file.report.text.replace(_NAME, name)
        else:
            lines = _plan_lines(name, checked_file.findings, read_lines(checked_file), layout)
            yield separator + escape("\n".join(lines))
        separator = "\n\n" if layout.is_grouped else "\n"
    if layout.is_grouped:
        yield "\n"


def make_report(findings: Sequence[Finding], lines: list[str]) -> FindingReport:
    """Return the report of a plan's findings, with the text that is printed without a terminal."""
    text = "\n".join(_plan_lines(_NAME, findings, lines, _PLAIN_LAYOUT))
    is_printable = printable_text(text.replace(_NAME, "")) == text.replace(_NAME, "")
    return summarize(findings)._replace(text=text if is_printable else "")


def _terminal_layout() -> _Layout:
    """Return the layout for the terminal."""
    from execplan.cli.output.terminal_layout import has_color, is_terminal, terminal_size

    return _Layout(max(terminal_size()[0], _MIN_WIDTH), is_terminal(), has_color())


def _plan_lines(name: str, all_findings: Sequence[Finding], lines: list[str], layout: _Layout) -> list[str]:
    """Return the output lines for the findings of the plan with this printable name."""
    bold, plain = (color("1"), color("0")) if layout.is_colored else ("", "")
    output_lines = [f"{bold}{name}{plain}"] if layout.is_grouped else []
    previous_span = None
    findings = merge_findings(all_findings)
    for at, finding in enumerate(findings):
        color_code = color(_COLORS[finding.level]) if layout.is_colored else ""
        if layout.is_grouped:
            output_lines += _grouped_lines(finding, color_code, plain)
        else:
            location, message = f"{name}:{finding.line}:{finding.column}", printable_line(finding.message)
            output_lines.append(f"{bold}{location}{plain} {color_code}{finding.code}{plain} {message}")
        line_text = features.load(features.MASKING)(lines[finding.line - 1]) if finding.line <= len(lines) else ""
        note = _note(finding)
        if [(next_finding[2:6], _note(next_finding)) for next_finding in findings[at + 1 : at + 2]] == [
            (finding[2:6], note)
        ]:
            continue  # findings at the same place share one excerpt
        # A finding on the title is about the whole plan, so its line shows nothing useful.
        if line_text and not line_text.startswith("# ") and finding[2:6] != previous_span and not is_overflow(finding):
            source, carets = _excerpt(line_text, finding, layout.width - _GUTTER)
            output_lines.append(f"{finding.line:6} | {source}")
            output_lines.append(f"{'':6} | {color_code}{carets} {note}{plain}")
        else:
            output_lines.append(f"{'':6} = {color_code}{note}{plain}")
        previous_span = finding[2:6]
    return output_lines


def _grouped_lines(finding: Finding, color_code: str, plain: str) -> list[str]:
    """Return the lines with a finding's place in its file, code and message, wrapped at the terminal's width."""
    from execplan.cli.output.terminal_layout import fit_line

    place = f"  {finding.line}:{finding.column} "
    first_line, *more_lines = fit_line(f"{place}{finding.code} {printable_line(finding.message)}", indent=len(place))
    return [f"{place}{color_code}{finding.code}{plain}{first_line[len(place + finding.code) :]}", *more_lines]


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
    nearby_text = line[low:high]
    is_cut = low > 0 or high < len(line)
    begin, end = begin - low, max(min(end - low, len(nearby_text)), begin - low)
    if nearby_text.isascii() and nearby_text.isprintable():
        first, last = 0, len(nearby_text)
        if is_cut or last > max_width:
            first, last = _plain_range(begin, end, last, max_width)
        visible_text, width_before, marked_width = nearby_text[first:last], begin - first, min(end, last) - begin
    else:
        cells = _cells(nearby_text)
        widths = [width for _, width in cells]
        first, last = 0, len(cells)
        if is_cut or sum(widths) > max_width:
            first, last = _cell_range(begin, end, widths, max_width)
        visible_text = "".join([text for text, _ in cells[first:last]])
        width_before, marked_width = sum(widths[first:begin]), sum(widths[begin : min(end, last)])
    prefix = "…" if low or first else ""
    suffix = "…" if last < len(nearby_text) or high < len(line) else ""
    # If a finding covers its whole line, as for most rules about an item, one caret is enough.
    caret_count = 1 if is_whole_line else max(marked_width, 1)
    return prefix + visible_text + suffix, " " * (len(prefix) + width_before) + "^" * caret_count


def _cell_range(begin: int, end: int, widths: list[int], max_width: int) -> tuple[int, int]:
    """Return the range of a line that is too long, given its cells' widths, around the part from `begin` to `end`."""
    first, width_before, marked_width = 0, sum(widths[:begin]), sum(widths[begin:end])
    while first < begin and width_before > max_width // 3 and width_before + marked_width > max_width * 3 // 4:
        width_before -= widths[first]
        first += 1
    used, last = 1, first
    while last < len(widths) and used + widths[last] < max_width:
        used += widths[last]
        last += 1
    return first, last


def _plain_range(begin: int, end: int, length: int, max_width: int) -> tuple[int, int]:
    """Return what `_cell_range` returns for characters that are all one column wide."""
    first = max(min(begin - max_width // 3, end - max_width * 3 // 4, begin), 0)
    return first, min(first + max(max_width - 2, 0), length)


def _cells(text: str) -> list[tuple[str, int]]:
    """Return each character as shown on a terminal, with its width in columns."""
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
