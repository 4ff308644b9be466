"""What a command printed, compared with what it was expected to print."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_ANY = "…"
_LONGEST = 60


def difference(expected: str, printed: str) -> str:
    """Where what was printed is not as expected, in words; nothing where it is.

    Line ends at the end count on neither side. Each `…` stands for any text, over lines too; on a line of its own, for any
    lines or none. Each part between two of them is looked for once, behind the one before, so that no text takes long.
    """
    expected, printed = expected.rstrip("\r\n"), printed.rstrip("\r\n")
    if _ANY not in expected:
        return _first(expected, printed, whole=True)
    lines = expected.split("\n")
    lines = [line for at, line in enumerate(lines) if not (at and line == lines[at - 1] == _ANY)]
    first, *middle, last = "\n".join(lines).split(_ANY)
    lead = int(lines[0] == _ANY)  # a line's end for each end at which any lines, or none, may stand
    whole, printed = printed, "\n" * lead + printed + "\n" * (lines[-1] == _ANY)
    if not printed.startswith(first):
        return _first(first, whole, whole=False)
    at, told = len(first), first
    for part in middle:
        found = printed.find(part, at - _shared(told, part))
        if found < 0:
            return _missing(told, part, printed, at, lead)
        at, told = found + len(part), f"{told}{_ANY}{part}"
    if len(printed) - len(last) < at - _shared(told, last) or not printed.endswith(last):
        return _missing(told, last, printed, at, lead, end=True)
    return ""


def missing_line(expected: str, printed: Sequence[str]) -> str:
    """The first line of what prose says is printed that is in none of these texts, or nothing.

    More may be printed before and after it, on its line too, and white space counts only as such: who writes prose leaves
    out what does not matter.
    """
    seen = [f" {' '.join(line.split())} " for text in printed for line in text.splitlines()]
    for line in expected.split("\n"):
        wanted = " ".join(line.split())
        if wanted != _ANY and not any([f" {wanted} " in each for each in seen]):
            return wanted
    return ""


def _shared(told: str, part: str) -> int:
    """The line's end that both sides of a `…` on a line of its own may share."""
    return int(told.endswith("\n") and part.startswith("\n"))


def _first(expected: str, printed: str, *, whole: bool) -> str:
    """The first line that differs."""
    wanted, lines = expected.split("\n"), printed.split("\n")
    for number, want in enumerate(wanted):
        is_part = not whole and number == len(wanted) - 1
        if number == len(lines):
            return f"it ends behind line {number}, and {_short(want)} should follow"
        have = lines[number][: len(want)] if is_part else lines[number]
        if have != want:
            return f"line {number + 1} is {_short(lines[number])}, not {_short(want)}{_ANY if is_part else ''}"
    if whole and len(lines) > len(wanted):
        return f"line {len(wanted) + 1} is {_short(lines[len(wanted)])}, where nothing should follow"
    return ""


def _missing(told: str, part: str, printed: str, at: int, lead: int, *, end: bool = False) -> str:
    """That a part between two `…` does not come, by the line of what is expected and that of what was printed."""
    want = next((line for line in part.split("\n") if line), part)
    number = (told + _ANY + part).count("\n", 0, len(told)) + 1 + part[: part.find(want)].count("\n")
    behind = max(printed.count("\n", 0, at) + 1 - lead, 1)
    what = f"{_short(want)}, line {number} of what is expected,"
    return f"{what} {'does not end it' if end else f'does not come in line {behind} or below'}"


def _short(line: str) -> str:
    return repr(line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…")
