"""Sentences: where they end, how long they are, and how one that is too long is cut; never within a code span or a link."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

CUT = " …"
"""What stands where a sentence was cut."""
LONGEST = 40
"""Characters that count as one word where no space stands between them: a path of a hundred counts as three."""

_WIDE = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
"""Letters of scripts that put no spaces between words: each counts as a word."""
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]*_]*+(?=\s)|[。！？]+[”’」』）]*")
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|no|fig|dr|mr|ms|st|approx|incl|resp|[A-Z])\.$", re.IGNORECASE
)
_CLAUSE = re.compile(r"[,;:—–，；：、]$")
_TICKS = re.compile(r"`+")
_MARKED = re.compile(
    r"!?\[[^\[\]]*\](?:\([^()\s]*(?:\([^()\s]*\))?(?:\s+\"[^\"]*\")?\)|\[[^\[\]]*\])"
    r"|\*\*(?=\S)[^*]+\*\*|(?<!\w)__(?=\S)[^_]+__(?!\w)|(?<![\w*])\*(?=[^\s*])[^*]+\*|(?<!\w)_(?=[^\s_])[^_]+_(?!\w)"
    r"|~~(?=\S)[^~]+~~"
)


def count(text: str) -> int:
    """How many words a text has: what stands between spaces and has a letter or a digit."""
    total = 0
    if not text.isascii():
        text, total = _WIDE.subn(" ", text)
    for run in text.split():
        if run[0].isalnum() or run[-1].isalnum() or says(run):
            total += -(-len(run) // LONGEST)
    return total


def says(words: str) -> bool:
    """Whether there is a letter or a digit in it."""
    return any(map(str.isalnum, words))


def sentences(words: str) -> list[str]:
    """The sentences of a paragraph, in order."""
    whole = spans(words)
    found, begin, at = [], 0, 0
    for end in _END.finditer(words):
        while at < len(whole) and whole[at][1] < end.end():
            at += 1
        inside = at < len(whole) and whole[at][0] < end.end() < whole[at][1]
        if not inside and _ends(words[begin : end.end()], words[end.end() : end.end() + 3].lstrip()):
            found.append(words[begin : end.end()].strip())
            begin = end.end()
    found.append(words[begin:].strip())
    return [each for each in found if says(each)]


def _ends(before: str, behind: str) -> bool:
    """Whether a sentence ends between the two."""
    if before[-1] in "。！？”’」』）":
        return True
    if before.strip("( .").isdigit():
        return False  # the number of a list
    return not behind[:1].islower() and not _ABBREVIATED.search(before[-10:])


def spans(words: str) -> list[tuple[int, int]]:
    """Where code spans, links and what is emphasised begin and end, in order, those that touch others as one."""
    codes = list(_codes(words))
    masked = list(words)
    for start, end in codes:
        masked[start:end] = "x" * (end - start)
    found = sorted([*codes, *[each.span() for each in _MARKED.finditer("".join(masked))]])
    merged: list[tuple[int, int]] = []
    for start, end in found:
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _codes(words: str) -> Iterator[tuple[int, int]]:
    """Where code spans begin and end: with as many backticks."""
    runs = [each.span() for each in _TICKS.finditer(words)]
    later: dict[int, list[int]] = {}
    for at in range(len(runs) - 1, -1, -1):
        later.setdefault(runs[at][1] - runs[at][0], []).append(at)
    at = 0
    while at < len(runs):
        same = later[runs[at][1] - runs[at][0]]
        while same and same[-1] <= at:
            same.pop()
        if same:
            yield runs[at][0], runs[same[-1]][1]
            at = same[-1]
        at += 1


def gist(words: str, most: int) -> str:
    """The first sentences that have together at most so many words; the first cut short where it alone has more."""
    taken, left = [], most
    for sentence in sentences(words):
        size = count(sentence)
        if size > left:
            break
        taken.append(sentence)
        left -= size
    return " ".join(taken) if taken else shortened(words, most)


def shortened(words: str, most: int) -> str:
    """The words up to a clause's end, else a word's, and an ellipsis; nothing where all that fits is the half of a span."""
    if count(words) <= most:
        return words
    ends = _breaks(words)
    sizes = _sizes(words, ends)
    fitting = [end for end, size in zip(ends, sizes, strict=True) if size <= most]
    clauses = [
        end
        for end, size in zip(ends, sizes, strict=True)
        if most < 2 * size <= 2 * most and _CLAUSE.search(words[:end])
    ]
    end = clauses[-1] if clauses else fitting[-1] if fitting else 0
    return words[:end].rstrip(" ,;:—–，；：、(") + CUT if end else ""


def _breaks(words: str) -> list[int]:
    """Where words end outside of spans."""
    found, at = [], 0
    whole = spans(words)
    for end in re.finditer(r"(?<=\S)(?=\s)|(?<=[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff，；：、])", words):
        while at < len(whole) and whole[at][1] <= end.start():
            at += 1
        if at == len(whole) or not whole[at][0] < end.start():
            found.append(end.start())
    return found


def _sizes(words: str, ends: list[int]) -> list[int]:
    """How many words stand before each end."""
    sizes, total, begin = [], 0, 0
    for end in ends:
        total += count(words[begin:end])
        sizes.append(total)
        begin = end
    return sizes
