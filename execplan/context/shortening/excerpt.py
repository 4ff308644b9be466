"""A text taken apart, and put together again from some of its parts, with a mark wherever something is left out.

A mark never stands for less than it takes itself: what is shorter than its mark is printed instead.
"""

from __future__ import annotations

from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Final

    CountTokens = Callable[[str], int]

REST_RANK: Final = 100
"""The rank from which on a part is printed only where there is room for more than a summary."""
_MAX_PART_CHARS: Final = 240
"""Characters of a part of a summary; the rest of it is cut."""
_MIN_PART_CHARS: Final = 16
"""Characters of the shortest beginning of a part that is worth printing."""
_MIN_SPARE_TOKENS: Final = 12
"""Tokens: for fewer no line is cut."""
_SPARE_DIVISOR: Final = 20
"""Which part of the room may stay empty so that no line is cut: one in twenty."""
_MAX_DROPPED_PARTS: Final = 8
"""How many parts less are tried where all do not fit without marks that are too long."""
_MAX_TOKEN_CHARS: Final = 64
"""Characters of the longest tokens."""
_CHARS_PER_TOKEN: Final = 3
"""Characters per token in most texts: where the search for what fits begins."""


class TextPart(NamedTuple):
    """A line, or a sentence of one."""

    text: str
    line: int
    """Which line it is on, from 0."""
    rank: int = REST_RANK
    """The parts with the lowest rank come first."""


class Excerpt:
    """Some parts of a text, in their order, as text."""

    def __init__(
        self, parts: Sequence[TextPart], count_tokens: CountTokens, first_line: int = 0, noun: str = "line"
    ) -> None:
        """`first_line`: the number of the first line, where lines are to have numbers; `noun`: what a line is."""
        self.parts, self.count_tokens, self.first_line, self.noun = parts, count_tokens, first_line, noun
        is_nonblank = [1 if part.text.strip() else 0 for part in parts]
        line_count = parts[-1].line + 1 if parts else 0
        nonblank_lines = [0] * (line_count + 1)
        for part, nonblank in zip(parts, is_nonblank, strict=True):
            nonblank_lines[part.line] |= nonblank
        self._nonblank_lines_before = _prefix_sums(nonblank_lines)
        """How many lines that are not blank are above each line."""
        self._chars_before = _prefix_sums(
            [len(part.text.strip()) + 1 if nonblank else 0 for part, nonblank in zip(parts, is_nonblank, strict=True)]
        )
        """How many characters are in front of each part, without the spaces around."""

    def render(
        self, selected: Sequence[int], max_chars: int = _MAX_PART_CHARS, shorter_part: tuple[int, int] = (-1, 0)
    ) -> str:
        """These parts, each cut to so many characters, and one of them to fewer: which one, and to how many."""
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
            char_limit = shorter_part[1] if index == shorter_part[0] else max_chars
            if current_line == previous_line:
                output_lines[-1] += f" {truncate_text(self.parts[index].text.strip(), self.count_tokens, char_limit)}"
            else:
                prefix = "… " if self._has_gap(previous, index, current_line) else ""
                part_text = prefix + truncate_text(self.parts[index].text.rstrip(), self.count_tokens, char_limit)
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
        """A line with its number, which those that directly follow another go without."""
        if not text:
            return text
        return f"{'':>4}  {text}" if is_consecutive else f"{self.first_line + line:>4}  {text}"

    def _omission_marker(self, skipped_lines: int) -> str:
        return f"… {skipped_lines:,} {self.noun}{'s' * (skipped_lines > 1)} left out"

    def _has_gap(self, previous: int, current: int, line: int) -> bool:
        """Whether there is something on a line among the parts between two others."""
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
        """The parts, and the lines for which a mark would be at least as long; `compare_tokens` compares tokens, too."""
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
        """The parts between two others that are on neither's line."""
        start, end = previous + 1, current
        while previous >= 0 and start < end and self.parts[start].line == self.parts[previous].line:
            start += 1
        while current < len(self.parts) and start < end and self.parts[end - 1].line == self.parts[current].line:
            end -= 1
        return range(start, end)

    def _is_marker_longer(self, between: range, *, compare_tokens: bool) -> bool:
        """Whether the mark for some lines would be at least as long as they are."""
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
        """The parts, and those that take no more tokens than the mark for them."""
        return self._close_gaps(sorted(selected), compare_tokens=True)


def _prefix_sums(numbers: Sequence[int]) -> list[int]:
    """The sums of the first none, one, two, … of some numbers."""
    sums = [0]
    for number in numbers:
        sums.append(sums[-1] + number)
    return sums


def truncate_text(text: str, count_tokens: CountTokens, max_chars: int = _MAX_PART_CHARS) -> str:
    """The beginning of words that are too long, with how much is left out; all of them where that is no shorter."""
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
    """As much of a text as so many tokens hold, by rank; None where nothing fits, or where nothing is telling.

    Without `include_rest` only what tells most about the text is printed. With it, all else follows, until the room is full.
    """
    parts, count_tokens = excerpt.parts, excerpt.count_tokens
    ranked = [index for index in range(len(parts)) if include_rest or parts[index].rank < REST_RANK]
    ranked.sort(key=lambda index: (parts[index].rank, index))
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
    if (
        include_rest
        and (extended := _extend_with_next_part(excerpt, ranked, selected, max_tokens, max_chars)) is not None
    ):
        return extended
    return excerpt.render(selected, max_chars) if selected else None


def _close_long_gaps(
    excerpt: Excerpt, ranked: Sequence[int], part_count: int, max_tokens: int, max_chars: int
) -> list[int]:
    """The first parts, and all that takes no more tokens than the mark for it; a few less where that does not fit."""
    for dropped in range(min(part_count, _MAX_DROPPED_PARTS)):
        selected = excerpt.close_gaps(ranked[: part_count - dropped])
        if excerpt.count_tokens(excerpt.render(selected, max_chars)) <= max_tokens:
            return selected
    return list(ranked[:part_count])


def _extend_with_next_part(
    excerpt: Excerpt, ranked: Sequence[int], selected: Sequence[int], max_tokens: int, max_chars: int
) -> str | None:
    """The chosen parts and the beginning of the next one, if there is room that is worth it."""
    selected_set = set(selected)
    next_index = next(
        (index for index in ranked if index not in selected_set and excerpt.parts[index].text.strip()), -1
    )
    spare_tokens = max_tokens - (excerpt.count_tokens(excerpt.render(selected, max_chars)) if selected else 0)
    if next_index < 0 or spare_tokens < max(_MIN_SPARE_TOKENS, max_tokens // _SPARE_DIVISOR):
        return None

    closed_parts = excerpt.close_gaps([*selected, next_index])

    def render(extra_chars: int) -> str:
        return excerpt.render(closed_parts, max_chars, (next_index, _MIN_PART_CHARS + extra_chars))

    max_extra_chars = min(len(excerpt.parts[next_index].text), max_chars) - _MIN_PART_CHARS
    extra_chars = _largest_fitting(
        max_extra_chars, max_tokens, lambda extra_chars: excerpt.count_tokens(render(extra_chars)) <= max_tokens
    )
    return render(extra_chars) if extra_chars > 0 else None


def _guess_part_count(parts: Sequence[TextPart], char_budget: int, max_chars: int) -> int:
    """How many parts have so many characters."""
    total_chars = 0
    for index, part in enumerate(parts):
        total_chars += min(len(part.text), max_chars) + 1
        if total_chars > char_budget:
            return index
    return len(parts)


def _largest_fitting(upper_bound: int, guess: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `upper_bound` that fits, 0 where none does; searched for from a guess on."""
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
