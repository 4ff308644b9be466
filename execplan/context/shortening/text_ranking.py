"""Ranking of prose, messages, logs and diffs, so that the most informative lines and sentences come first."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Final

from execplan.context.shortening.excerpt import REST_RANK, TextPart
from execplan.context.text_search import count_shared_words, search_texts, total_score
from execplan.core.named_tuple import NamedTuple

_ERROR = re.compile(
    r"\b(?:error|errors|fail|failed|failure|failures|exception|traceback|panic|panicked|fatal|assert\w*|segfault|abort\w*|"
    r"denied|refused|timeout|timed out|cannot|killed)\b|[A-Za-z](?:Error|Exception)\b|^E\s{2,}|[✗✖❌]",
    re.IGNORECASE,
)
_NO_ERROR = re.compile(r"\b(?:0|no) (?:errors?|fail\w*|warnings?)\b", re.IGNORECASE)
_HEAD_LINES, _TAIL_LINES, _LAST_LINES = 5, 10, 3
"""Number of lines at the head, in the tail, and at the very end of a log that get a better rank."""
_MAX_ERROR_LINES: Final = 40
"""Maximum number of error lines that come first, so that a log of nothing but errors also shows its end."""
_DIFF_FILE = re.compile(r"diff --git |\+\+\+ |rename |deleted file|new file|Binary files")


def split_log(lines: Sequence[str], keywords: Collection[str]) -> list[TextPart]:
    """Split a log into ranked lines.

    The last lines come first, then errors, the lines around them, the tail, the head, and lines with keywords. Other
    errors come next, then everything else from the end.
    """
    return _rank_log_lines(lines, keywords, [REST_RANK + len(lines) - index for index in range(len(lines))])


def split_text(lines: Sequence[str], keywords: Collection[str]) -> list[TextPart]:
    """Split a text that may be a log in the same order; everything else comes from its beginning."""
    return _rank_log_lines(lines, keywords, [REST_RANK + 1] * len(lines))


def _rank_log_lines(lines: Sequence[str], keywords: Collection[str], ranks: list[int]) -> list[TextPart]:
    blank_ranks = list(ranks)
    nonblank = [index for index, line in enumerate(lines) if line.strip()]
    error_lines = [
        index for index in nonblank if _ERROR.search(lines[index][:2000]) and not _NO_ERROR.search(lines[index][:2000])
    ]
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
    return [
        TextPart(line, index, ranks[index] if line.strip() else blank_ranks[index]) for index, line in enumerate(lines)
    ]


def _lower_ranks(ranks: list[int], line_indexes: Sequence[int], rank: int) -> None:
    for index in line_indexes:
        if 0 <= index < len(ranks):
            ranks[index] = min(ranks[index], rank)


def split_diff(lines: Sequence[str], keywords: Collection[str]) -> list[TextPart]:
    """Split a diff into ranked lines.

    File headers come first, then hunk headers, changed lines of hunks with keywords, other changed lines, and context.
    """
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


_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"'“‘(\[`*]*[^\W_a-z])|(?<=[。！？])")
"""Pattern for the end of a sentence: a full stop that no lower-case letter follows."""
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_CODE_FENCE = re.compile(r"\s*(?:[-*+]\s+|\d+[.)]\s+)?(?:`{3,}|~{3,})")
_MIN_SECTIONS: Final = 8
"""Number of headings from which a document is long, so that one section is printed rather than all headings."""
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")


def split_sentences(line: str) -> list[str]:
    """Split a line into sentences, each with the spaces before it."""
    line_sentences, start = [], 0
    for match in _SENTENCE.finditer(line):
        line_sentences.append(line[start : match.start()])
        start = match.start()
    return [*line_sentences, line[start:]]


def split_prose(lines: Sequence[str], keywords: Collection[str]) -> list[TextPart]:
    """Split prose into ranked parts.

    In a long document, the section comes first whose words are most like the task. Then come headings, the first
    sentence, sentences with keywords, and the first one of each paragraph.
    """
    parts, prose_sentences, headings = _parse_sentences(lines)
    ranks = dict.fromkeys(headings, 0)
    is_first = True
    for sentence in prose_sentences:
        rank = _keyword_rank(parts, sentence, keywords)
        if sentence.starts_paragraph:
            rank = 1 if is_first else min(rank, 3)
            is_first = False
        ranks |= dict.fromkeys(sentence.part_indexes, rank)
    best_section = _find_best_section(parts, headings, keywords)
    ranks |= dict.fromkeys(best_section, -1)
    return [part._replace(rank=ranks.get(index, REST_RANK)) for index, part in enumerate(parts)]


def _find_best_section(parts: Sequence[TextPart], headings: Sequence[int], keywords: Collection[str]) -> range:
    """Return the parts of the section of a long document that is most like the task by BM25; none in a short one."""
    if len(headings) < _MIN_SECTIONS or not keywords:
        return range(0)
    sections = [range(start, end) for start, end in pairwise([*headings, len(parts)])]
    texts = [(parts[section[0]].text, "\n".join([parts[index].text for index in section[1:]])) for section in sections]
    scores = [total_score(hits) for hits in search_texts(texts, dict.fromkeys(sorted(keywords), 1.0))]
    return sections[scores.index(max(scores))] if max(scores) > 0 else range(0)


def split_message(lines: Sequence[str], keywords: Collection[str]) -> list[TextPart]:
    """Split a message into ranked parts: the first and last sentence, then sentences with keywords, then the others."""
    parts, message_sentences, _ = _parse_sentences(lines)
    ranks: dict[int, int] = {}
    for index, sentence in enumerate(message_sentences):
        rank = 0 if index in (0, len(message_sentences) - 1) else min(_keyword_rank(parts, sentence, keywords), 6)
        ranks |= dict.fromkeys(sentence.part_indexes, rank)
    return [part._replace(rank=ranks.get(part_index, REST_RANK)) for part_index, part in enumerate(parts)]


class _Sentence(NamedTuple):
    part_indexes: list[int]
    """Indexes of the parts that form the sentence; several if it continues over lines."""
    starts_paragraph: bool
    """Whether the sentence starts a paragraph or a list item."""


def _parse_sentences(lines: Sequence[str]) -> tuple[list[TextPart], list[_Sentence], list[int]]:
    """Split each line into parts, group them into sentences, and list the headings, which belong to none, as does code."""
    parts: list[TextPart] = []
    headings: list[int] = []
    parsed_sentences: list[_Sentence] = []
    starts_paragraph, in_code_block, is_unfinished = True, False, False
    for line_index, line in enumerate(lines):
        is_fence = _CODE_FENCE.match(line) is not None
        in_code_block = in_code_block != is_fence
        if is_heading := not in_code_block and not is_fence and _HEADING.match(line) is not None:
            headings.append(len(parts))
        if is_fence or in_code_block or not line.strip() or is_heading:
            parts.append(TextPart(line, line_index))
            starts_paragraph, is_unfinished = True, False
            continue
        if _ITEM.match(line):
            starts_paragraph, is_unfinished = True, False
        for sentence_text in split_sentences(line):
            if is_unfinished:
                parsed_sentences[-1].part_indexes.append(len(parts))
            else:
                parsed_sentences.append(_Sentence([len(parts)], starts_paragraph))
            parts.append(TextPart(sentence_text, line_index))
            starts_paragraph = is_unfinished = False
        is_unfinished = not line.rstrip().endswith((".", "!", "?", ":", "。", "！", "？"))
    return parts, parsed_sentences, headings


def _keyword_rank(parts: Sequence[TextPart], sentence: _Sentence, keywords: Collection[str]) -> int:
    """Return the rank of a sentence by its shared keywords; two or more rank higher than one."""
    shared_count = count_shared_words(" ".join([parts[index].text for index in sentence.part_indexes]), keywords)
    if shared_count > 1:
        return 2
    if shared_count:
        return 4
    return REST_RANK
