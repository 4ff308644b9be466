"""What a reader of a log or of a diff needs first."""

from __future__ import annotations

import re
from itertools import pairwise

from execplan.context.shortening.part import REST, Part
from execplan.context.words import shared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Final

_TROUBLE = re.compile(
    r"\b(?:error|errors|fail|failed|failure|failures|exception|traceback|panic|panicked|fatal|assert\w*|segfault|abort\w*|"
    r"denied|refused|timeout|timed out|cannot|killed)\b|[A-Za-z](?:Error|Exception)\b|^E\s{2,}|[✗✖❌]",
    re.IGNORECASE,
)
_NO_TROUBLE = re.compile(r"\b(?:0|no) (?:errors?|fail\w*|warnings?)\b", re.IGNORECASE)
_HEAD, _TAIL, _LAST = 5, 10, 3
"""Lines."""
_MOST_TROUBLE: Final = 40
"""Lines with an error that come first; a log of nothing else has its end, too."""
_FILE = re.compile(r"diff --git |\+\+\+ |rename |deleted file|new file|Binary files")


def log(lines: Sequence[str], words: Collection[str]) -> list[Part]:
    """The parts of a log: its last lines and its errors, what is around these, its tail, its head, lines with such words.

    Other errors come next, then all else from its end on.
    """
    return _parts(lines, words, [REST + len(lines) - at for at in range(len(lines))])


def text(lines: Sequence[str], words: Collection[str]) -> list[Part]:
    """The parts of a text that may be a log, in the same order; all else comes from its beginning on."""
    return _parts(lines, words, [REST + 1] * len(lines))


def _parts(lines: Sequence[str], words: Collection[str], ranks: list[int]) -> list[Part]:
    blank = list(ranks)
    full = [at for at, line in enumerate(lines) if line.strip()]
    trouble = [at for at in full if _TROUBLE.search(lines[at][:2000]) and not _NO_TROUBLE.search(lines[at][:2000])]
    for at in full:
        if shared(lines[at], words):
            ranks[at] = 5
    _lower(ranks, trouble, REST)
    _lower(ranks, full[:_HEAD], 4)
    _lower(ranks, full[-_TAIL:], 3)
    first = trouble[: _MOST_TROUBLE // 2] + trouble[-_MOST_TROUBLE // 2 :]
    _lower(ranks, [near for at in first for near in (at - 1, at + 1)], 2)
    _lower(ranks, first, 1)
    _lower(ranks, [*full[:1], *full[-_LAST:]], 0)
    return [Part(line, at, ranks[at] if line.strip() else blank[at]) for at, line in enumerate(lines)]


def _lower(ranks: list[int], places: Sequence[int], rank: int) -> None:
    for at in places:
        if 0 <= at < len(ranks):
            ranks[at] = min(ranks[at], rank)


def diff(lines: Sequence[str], words: Collection[str]) -> list[Part]:
    """The parts of a diff: its files, its hunks' headers, then changed lines of hunks that share words, then of the others."""
    starts = [at for at, line in enumerate(lines) if line.startswith("@@ ")]
    ends = dict(pairwise([*starts, len(lines)]))
    parts, about = [], False
    for at, line in enumerate(lines):
        if line.startswith("@@ "):
            about = shared("\n".join(lines[at : ends[at]]), words) > 0
        rank = REST
        if _FILE.match(line):
            rank = 0
        elif line.startswith("@@ "):
            rank = 1
        elif line.startswith(("+", "-")) and not line.startswith("--- "):
            rank = 2 if about else 3
        elif line.startswith(" "):
            rank = 4 if about else 5
        parts.append(Part(line, at, rank))
    return parts
