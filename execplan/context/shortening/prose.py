"""What a reader of prose needs first: headings and first sentences, and the sentences that share words with the task."""

from __future__ import annotations

import re

from execplan.context.shortening.part import REST_RANK, TextPart
from execplan.context.words import count_shared_words
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"'“‘(\[`*]*[^\W_a-z])|(?<=[。！？])")
"""Where a sentence ends: a stop, and behind it no small letter."""
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_CODE_FENCE = re.compile(r"\s*(?:[-*+]\s+|\d+[.)]\s+)?(?:`{3,}|~{3,})")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")


def split_sentences(line: str) -> list[str]:
    """The sentences of a line, each with the spaces before it."""
    line_sentences, start = [], 0
    for match in _SENTENCE.finditer(line):
        line_sentences.append(line[start : match.start()])
        start = match.start()
    return [*line_sentences, line[start:]]


def split_prose(lines: Sequence[str], keywords: Collection[str]) -> list[TextPart]:
    """The parts of a text: headings, then the first sentence, then the first of each paragraph, then those with such words."""
    parts, prose_sentences = _parse_sentences(lines)
    ranks = {index: 0 for index, part in enumerate(parts) if _HEADING.match(part.text)}
    is_first = True
    for sentence in prose_sentences:
        rank = _keyword_rank(parts, sentence, keywords)
        if sentence.starts_paragraph:
            rank = 1 if is_first else min(rank, 3)
            is_first = False
        ranks |= dict.fromkeys(sentence.part_indexes, rank)
    return [part._replace(rank=ranks.get(index, REST_RANK)) for index, part in enumerate(parts)]


def split_message(lines: Sequence[str], keywords: Collection[str]) -> list[TextPart]:
    """The parts of what somebody said: its first and its last sentence, then those with such words, then the others."""
    parts, message_sentences = _parse_sentences(lines)
    ranks: dict[int, int] = {}
    for index, sentence in enumerate(message_sentences):
        rank = 0 if index in (0, len(message_sentences) - 1) else min(_keyword_rank(parts, sentence, keywords), 6)
        ranks |= dict.fromkeys(sentence.part_indexes, rank)
    return [part._replace(rank=ranks.get(part_index, REST_RANK)) for part_index, part in enumerate(parts)]


class _Sentence(NamedTuple):
    part_indexes: list[int]
    """Which parts it is made of: several where a line ends within it."""
    starts_paragraph: bool
    """Whether a paragraph or an item begins with it."""


def _parse_sentences(lines: Sequence[str]) -> tuple[list[TextPart], list[_Sentence]]:
    """The sentences of each line as parts, and which of them are one sentence; headings and code are none."""
    parts: list[TextPart] = []
    parsed_sentences: list[_Sentence] = []
    starts_paragraph, in_code_block, is_unfinished = True, False, False
    for line_index, line in enumerate(lines):
        is_fence = _CODE_FENCE.match(line) is not None
        in_code_block = in_code_block != is_fence
        if is_fence or in_code_block or not line.strip() or _HEADING.match(line):
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
    return parts, parsed_sentences


def _keyword_rank(parts: Sequence[TextPart], sentence: _Sentence, keywords: Collection[str]) -> int:
    """The rank of a sentence by what it shares with the task: two words come sooner."""
    shared_count = count_shared_words(" ".join([parts[index].text for index in sentence.part_indexes]), keywords)
    return 2 if shared_count > 1 else 4 if shared_count else REST_RANK
