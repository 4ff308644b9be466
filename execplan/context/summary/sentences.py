"""Sentences: where they end, how long they are, and how one that is too long is cut; never within a code span or a link."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ELLIPSIS = " …"
"""What stands where a sentence was cut."""
MAX_WORD_CHARS = 40
"""Characters that count as one word where no space stands between them: a path of a hundred counts as three."""

_UNSPACED_SCRIPTS = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
"""Letters of scripts that put no spaces between words: each counts as a word."""
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]*_]*+(?=\s)|[。！？]+[”’」』）]*")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|no|fig|dr|mr|ms|st|approx|incl|resp|[A-Z])\.$", re.IGNORECASE
)
_CLAUSE_END = re.compile(r"[,;:—–，；：、]$")
_BACKTICKS = re.compile(r"`+")
_LINK_OR_EMPHASIS = re.compile(
    r"!?\[[^\[\]]*\](?:\([^()\s]*(?:\([^()\s]*\))?(?:\s+\"[^\"]*\")?\)|\[[^\[\]]*\])"
    r"|\*\*(?=\S)[^*]+\*\*|(?<!\w)__(?=\S)[^_]+__(?!\w)|(?<![\w*])\*(?=[^\s*])[^*]+\*|(?<!\w)_(?=[^\s_])[^_]+_(?!\w)"
    r"|~~(?=\S)[^~]+~~"
)


def count_words(text: str) -> int:
    """How many words a text has: what stands between spaces and has a letter or a digit."""
    total = 0
    if not text.isascii():
        text, total = _UNSPACED_SCRIPTS.subn(" ", text)
    for run in text.split():
        if run[0].isalnum() or run[-1].isalnum() or has_alphanumeric(run):
            total += -(-len(run) // MAX_WORD_CHARS)
    return total


def has_alphanumeric(text: str) -> bool:
    """Whether there is a letter or a digit in it."""
    return any(map(str.isalnum, text))


def split_sentences(paragraph: str) -> list[str]:
    """The sentences of a paragraph, in order."""
    protected_spans = markup_spans(paragraph)
    parsed_sentences, start, index = [], 0, 0
    for end in _SENTENCE_END.finditer(paragraph):
        while index < len(protected_spans) and protected_spans[index][1] < end.end():
            index += 1
        is_inside_span = index < len(protected_spans) and protected_spans[index][0] < end.end() < protected_spans[index][1]
        if not is_inside_span and _is_sentence_end(paragraph[start : end.end()], paragraph[end.end() : end.end() + 3].lstrip()):
            parsed_sentences.append(paragraph[start : end.end()].strip())
            start = end.end()
    parsed_sentences.append(paragraph[start:].strip())
    return [sentence for sentence in parsed_sentences if has_alphanumeric(sentence)]


def _is_sentence_end(before: str, after: str) -> bool:
    """Whether a sentence ends between the two."""
    if before[-1] in "。！？”’」』）":
        return True
    if before.strip("( .").isdigit():
        return False  # the number of a list
    return not after[:1].islower() and not _ABBREVIATION.search(before[-10:])


def markup_spans(text: str) -> list[tuple[int, int]]:
    """Where code spans, links and what is emphasised begin and end, in order, those that touch others as one."""
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
    """Where code spans begin and end: with as many backticks."""
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
    """The first sentences that have together at most so many words; the first cut short where it alone has more."""
    selected, remaining_words = [], max_words
    for sentence in split_sentences(text):
        word_count = count_words(sentence)
        if word_count > remaining_words:
            break
        selected.append(sentence)
        remaining_words -= word_count
    return " ".join(selected) if selected else shorten_sentence(text, max_words)


def shorten_sentence(text: str, max_words: int) -> str:
    """The words up to a clause's end, else a word's, and an ellipsis; nothing where all that fits is the half of a span."""
    if count_words(text) <= max_words:
        return text
    ends = _word_ends(text)
    word_counts = _word_counts(text, ends)
    fitting_ends = [end for end, word_count in zip(ends, word_counts, strict=True) if word_count <= max_words]
    clause_ends = [
        end
        for end, word_count in zip(ends, word_counts, strict=True)
        if max_words < 2 * word_count <= 2 * max_words and _CLAUSE_END.search(text[:end])
    ]
    end = clause_ends[-1] if clause_ends else fitting_ends[-1] if fitting_ends else 0
    return text[:end].rstrip(" ,;:—–，；：、(") + ELLIPSIS if end else ""


def _word_ends(text: str) -> list[int]:
    """Where words end outside of spans."""
    positions, index = [], 0
    protected_spans = markup_spans(text)
    for end in re.finditer(r"(?<=\S)(?=\s)|(?<=[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff，；：、])", text):
        while index < len(protected_spans) and protected_spans[index][1] <= end.start():
            index += 1
        if index == len(protected_spans) or not protected_spans[index][0] < end.start():
            positions.append(end.start())
    return positions


def _word_counts(text: str, ends: list[int]) -> list[int]:
    """How many words stand before each end."""
    word_counts, total, start = [], 0, 0
    for end in ends:
        total += count_words(text[start:end])
        word_counts.append(total)
        start = end
    return word_counts
