"""The sentences of a plan's sections, and which of them say most: by place, by words that the title has too."""

from __future__ import annotations

import re
from bisect import bisect_left

from execplan.context.summary.sentences import count, sentences
from execplan.plan.grammar import is_nothing, read_box
from execplan.record import NamedTuple
from execplan.text.blocks import PARAGRAPH, QUOTE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.plan.model import Plan
    from execplan.text.blocks import Block

_BOILERPLATE = re.compile(
    r"\bliving document\b|\bPLANS\.md\b|\bthis ExecPlan (?:is|must|should|follows)\b", re.IGNORECASE
)
"""What most plans say of themselves, in many wordings."""
_AIM = re.compile(
    r"(?:after|when|once|with) this\b|this (?:plan|change|work|slice|feature|milestone)\b|(?:the|its|our) (?:goal|purpose|aim)\b",
    re.IGNORECASE,
)
"""How a sentence begins that says what something is for."""
_LETTERS = re.compile(r"\w+")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]{2,}")
_COMMON = frozenset("a an and are as at be by for from in into is it its of on or that the this to with will".split())
_SHORT = 4
_LONGEST = 20_000
_MOST = 200_000
"""Characters of a paragraph, and of a section, that are looked at."""


class Sentence(NamedTuple):
    """One sentence and where it stands."""

    words: str
    place: int
    """Its place among those of its section, from 0."""
    opens: bool
    """Whether it is the first of its paragraph."""
    start: int
    """First line of its paragraph, from 0."""
    end: int


def prose(plan: Plan, start: int, end: int) -> list[Sentence]:
    """The sentences of the paragraphs between two lines; no tables, quotes, code, comments or guidance."""
    found: list[Sentence] = []
    for words, first, stop in _paragraphs(plan, start, end):
        for at, sentence in enumerate(sentences(words)):
            if not _BOILERPLATE.search(sentence) and not is_nothing(sentence):
                found.append(Sentence(sentence, len(found), at == 0, first, stop))
    return found


def _paragraphs(plan: Plan, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """The words of each paragraph and its lines."""
    quoted = -1
    left = _MOST
    for at in range(bisect_left(plan.blocks, start, key=_start), len(plan.blocks)):
        block = plan.blocks[at]
        if block.start >= end or left <= 0:
            break
        if block.kind == QUOTE:
            quoted = max(quoted, block.end)
        if block.kind != PARAGRAPH or block.start < quoted:
            continue
        lines = [block.text, *plan.text.lines[block.start + 1 : block.end]]
        if any([line.lstrip().startswith("|") for line in lines]):
            continue
        kept = [line.strip() for at, line in enumerate(lines, block.start) if not _has(plan.guidance, at)]
        words = " ".join(kept)[:_LONGEST].strip()
        left -= len(words)
        box = read_box(words)
        if words:
            yield box.words if box is not None else words, block.start, block.end


def _start(block: Block) -> int:
    return block.start


def _has(numbers: Sequence[int], number: int) -> bool:
    """Whether a number is among others that rise."""
    at = bisect_left(numbers, number)
    return at < len(numbers) and numbers[at] == number


def topic(words: str) -> frozenset[str]:
    """The words that tell what a text is about; of scripts without spaces each two letters."""
    found = {each for each in _LETTERS.findall(words.casefold()) if each not in _COMMON and len(each) > 1}
    for run in _WIDE.findall(words):
        found |= {run[at : at + 2] for at in range(len(run) - 1)}
    return frozenset(found)


def best(found: Sequence[Sentence], about: frozenset[str], most: int) -> list[Sentence]:
    """Those that say most, in the order of the file."""
    ranked = sorted(found, key=lambda each: (-_worth(each, about), each.place))[:most]
    return sorted(ranked, key=lambda each: each.place)


def _worth(sentence: Sentence, about: frozenset[str]) -> float:
    """Early ones are worth more, those that name an aim, and those with words of the title; less what leads to a list."""
    worth = 3 / (1 + sentence.place) + 0.5 * sentence.opens
    if _AIM.match(sentence.words):
        worth += 2
    if about:
        worth += 2 * len(topic(sentence.words) & about) / len(about)
    if sentence.words.endswith((":", "：")):
        worth -= 3
    return worth - (count(sentence.words) < _SHORT)
