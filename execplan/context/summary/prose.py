"""The sentences of a plan's sections, and which of them say most: by place, by words that the title has too."""

from __future__ import annotations

import re
from bisect import bisect_left

from execplan.context.summary.sentences import count_words, split_sentences
from execplan.plan.grammar import is_empty_text, read_checkbox
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
_PURPOSE_START = re.compile(
    r"(?:after|when|once|with) this\b|this (?:plan|change|work|slice|feature|milestone)\b|(?:the|its|our) (?:goal|purpose|aim)\b",
    re.IGNORECASE,
)
"""How a sentence begins that says what something is for."""
_WORD = re.compile(r"\w+")
_IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]{2,}")
_STOP_WORDS = frozenset("a an and are as at be by for from in into is it its of on or that the this to with will".split())
_MIN_WORDS = 4
_MAX_PARAGRAPH_CHARS = 20_000
_MAX_SECTION_CHARS = 200_000
"""Characters of a paragraph, and of a section, that are looked at."""


class Sentence(NamedTuple):
    """One sentence and where it stands."""

    text: str
    position: int
    """Its place among those of its section, from 0."""
    opens_paragraph: bool
    """Whether it is the first of its paragraph."""
    start: int
    """First line of its paragraph, from 0."""
    end: int


def read_sentences(plan: Plan, start: int, end: int) -> list[Sentence]:
    """The sentences of the paragraphs between two lines; no tables, quotes, code, comments or guidance."""
    plan_sentences: list[Sentence] = []
    for paragraph, first_line, end_line in _iter_paragraphs(plan, start, end):
        for index, sentence in enumerate(split_sentences(paragraph)):
            if not _BOILERPLATE.search(sentence) and not is_empty_text(sentence):
                plan_sentences.append(Sentence(sentence, len(plan_sentences), index == 0, first_line, end_line))
    return plan_sentences


def _iter_paragraphs(plan: Plan, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """The words of each paragraph and its lines."""
    quote_end = -1
    remaining_chars = _MAX_SECTION_CHARS
    for at in range(bisect_left(plan.blocks, start, key=_block_start), len(plan.blocks)):
        block = plan.blocks[at]
        if block.start >= end or remaining_chars <= 0:
            break
        if block.kind == QUOTE:
            quote_end = max(quote_end, block.end)
        if block.kind != PARAGRAPH or block.start < quote_end:
            continue
        lines = [block.text, *plan.text.lines[block.start + 1 : block.end]]
        if any([line.lstrip().startswith("|") for line in lines]):
            continue
        kept_lines = [line.strip() for at, line in enumerate(lines, block.start) if not _contains_sorted(plan.placeholder_lines, at)]
        text = " ".join(kept_lines)[:_MAX_PARAGRAPH_CHARS].strip()
        remaining_chars -= len(text)
        box = read_checkbox(text)
        if text:
            yield box.text if box is not None else text, block.start, block.end


def _block_start(block: Block) -> int:
    return block.start


def _contains_sorted(numbers: Sequence[int], number: int) -> bool:
    """Whether a number is among others that rise."""
    index = bisect_left(numbers, number)
    return index < len(numbers) and numbers[index] == number


def topic_words(text: str) -> frozenset[str]:
    """The words that tell what a text is about; of scripts without spaces each two letters."""
    terms = {word for word in _WORD.findall(text.casefold()) if word not in _STOP_WORDS and len(word) > 1}
    for run in _IDEOGRAPHS.findall(text):
        terms |= {run[index : index + 2] for index in range(len(run) - 1)}
    return frozenset(terms)


def best_sentences(sentences: Sequence[Sentence], title_words: frozenset[str], max_sentences: int) -> list[Sentence]:
    """Those that say most, in the order of the file."""
    ranked = sorted(sentences, key=lambda sentence: (-_score_sentence(sentence, title_words), sentence.position))[:max_sentences]
    return sorted(ranked, key=lambda sentence: sentence.position)


def _score_sentence(sentence: Sentence, title_words: frozenset[str]) -> float:
    """Early ones are worth more, those that name an aim, and those with words of the title; less what leads to a list."""
    score = 3 / (1 + sentence.position) + 0.5 * sentence.opens_paragraph
    if _PURPOSE_START.match(sentence.text):
        score += 2
    if title_words:
        score += 2 * len(topic_words(sentence.text) & title_words) / len(title_words)
    if sentence.text.endswith((":", "：")):
        score -= 3
    return score - (count_words(sentence.text) < _MIN_WORDS)
