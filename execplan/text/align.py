"""Two sequences side by side: which of their elements are the same, in time that no input can stretch."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

_CELLS = 2_000_000
"""How many pairs are compared one by one before the rest counts as different: some 0.4 s."""
_DEPTH = 40


def aligned(one: Sequence[Hashable], two: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Places of equal elements, rising in both: what is unique in both first (patience), then the longest row between."""
    pairs: list[tuple[int, int]] = []
    stack = [(0, len(one), 0, len(two), 0)]
    cells = _CELLS
    while stack:
        start, end, begin, stop, depth = stack.pop()
        while start < end and begin < stop and one[start] == two[begin]:
            pairs.append((start, begin))
            start, begin = start + 1, begin + 1
        while start < end and begin < stop and one[end - 1] == two[stop - 1]:
            end, stop = end - 1, stop - 1
            pairs.append((end, stop))
        if start == end or begin == stop:
            continue
        anchors = _unique(one, two, (start, end), (begin, stop)) if depth < _DEPTH else []
        for at, to in anchors:
            stack.append((start, at, begin, to, depth + 1))
            pairs.append((at, to))
            start, begin = at + 1, to + 1
        size = (end - start) * (stop - begin)
        if anchors:
            stack.append((start, end, begin, stop, depth + 1))
        elif size <= cells:
            cells -= size
            pairs += [(start + at, begin + to) for at, to in _longest(one[start:end], two[begin:stop])]
    return sorted(pairs)


def _unique(
    one: Sequence[Hashable], two: Sequence[Hashable], first: tuple[int, int], second: tuple[int, int]
) -> list[tuple[int, int]]:
    """The longest rising row of elements that occur once on either side."""
    from bisect import bisect_left

    here, there = _once(one, first), _once(two, second)
    found = [(at, there[element]) for element, at in here.items() if element in there]
    tops: list[int] = []  # the lowest end of a row of each length
    rows: list[int] = []  # whose place in `found`
    before: list[int] = []
    for number, (_, to) in enumerate(found):
        length = bisect_left(tops, to)
        tops[length : length + 1] = [to]
        rows[length : length + 1] = [number]
        before.append(rows[length - 1] if length else -1)
    row = []
    last = rows[-1] if rows else -1
    while last >= 0:
        row.append(found[last])
        last = before[last]
    return row[::-1]


def _once(sequence: Sequence[Hashable], span: tuple[int, int]) -> dict[Hashable, int]:
    """The elements that occur once within the span, and where."""
    places: dict[Hashable, int] = {}
    for at in range(*span):
        places[sequence[at]] = -1 if sequence[at] in places else at
    return {element: at for element, at in places.items() if at >= 0}


def _longest(one: Sequence[Hashable], two: Sequence[Hashable]) -> list[tuple[int, int]]:
    """The longest row of equal elements, in time of the product of the lengths."""
    rows = [[0] * (len(two) + 1)]
    for element in reversed(one):
        below = rows[-1]
        row = [0]
        for at in range(len(two) - 1, -1, -1):
            row.append(below[len(two) - at - 1] + 1 if element == two[at] else max(row[-1], below[len(two) - at]))
        rows.append(row)
    rows = [row[::-1] for row in reversed(rows)]
    pairs = []
    at = to = 0
    while at < len(one) and to < len(two):
        if one[at] == two[to]:
            pairs.append((at, to))
            at, to = at + 1, to + 1
        elif rows[at + 1][to] >= rows[at][to + 1]:
            at += 1
        else:
            to += 1
    return pairs
