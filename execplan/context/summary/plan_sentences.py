"""Sentences: their boundaries, their length, and which of them say what a plan is for."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.line_grammar import is_empty_text, read_checkbox
from execplan.core.plan.model import ParsedPlan
from execplan.core.text.markdown_blocks import ITEM, PARAGRAPH, QUOTE, Block

_BOILERPLATE = re.compile(
    r"\bliving document\b|\bPLANS\.md\b|\bthis ExecPlan (?:is|must|should|follows)\b", re.IGNORECASE
)
"""Pattern for phrases that most plans use about themselves."""
_PURPOSE_START = re.compile(
    r"(?:after|when|once|with) this\b|this (?:change|work|slice|feature|milestone)\b|(?:the|its|our) (?:goal|purpose|aim)\b|"
    r"(?:the )?user-visible\b|(?:goal|purpose|objective|ziel|but|objetivo|目标|目的|ゴール|목표)s?\W{0,4}[:：]",
    re.IGNORECASE,
)
"""Pattern for the start of a sentence that states a purpose."""
_FIELD = re.compile(r"[^\s:：][^:：.]{0,30}(?<!\d)[:：]\W")
"""Pattern for a field such as `Status: done`."""
_ABOUT_PLAN = re.compile(r"this (?:is the|file|document|plan|spec|slice is)\b", re.IGNORECASE)
"""Pattern for the start of a sentence about the plan itself."""
_MIN_SCORE_SHARE = 0.4
"""Part of the best score that other sentences need."""
_WORD = re.compile(r"\w+")
_IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]{2,}")
_STOP_WORDS = frozenset(
    "a an and are as at be by for from in into is it its of on or that the this to with will".split()
)
_MIN_WORDS = 4
_MAX_PARAGRAPH_CHARS = 20_000
_MAX_SECTION_CHARS = 200_000
"""Maximum characters that are read from a paragraph and from a section."""


class Sentence(NamedTuple):
    """A sentence and its position."""

    text: str
    position: int
    """Position among the sentences of its section, from 0."""
    opens_paragraph: bool
    """Whether the sentence is the first of its paragraph."""
    start: int
    """First line of the paragraph, from 0."""
    end: int


def read_sentences(plan: ParsedPlan, start: int, end: int) -> list[Sentence]:
    """Return the sentences of the paragraphs between two lines.

    Tables, quotes, code, comments, boilerplate and placeholder text are left out.
    """
    plan_sentences: list[Sentence] = []
    for paragraph, first_line, end_line in _iter_paragraphs(plan, start, end):
        for index, sentence in enumerate(split_sentences(paragraph)):
            if not _is_boilerplate(sentence) and not is_empty_text(sentence):
                plan_sentences.append(Sentence(sentence, len(plan_sentences), index == 0, first_line, end_line))
    return plan_sentences


def read_entries(plan: ParsedPlan, start: int, end: int) -> list[Sentence]:
    """Return the entries between two lines: list items of the first level, rows of tables, or else paragraphs."""
    blocks = [block for block in plan.blocks[bisect_left(plan.blocks, start, key=_block_start) :] if block.start < end]
    rows = [
        (at, at + 1)
        for block in blocks
        if block.kind == PARAGRAPH and block.text.startswith("|")
        for at in range(block.start + 2, block.end)  # after the head and the line below it
    ]
    items = [(block.start, block.end) for block in blocks if block.kind == ITEM and not block.depth]
    paragraphs = [(block.start, block.end) for block in blocks if block.kind == PARAGRAPH and not block.depth]
    entries: list[Sentence] = []
    for first, last in rows or items or paragraphs:
        if rows:
            texts = [" — ".join([cell.strip() for cell in plan.text.lines[first].strip(" |").split("|")][:2])]
        else:
            texts = [text for text, at, _ in _iter_paragraphs(plan, first, last) if at == first]
        texts = [text for text in texts if not is_empty_text(text) and has_alphanumeric(text)]
        entries += [Sentence(text, len(entries), True, first, last) for text in texts]
    return entries


def _is_boilerplate(sentence: str) -> bool:
    """Return whether a sentence is about plans in general: it says what a plan is, or to keep its sections up to date."""
    return _BOILERPLATE.search(sentence) is not None or ("Progress" in sentence and "Decision Log" in sentence)


def _iter_paragraphs(plan: ParsedPlan, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Yield the text of each paragraph and its range of lines."""
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
        kept_lines = [
            line.strip()
            for at, line in enumerate(lines, block.start)
            if not _contains_sorted(plan.placeholder_lines, at)
        ]
        text = " ".join(kept_lines)[:_MAX_PARAGRAPH_CHARS].strip()
        remaining_chars -= len(text)
        box = read_checkbox(text)
        if text:
            yield box.text if box is not None else text, block.start, block.end


def _block_start(block: Block) -> int:
    return block.start


def _contains_sorted(numbers: Sequence[int], number: int) -> bool:
    """Return whether a sorted sequence contains a number."""
    index = bisect_left(numbers, number)
    return index < len(numbers) and numbers[index] == number


def topic_words(text: str) -> frozenset[str]:
    """Return the words that show what a text is about; for scripts without spaces, each pair of letters."""
    terms = {word for word in _WORD.findall(text.casefold()) if word not in _STOP_WORDS and len(word) > 1}
    for run in _IDEOGRAPHS.findall(text):
        terms |= {run[index : index + 2] for index in range(len(run) - 1)}
    return frozenset(terms)


def best_sentences(sentences: Sequence[Sentence], title_words: frozenset[str], max_words: int) -> list[Sentence]:
    """Return the sentences that say what a plan is for, the best first; of long ones only the best."""
    scores = {sentence: _score_sentence(sentence, title_words) for sentence in sentences}
    ranked = sorted(sentences, key=lambda sentence: (-scores[sentence], sentence.position))
    short = [sentence for sentence in ranked if count_words(sentence.text) <= max_words]
    return [sentence for sentence in short or ranked[:1] if scores[sentence] >= _MIN_SCORE_SHARE * scores[ranked[0]]]


def _score_sentence(sentence: Sentence, title_words: frozenset[str]) -> float:
    """Score a sentence for the summary.

    It scores higher if it is early, names a purpose or shares words with the title, and lower if it introduces a list, is
    a field such as a date, or is about the plan itself.
    """
    text = sentence.text.lstrip("*_ ")
    score = 3 / (1 + sentence.position) + 0.5 * sentence.opens_paragraph
    if _PURPOSE_START.match(text):
        score += 2
    elif _FIELD.match(text) or _ABOUT_PLAN.match(text):
        score -= 3
    if title_words:
        score += 2 * len(topic_words(sentence.text) & title_words) / len(title_words)
    if text.rstrip("*_ ").endswith((":", "：")):
        score -= 3
    return score - (count_words(sentence.text) < _MIN_WORDS)


MAX_WORD_CHARS = 40
"""Characters without a space that count as one word; a path of 100 characters counts as three."""

_UNSPACED_SCRIPTS = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
"""Pattern for letters of scripts without spaces between words; each letter counts as a word."""
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]*_]*+(?=\s)|[。！？]+[”’」』）]*")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|no|fig|dr|mr|ms|st|approx|incl|resp|[A-Z])\.$", re.IGNORECASE
)
_BACKTICKS = re.compile(r"`+")
_LINK_OR_EMPHASIS = re.compile(
    r"!?\[[^\[\]]*\](?:\([^()\s]*(?:\([^()\s]*\))?(?:\s+\"[^\"]*\")?\)|\[[^\[\]]*\])"
    r"|\*\*(?=\S)[^*]+\*\*|(?<!\w)__(?=\S)[^_]+__(?!\w)|(?<![\w*])\*(?=[^\s*])[^*]+\*|(?<!\w)_(?=[^\s_])[^_]+_(?!\w)"
    r"|~~(?=\S)[^~]+~~"
)


def count_words(text: str) -> int:
    """Count the words of a text as `wc -w` does; a long word counts as several, and so do letters without spaces."""
    total = 0
    if not text.isascii():
        text, total = _UNSPACED_SCRIPTS.subn(" ", text)
    return total + sum([-(-len(run) // MAX_WORD_CHARS) for run in text.split()])


def has_alphanumeric(text: str) -> bool:
    """Return whether a text has a letter or a digit."""
    return any(map(str.isalnum, text))


def split_sentences(paragraph: str) -> list[str]:
    """Split a paragraph into sentences."""
    protected_spans = markup_spans(paragraph)
    parsed_sentences, start, index = [], 0, 0
    for end in _SENTENCE_END.finditer(paragraph):
        while index < len(protected_spans) and protected_spans[index][1] < end.end():
            index += 1
        is_inside_span = (
            index < len(protected_spans) and protected_spans[index][0] < end.end() < protected_spans[index][1]
        )
        if not is_inside_span and _is_sentence_end(
            paragraph[start : end.end()], paragraph[end.end() : end.end() + 3].lstrip()
        ):
            parsed_sentences.append(paragraph[start : end.end()].strip())
            start = end.end()
    parsed_sentences.append(paragraph[start:].strip())
    return [sentence for sentence in parsed_sentences if has_alphanumeric(sentence)]


def _is_sentence_end(before: str, after: str) -> bool:
    """Return whether a sentence ends between two texts."""
    if before[-1] in "。！？”’」』）":
        return True
    if before.strip("( .").isdigit():
        return False  # it is a list number
    return not after[:1].islower() and not _ABBREVIATION.search(before[-10:])


def markup_spans(text: str) -> list[tuple[int, int]]:
    """Return the ranges of code spans, links and emphasis, in order; overlapping ranges are merged."""
    code_spans = list(_code_spans(text))
    masked_chars = list(text)
    for start, end in code_spans:
        masked_chars[start:end] = "x" * (end - start)
    all_spans = sorted([*code_spans, *[match.span() for match in _LINK_OR_EMPHASIS.finditer("".join(masked_chars))]])
    merged_spans: list[tuple[int, int]] = []
    for start, end in all_spans:
        if merged_spans and start < merged_spans[-1][1]:
            merged_spans[-1] = merged_spans[-1][0], max(end, merged_spans[-1][1])
        else:
            merged_spans.append((start, end))
    return merged_spans


def _code_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of code spans, which start and end with the same number of backticks."""
    runs = [match.span() for match in _BACKTICKS.finditer(text)]
    runs_by_length: dict[int, list[int]] = {}
    for index in range(len(runs) - 1, -1, -1):
        runs_by_length.setdefault(runs[index][1] - runs[index][0], []).append(index)
    index = 0
    while index < len(runs):
        same_length = runs_by_length[runs[index][1] - runs[index][0]]
        while same_length and same_length[-1] <= index:
            same_length.pop()
        if same_length:
            yield runs[index][0], runs[same_length[-1]][1]
            index = same_length[-1]
        index += 1


def first_sentences(text: str, max_words: int) -> str:
    """Return the first sentence, and those after it that fit into `max_words`; no sentence is cut."""
    selected: list[str] = []
    remaining_words = max_words
    for sentence in split_sentences(text):
        remaining_words -= count_words(sentence)
        if selected and remaining_words < 0:
            break
        selected.append(sentence)
    return " ".join(selected)
