"""What a reader of prose needs first: headings and first sentences, and the sentences that share words with the task."""

from __future__ import annotations

import re

from execplan.context.shortening.part import REST, Part
from execplan.context.words import shared
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"'“‘(\[`*]*[^\W_a-z])|(?<=[。！？])")
"""Where a sentence ends: a stop, and behind it no small letter."""
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_FENCE = re.compile(r"\s*(?:[-*+]\s+|\d+[.)]\s+)?(?:`{3,}|~{3,})")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")


def sentences(line: str) -> list[str]:
    """The sentences of a line, each with the spaces before it."""
    found, start = [], 0
    for each in _SENTENCE.finditer(line):
        found.append(line[start : each.start()])
        start = each.start()
    return [*found, line[start:]]


def prose(lines: Sequence[str], words: Collection[str]) -> list[Part]:
    """The parts of a text: headings, then the first sentence, then the first of each paragraph, then those with such words."""
    parts, said = _parts(lines)
    ranks = {at: 0 for at, part in enumerate(parts) if _HEADING.match(part.text)}
    first = True
    for sentence in said:
        rank = _shared(parts, sentence, words)
        if sentence.begins:
            rank = 1 if first else min(rank, 3)
            first = False
        ranks |= dict.fromkeys(sentence.parts, rank)
    return [part._replace(rank=ranks.get(at, REST)) for at, part in enumerate(parts)]


def message(lines: Sequence[str], words: Collection[str]) -> list[Part]:
    """The parts of what somebody said: its first and its last sentence, then those with such words, then the others."""
    parts, said = _parts(lines)
    ranks: dict[int, int] = {}
    for nth, sentence in enumerate(said):
        rank = 0 if nth in (0, len(said) - 1) else min(_shared(parts, sentence, words), 6)
        ranks |= dict.fromkeys(sentence.parts, rank)
    return [part._replace(rank=ranks.get(at, REST)) for at, part in enumerate(parts)]


class _Sentence(NamedTuple):
    parts: list[int]
    """Which parts it is made of: several where a line ends within it."""
    begins: bool
    """Whether a paragraph or an item begins with it."""


def _parts(lines: Sequence[str]) -> tuple[list[Part], list[_Sentence]]:
    """The sentences of each line as parts, and which of them are one sentence; headings and code are none."""
    parts: list[Part] = []
    found: list[_Sentence] = []
    begins, fenced, unfinished = True, False, False
    for at, line in enumerate(lines):
        is_fence = _FENCE.match(line) is not None
        fenced = fenced != is_fence
        if is_fence or fenced or not line.strip() or _HEADING.match(line):
            parts.append(Part(line, at))
            begins, unfinished = True, False
            continue
        if _ITEM.match(line):
            begins, unfinished = True, False
        for each in sentences(line):
            if unfinished:
                found[-1].parts.append(len(parts))
            else:
                found.append(_Sentence([len(parts)], begins))
            parts.append(Part(each, at))
            begins = unfinished = False
        unfinished = not line.rstrip().endswith((".", "!", "?", ":", "。", "！", "？"))
    return parts, found


def _shared(parts: Sequence[Part], sentence: _Sentence, words: Collection[str]) -> int:
    """The rank of a sentence by what it shares with the task: two words come sooner."""
    many = shared(" ".join([parts[at].text for at in sentence.parts]), words)
    return 2 if many > 1 else 4 if many else REST
