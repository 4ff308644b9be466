"""What a reader of a log or of a diff needs first."""

from __future__ import annotations

import re
from itertools import pairwise

from execplan.context.shortening.part import REST_RANK, TextPart
from execplan.context.words import count_shared_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Final

_ERROR = re.compile(
    r"\b(?:error|errors|fail|failed|failure|failures|exception|traceback|panic|panicked|fatal|assert\w*|segfault|abort\w*|"
    r"denied|refused|timeout|timed out|cannot|killed)\b|[A-Za-z](?:Error|Exception)\b|^E\s{2,}|[✗✖❌]",
    re.IGNORECASE,
)
_NO_ERROR = re.compile(r"\b(?:0|no) (?:errors?|fail\w*|warnings?)\b", re.IGNORECASE)
_HEAD_LINES, _TAIL_LINES, _LAST_LINES = 5, 10, 3
"""Lines."""
_MAX_ERROR_LINES: Final = 40
"""Lines with an error that come first; a log of nothing else has its end, too."""
_DIFF_FILE = re.compile(r"diff --git |\+\+\+ |rename |deleted file|new file|Binary files")


def split_log(lines: Sequence[str], keywords: Collection[str]) -> list[TextPart]:
    """The parts of a log: its last lines and its errors, what is around these, its tail, its head, lines with such words.

    Other errors come next, then all else from its end on.
    """
    return _rank_log_lines(lines, keywords, [REST_RANK + len(lines) - index for index in range(len(lines))])


def split_text(lines: Sequence[str], keywords: Collection[str]) -> list[TextPart]:
    """The parts of a text that may be a log, in the same order; all else comes from its beginning on."""
    return _rank_log_lines(lines, keywords, [REST_RANK + 1] * len(lines))


def _rank_log_lines(lines: Sequence[str], keywords: Collection[str], ranks: list[int]) -> list[TextPart]:
    blank_ranks = list(ranks)
    nonblank = [index for index, line in enumerate(lines) if line.strip()]
    error_lines = [index for index in nonblank if _ERROR.search(lines[index][:2000]) and not _NO_ERROR.search(lines[index][:2000])]
    for index in nonblank:
        if count_shared_words(lines[index], keywords):
            ranks[index] = 5
    _lower_ranks(ranks, error_lines, REST_RANK)
    _lower_ranks(ranks, nonblank[:_HEAD_LINES], 4)
    _lower_ranks(ranks, nonblank[-_TAIL_LINES:], 3)
    selected_errors = error_lines[: _MAX_ERROR_LINES // 2] + error_lines[-_MAX_ERROR_LINES // 2 :]
    _lower_ranks(ranks, [neighbor for index in selected_errors for neighbor in (index - 1, index + 1)], 2)
    _lower_ranks(ranks, selected_errors, 1)
    _lower_ranks(ranks, [*nonblank[:1], *nonblank[-_LAST_LINES:]], 0)
    return [TextPart(line, index, ranks[index] if line.strip() else blank_ranks[index]) for index, line in enumerate(lines)]


def _lower_ranks(ranks: list[int], line_indexes: Sequence[int], rank: int) -> None:
    for index in line_indexes:
        if 0 <= index < len(ranks):
            ranks[index] = min(ranks[index], rank)


def split_diff(lines: Sequence[str], keywords: Collection[str]) -> list[TextPart]:
    """The parts of a diff: its files, its hunks' headers, then changed lines of hunks that share words, then of the others."""
    hunk_starts = [index for index, line in enumerate(lines) if line.startswith("@@ ")]
    hunk_ends = dict(pairwise([*hunk_starts, len(lines)]))
    parts, is_relevant = [], False
    for index, line in enumerate(lines):
        if line.startswith("@@ "):
            is_relevant = count_shared_words("\n".join(lines[index : hunk_ends[index]]), keywords) > 0
        rank = REST_RANK
        if _DIFF_FILE.match(line):
            rank = 0
        elif line.startswith("@@ "):
            rank = 1
        elif line.startswith(("+", "-")) and not line.startswith("--- "):
            rank = 2 if is_relevant else 3
        elif line.startswith(" "):
            rank = 4 if is_relevant else 5
        parts.append(TextPart(line, index, rank))
    return parts
