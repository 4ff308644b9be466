"""Alignment of two sequences by their equal elements, in time that is limited for any input."""

from __future__ import annotations

from execplan.core.text.text_lines import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence


MAX_COUNTED_BYTES = 1 << 20
"""Maximum size in bytes of a text whose lines are counted."""


def count_changed_lines(before: bytes, after: bytes) -> tuple[int, int]:
    """Count the lines added and removed; return zeros for binary data or a very long text."""
    old_lines, new_lines = _split_lines(before), _split_lines(after)
    if old_lines is None or new_lines is None:
        return 0, 0
    unchanged = len(align_sequences(old_lines, new_lines))
    return len(new_lines) - unchanged, len(old_lines) - unchanged


def _split_lines(data: bytes) -> list[str] | None:
    """Return the lines with their ends, or None for binary data or a very long text."""
    if len(data) > MAX_COUNTED_BYTES or b"\0" in data:
        return None
    try:
        text = Text.from_bytes(data)
    except UnicodeDecodeError:
        return None
    return [line + end for line, end in zip(text.lines, text.ends, strict=True)]


_MAX_CELLS = 2_000_000
"""Maximum number of pairs to compare individually, about 0.4 s; the rest counts as different."""
_MAX_DEPTH = 40


def align_sequences(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return the index pairs of equal elements, ascending in both sequences.

    Elements that are unique in both come first (patience diff), then the longest common subsequences between them.
    """
    pairs: list[tuple[int, int]] = []
    stack = [(0, len(left), 0, len(right), 0)]
    remaining_cells = _MAX_CELLS
    while stack:
        left_start, left_end, right_start, right_end, depth = stack.pop()
        while left_start < left_end and right_start < right_end and left[left_start] == right[right_start]:
            pairs.append((left_start, right_start))
            left_start, right_start = left_start + 1, right_start + 1
        while left_start < left_end and right_start < right_end and left[left_end - 1] == right[right_end - 1]:
            left_end, right_end = left_end - 1, right_end - 1
            pairs.append((left_end, right_end))
        if left_start == left_end or right_start == right_end:
            continue
        anchors = (
            _unique_anchors(left, right, (left_start, left_end), (right_start, right_end)) if depth < _MAX_DEPTH else []
        )
        for left_index, right_index in anchors:
            stack.append((left_start, left_index, right_start, right_index, depth + 1))
            pairs.append((left_index, right_index))
            left_start, right_start = left_index + 1, right_index + 1
        size = (left_end - left_start) * (right_end - right_start)
        if anchors:
            stack.append((left_start, left_end, right_start, right_end, depth + 1))
        elif size <= remaining_cells:
            remaining_cells -= size
            pairs += [
                (left_start + left_index, right_start + right_index)
                for left_index, right_index in _longest_common(left[left_start:left_end], right[right_start:right_end])
            ]
    return sorted(pairs)


def _unique_anchors(
    left: Sequence[Hashable], right: Sequence[Hashable], left_span: tuple[int, int], right_span: tuple[int, int]
) -> list[tuple[int, int]]:
    """Return the longest ascending sequence of pairs of elements that occur once on each side."""
    from bisect import bisect_left

    left_unique, right_unique = _unique_elements(left, left_span), _unique_elements(right, right_span)
    candidates = [
        (left_index, right_unique[element]) for element, left_index in left_unique.items() if element in right_unique
    ]
    row_ends: list[int] = []  # the lowest last index of a sequence of each length
    row_numbers: list[int] = []  # its index in `candidates`
    predecessors: list[int] = []
    for candidate_number, (_, right_index) in enumerate(candidates):
        length = bisect_left(row_ends, right_index)
        row_ends[length : length + 1] = [right_index]
        row_numbers[length : length + 1] = [candidate_number]
        predecessors.append(row_numbers[length - 1] if length else -1)
    row = []
    number = row_numbers[-1] if row_numbers else -1
    while number >= 0:
        row.append(candidates[number])
        number = predecessors[number]
    return row[::-1]


def _unique_elements(sequence: Sequence[Hashable], span: tuple[int, int]) -> dict[Hashable, int]:
    """Return the elements that occur once within the span, with their indexes."""
    indexes: dict[Hashable, int] = {}
    for index in range(*span):
        indexes[sequence[index]] = -1 if sequence[index] in indexes else index
    return {element: index for element, index in indexes.items() if index >= 0}


def _longest_common(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return the longest common subsequence as index pairs, in time proportional to the product of the lengths.

    Elements of the left side that the right side lacks are left out first, because they cost time and change nothing.
    """
    right_elements = set(right)
    left_indexes = [index for index, element in enumerate(left) if element in right_elements]
    left = [left[index] for index in left_indexes]
    rows = [[0] * (len(right) + 1)]
    for element in reversed(left):
        next_row = rows[-1]
        row = [0]
        for left_index in range(len(right) - 1, -1, -1):
            row.append(
                next_row[len(right) - left_index - 1] + 1
                if element == right[left_index]
                else max(row[-1], next_row[len(right) - left_index])
            )
        rows.append(row)
    rows = [row[::-1] for row in reversed(rows)]
    pairs = []
    left_index = right_index = 0
    while left_index < len(left) and right_index < len(right):
        if left[left_index] == right[right_index]:
            pairs.append((left_indexes[left_index], right_index))
            left_index, right_index = left_index + 1, right_index + 1
        elif rows[left_index + 1][right_index] >= rows[left_index][right_index + 1]:
            left_index += 1
        else:
            right_index += 1
    return pairs
