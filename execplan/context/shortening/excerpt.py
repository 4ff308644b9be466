"""Excerpt of a text: selected parts in their order, with a marker wherever something is left out.

A marker never replaces less than its own length; text shorter than its marker is printed instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from execplan.core.named_tuple import NamedTuple

CountTokens = Callable[[str], int]

REST_RANK: Final = 100
"""Rank from which a part is printed only if there is room for more than a summary."""
_MAX_PART_CHARS: Final = 240
"""Maximum characters of a part in a summary; the rest is cut."""
_MAX_DROPPED_PARTS: Final = 8
"""Number of parts to drop at most when the gaps with overlong markers do not fit."""
_MAX_ATTEMPTS: Final = 8
"""Maximum number of groups that are tried after the first one that does not fit."""
_MIN_FILLED: Final = 0.9
"""Part of the room below which an incomplete group is better than none."""
_MAX_TOKEN_CHARS: Final = 64
"""Maximum characters of a token."""
_CHARS_PER_TOKEN: Final = 3
"""Characters per token in most texts, the starting point of the search for what fits."""


class TextPart(NamedTuple):
    """A line, or a sentence of a line."""

    text: str
    line: int
    """Index of the line that contains the part."""
    rank: int = REST_RANK
    """Rank of the part; the lowest rank comes first."""


class Excerpt:
    """Renderer for some parts of a text, in their order."""

    def __init__(
        self,
        parts: Sequence[TextPart],
        count_tokens: CountTokens,
        first_line: int = 0,
        noun: str = "line",
        groups: Sequence[Sequence[int]] = (),
    ) -> None:
        """Index the parts; `first_line` is the first line number, or 0 for unnumbered lines; `noun` names a line.

        `groups` are the parts that are printed together, such as those of a function, the most important group first.
        """
        self.parts, self.count_tokens, self.first_line, self.noun = parts, count_tokens, first_line, noun
        self.groups = groups
        is_nonblank = [1 if part.text.strip() else 0 for part in parts]
        line_count = parts[-1].line + 1 if parts else 0
        nonblank_lines = [0] * (line_count + 1)
        for part, nonblank in zip(parts, is_nonblank, strict=True):
            nonblank_lines[part.line] |= nonblank
        self._nonblank_lines_before = _prefix_sums(nonblank_lines)
        """Number of nonblank lines before each line."""
        self._chars_before = _prefix_sums(
            [len(part.text.strip()) + 1 if nonblank else 0 for part, nonblank in zip(parts, is_nonblank, strict=True)]
        )
        """Number of characters before each part, without surrounding whitespace."""

    def render(self, selected: Sequence[int], max_chars: int = _MAX_PART_CHARS) -> str:
        """Render the selected parts, each cut to `max_chars`."""
        output_lines: list[str] = []
        previous, previous_line = -1, -1
        is_consecutive = False
        for index in [*self._close_gaps(sorted(selected)), len(self.parts)]:
            current_line = self.parts[index].line if index < len(self.parts) else len(self._nonblank_lines_before) - 1
            if self._has_gap(previous, index, previous_line):
                output_lines[-1] += " …"
            skipped_lines = (
                self._nonblank_lines_before[current_line] - self._nonblank_lines_before[previous_line + 1]
                if current_line > previous_line
                else 0
            )
            if skipped_lines:
                output_lines.append(self._omission_marker(skipped_lines))
            if index == len(self.parts):
                break
            if current_line == previous_line:
                output_lines[-1] += f" {truncate_text(self.parts[index].text.strip(), self.count_tokens, max_chars)}"
            else:
                prefix = "… " if self._has_gap(previous, index, current_line) else ""
                part_text = prefix + truncate_text(self.parts[index].text.rstrip(), self.count_tokens, max_chars)
                is_consecutive = is_consecutive and current_line == previous_line + 1
                output_lines.append(
                    self._number_line(part_text, current_line, is_consecutive=is_consecutive)
                    if self.first_line
                    else part_text
                )
                is_consecutive = is_consecutive or bool(part_text)
            previous, previous_line = index, current_line
        return "\n".join(output_lines)

    def _number_line(self, text: str, line: int, *, is_consecutive: bool) -> str:
        """Put the line number before a line, except for one that directly follows another."""
        if not text:
            return text
        return f"{'':>4}  {text}" if is_consecutive else f"{self.first_line + line:>4}  {text}"

    def _omission_marker(self, skipped_lines: int) -> str:
        if self.first_line:  # the number of the next line says how many
            return "…"
        return f"… {skipped_lines:,} {self.noun}{'s' * (skipped_lines > 1)} left out"

    def _has_gap(self, previous: int, current: int, line: int) -> bool:
        """Return whether a line has text between two selected parts."""
        if self._chars_before[current] == self._chars_before[previous + 1]:
            return False
        between = range(previous + 1, current)
        if previous >= 0 and self.parts[previous].line == line:
            return any([self.parts[index].text.strip() for index in between if self.parts[index].line == line])
        for index in reversed(between):
            if self.parts[index].line != line:
                return False
            if self.parts[index].text.strip():
                return True
        return False

    def _close_gaps(self, selected: Sequence[int], *, compare_tokens: bool = False) -> list[int]:
        """Add the lines whose marker would be at least as long as they are; `compare_tokens` also compares tokens."""
        closed_parts: list[int] = []
        previous = -1
        for index in [*selected, len(self.parts)]:
            if self._chars_before[index] > self._chars_before[previous + 1]:
                between = self._lines_between(previous, index)
                if self._is_marker_longer(between, compare_tokens=compare_tokens):
                    closed_parts += between
            if index < len(self.parts):
                closed_parts.append(index)
            previous = index
        return closed_parts

    def _lines_between(self, previous: int, current: int) -> range:
        """Return the parts between two others that are on neither of their lines."""
        start, end = previous + 1, current
        while previous >= 0 and start < end and self.parts[start].line == self.parts[previous].line:
            start += 1
        while current < len(self.parts) and start < end and self.parts[end - 1].line == self.parts[current].line:
            end -= 1
        return range(start, end)

    def _is_marker_longer(self, between: range, *, compare_tokens: bool) -> bool:
        """Return whether the marker for some lines would be at least as long as the lines."""
        char_count = self._chars_before[between.stop] - self._chars_before[between.start]
        if not char_count:
            return False
        line_count = (
            self._nonblank_lines_before[self.parts[between[-1]].line + 1]
            - self._nonblank_lines_before[self.parts[between[0]].line]
        )
        marker = self._omission_marker(line_count)
        if char_count - 1 <= len(marker):
            return True
        if not compare_tokens or char_count > _MAX_TOKEN_CHARS * len(marker):
            return False
        return self.count_tokens("\n".join([self.parts[index].text for index in between])) <= self.count_tokens(marker)

    def close_gaps(self, selected: Sequence[int]) -> list[int]:
        """Add the parts that take no more tokens than their marker."""
        return self._close_gaps(sorted(selected), compare_tokens=True)


def _prefix_sums(numbers: Sequence[int]) -> list[int]:
    """Return the sums of the first 0, 1, 2, … numbers."""
    sums = [0]
    for number in numbers:
        sums.append(sums[-1] + number)
    return sums


def truncate_text(text: str, count_tokens: CountTokens, max_chars: int = _MAX_PART_CHARS) -> str:
    """Cut a long text and add how much is left out; return all of it if that is not longer."""
    if len(text) <= max_chars:
        return text
    head = text[:max_chars].rstrip()
    marker = f" … {len(text) - len(head):,} characters left out"
    tail = text[len(head) :]
    if len(tail) <= len(marker) or (
        len(tail) <= _MAX_TOKEN_CHARS * len(marker) and count_tokens(tail) <= count_tokens(marker)
    ):
        return text
    return head + marker


def render_excerpt(
    excerpt: Excerpt, max_tokens: int, *, include_rest: bool = False, max_chars: int = _MAX_PART_CHARS
) -> str | None:
    """Render as much of a text as fits, by rank; return None if nothing fits or no part is informative.

    Without `include_rest`, only the most informative parts are printed. With it, the rest follows until the room is
    full.
    """
    parts, count_tokens = excerpt.parts, excerpt.count_tokens
    selected_groups: list[int] = []
    if excerpt.groups:
        selected_groups = _select_groups(excerpt, max_tokens, max_chars)
        is_filled = count_tokens(excerpt.render(selected_groups, max_chars)) >= _MIN_FILLED * max_tokens
        if is_filled or not include_rest:
            return excerpt.render(selected_groups, max_chars) if selected_groups else None
    ranked = [index for index in range(len(parts)) if include_rest or parts[index].rank < REST_RANK]
    first = frozenset(selected_groups)
    ranked.sort(key=lambda index: (index not in first, parts[index].rank, index))
    if not ranked:
        return None

    def fits(part_count: int) -> bool:
        return count_tokens(excerpt.render(ranked[:part_count], max_chars)) <= max_tokens

    part_count = _largest_fitting(
        len(ranked),
        _guess_part_count([parts[index] for index in ranked], max_tokens * _CHARS_PER_TOKEN, max_chars),
        fits,
    )
    if include_rest and part_count == len(ranked):
        longest_part = max([len(part.text) for part in parts])
        extra_chars = _largest_fitting(
            longest_part - max_chars,
            max_tokens,
            lambda extra_chars: count_tokens(excerpt.render(ranked, max_chars + extra_chars)) <= max_tokens,
        )
        return excerpt.render(ranked, max_chars + extra_chars)
    selected = _close_long_gaps(excerpt, ranked, part_count, max_tokens, max_chars)
    return excerpt.render(selected, max_chars) if selected else None


def _select_groups(excerpt: Excerpt, max_tokens: int, max_chars: int) -> list[int]:
    """Return the parts of the first groups that fit, and of later ones that still do."""

    def fits(selected: Iterable[int]) -> bool:
        return excerpt.count_tokens(excerpt.render(sorted(selected), max_chars)) <= max_tokens

    def first_groups(count: int) -> set[int]:
        return {index for group in excerpt.groups[:count] for index in group}

    group_count = _largest_fitting(len(excerpt.groups), 1, lambda count: fits(first_groups(count)))
    selected = first_groups(group_count)
    for group in excerpt.groups[group_count + 1 : group_count + 1 + _MAX_ATTEMPTS]:
        if fits(selected.union(group)):
            selected.update(group)
    return sorted(selected) if fits(selected) else []


def _close_long_gaps(
    excerpt: Excerpt, ranked: Sequence[int], part_count: int, max_tokens: int, max_chars: int
) -> list[int]:
    """Return the first parts, plus all parts that take no more tokens than their marker.

    Drop some parts if that does not fit.
    """
    for dropped in range(min(part_count, _MAX_DROPPED_PARTS)):
        selected = excerpt.close_gaps(ranked[: part_count - dropped])
        if excerpt.count_tokens(excerpt.render(selected, max_chars)) <= max_tokens:
            return selected
    return list(ranked[:part_count])


def _guess_part_count(parts: Sequence[TextPart], char_budget: int, max_chars: int) -> int:
    """Estimate how many parts fit into a number of characters."""
    total_chars = 0
    for index, part in enumerate(parts):
        total_chars += min(len(part.text), max_chars) + 1
        if total_chars > char_budget:
            return index
    return len(parts)


def _largest_fitting(upper_bound: int, guess: int, fits: Callable[[int], bool]) -> int:
    """Search from a guess for the largest number up to `upper_bound` that fits; return 0 if none does."""
    low, high = 0, upper_bound
    candidate, step = min(max(guess, 1), upper_bound), max(upper_bound // 32, 1)
    while low < high and candidate > low:
        if fits(candidate):
            low = candidate
            candidate = min(candidate + step, high)
        else:
            high = candidate - 1
            candidate = max(candidate - step, low)
        step *= 2
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low
