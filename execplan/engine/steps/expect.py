"""What a command printed, compared with what it was expected to print."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_WILDCARD = "…"
_LONGEST = 60


def find_difference(expected: str, printed: str) -> str:
    """Where what was printed is not as expected, in words; nothing where it is.

    Line ends at the end count on neither side. Each `…` stands for any text, over lines too; on a line of its own, for any
    lines or none. Each part between two of them is looked for once, behind the one before, so that no text takes long.
    """
    expected, printed = expected.rstrip("\r\n"), printed.rstrip("\r\n")
    if _WILDCARD not in expected:
        return _first_difference(expected, printed, is_complete=True)
    lines = expected.split("\n")
    lines = [line for offset, line in enumerate(lines) if not (offset and line == lines[offset - 1] == _WILDCARD)]
    first, *middle, last = "\n".join(lines).split(_WILDCARD)
    lead = int(lines[0] == _WILDCARD)  # a line's end for each end at which any lines, or none, may stand
    whole_output, printed = printed, "\n" * lead + printed + "\n" * (lines[-1] == _WILDCARD)
    if not printed.startswith(first):
        return _first_difference(first, whole_output, is_complete=False)
    offset, matched_text = len(first), first
    for segment in middle:
        position = printed.find(segment, offset - _shared_newline(matched_text, segment))
        if position < 0:
            return _missing_segment(matched_text, segment, printed, offset, lead)
        offset, matched_text = position + len(segment), f"{matched_text}{_WILDCARD}{segment}"
    if len(printed) - len(last) < offset - _shared_newline(matched_text, last) or not printed.endswith(last):
        return _missing_segment(matched_text, last, printed, offset, lead, end=True)
    return ""


def find_missing_line(expected: str, printed: Sequence[str]) -> str:
    """The first line of what prose says is printed that is in none of these texts, or nothing.

    More may be printed before and after it, on its line too, and white space counts only as such: who writes prose leaves
    out what does not matter.
    """
    printed_lines = [f" {' '.join(line.split())} " for text in printed for line in text.splitlines()]
    for line in expected.split("\n"):
        expected_line = " ".join(line.split())
        if expected_line != _WILDCARD and not any([f" {expected_line} " in printed_line for printed_line in printed_lines]):
            return expected_line
    return ""


def _shared_newline(matched_text: str, segment: str) -> int:
    """The line's end that both sides of a `…` on a line of its own may share."""
    return int(matched_text.endswith("\n") and segment.startswith("\n"))


def _first_difference(expected: str, printed: str, *, is_complete: bool) -> str:
    """The first line that differs."""
    expected_lines, lines = expected.split("\n"), printed.split("\n")
    for number, want in enumerate(expected_lines):
        is_part = not is_complete and number == len(expected_lines) - 1
        if number == len(lines):
            return f"it ends behind line {number}, and {_short(want)} should follow"
        have = lines[number][: len(want)] if is_part else lines[number]
        if have != want:
            return f"line {number + 1} is {_short(lines[number])}, not {_short(want)}{_WILDCARD if is_part else ''}"
    if is_complete and len(lines) > len(expected_lines):
        return f"line {len(expected_lines) + 1} is {_short(lines[len(expected_lines)])}, where nothing should follow"
    return ""


def _missing_segment(matched_text: str, segment: str, printed: str, offset: int, lead: int, *, end: bool = False) -> str:
    """That a part between two `…` does not come, by the line of what is expected and that of what was printed."""
    want = next((line for line in segment.split("\n") if line), segment)
    number = (matched_text + _WILDCARD + segment).count("\n", 0, len(matched_text)) + 1 + segment[: segment.find(want)].count("\n")
    printed_line_number = max(printed.count("\n", 0, offset) + 1 - lead, 1)
    message = f"{_short(want)}, line {number} of what is expected,"
    return f"{message} {'does not end it' if end else f'does not come in line {printed_line_number} or below'}"


def _short(line: str) -> str:
    return repr(line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…")
