"""A text taken apart, and put together again from some of its parts, with a mark wherever something is left out.

A mark never stands for less than it takes itself: what is shorter than its mark is printed instead.
"""

from __future__ import annotations

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Final

    Count = Callable[[str], int]

REST: Final = 100
"""The rank from which on a part is printed only where there is room for more than a summary."""
_WIDE: Final = 240
"""Characters of a part of a summary; the rest of it is cut."""
_NARROW: Final = 16
"""Characters of the shortest beginning of a part that is worth printing."""
_SPARE: Final = 12
"""Tokens: for fewer no line is cut."""
_SMALL: Final = 20
"""Which part of the room may stay empty so that no line is cut: one in twenty."""
_LESS: Final = 8
"""How many parts less are tried where all do not fit without marks that are too long."""
_CHARS: Final = 64
"""Characters of the longest tokens."""
_USUAL: Final = 3
"""Characters per token in most texts: where the search for what fits begins."""


class Part(NamedTuple):
    """A line, or a sentence of one."""

    text: str
    line: int
    """Which line it is on, from 0."""
    rank: int = REST
    """The parts with the lowest rank come first."""


class Excerpt:
    """Some parts of a text, in their order, as text."""

    def __init__(self, parts: Sequence[Part], count: Count, first: int = 0, noun: str = "line") -> None:
        """`first`: the number of the first line, where lines are to have numbers; `noun`: what a line is."""
        self.parts, self.count, self.first, self.noun = parts, count, first, noun
        full = [1 if part.text.strip() else 0 for part in parts]
        lines = parts[-1].line + 1 if parts else 0
        on = [0] * (lines + 1)
        for part, is_full in zip(parts, full, strict=True):
            on[part.line] |= is_full
        self._lines = _sums(on)
        """How many lines that are not blank are above each line."""
        self._chars = _sums(
            [len(part.text.strip()) + 1 if is_full else 0 for part, is_full in zip(parts, full, strict=True)]
        )
        """How many characters are in front of each part, without the spaces around."""

    def text(self, picked: Sequence[int], wide: int = _WIDE, narrow: tuple[int, int] = (-1, 0)) -> str:
        """These parts, each cut to so many characters, and one of them to fewer: which one, and to how many."""
        shown: list[str] = []
        last, line = -1, -1
        follows = False
        for at in [*self._closed(sorted(picked)), len(self.parts)]:
            here = self.parts[at].line if at < len(self.parts) else len(self._lines) - 1
            if self._gap(last, at, line):
                shown[-1] += " …"
            skipped = self._lines[here] - self._lines[line + 1] if here > line else 0
            if skipped:
                shown.append(self._mark(skipped))
            if at == len(self.parts):
                break
            limit = narrow[1] if at == narrow[0] else wide
            if here == line:
                shown[-1] += f" {cut(self.parts[at].text.strip(), self.count, limit)}"
            else:
                lead = "… " if self._gap(last, at, here) else ""
                words = lead + cut(self.parts[at].text.rstrip(), self.count, limit)
                follows = follows and here == line + 1
                shown.append(self._numbered(words, here, follows=follows) if self.first else words)
                follows = follows or bool(words)
            last, line = at, here
        return "\n".join(shown)

    def _numbered(self, words: str, line: int, *, follows: bool) -> str:
        """A line with its number, which those that directly follow another go without."""
        if not words:
            return words
        return f"{'':>4}  {words}" if follows else f"{self.first + line:>4}  {words}"

    def _mark(self, skipped: int) -> str:
        return f"… {skipped:,} {self.noun}{'s' * (skipped > 1)} left out"

    def _gap(self, last: int, at: int, line: int) -> bool:
        """Whether there is something on a line among the parts between two others."""
        if self._chars[at] == self._chars[last + 1]:
            return False
        near = range(last + 1, at)
        if last >= 0 and self.parts[last].line == line:
            return any([self.parts[each].text.strip() for each in near if self.parts[each].line == line])
        for each in reversed(near):
            if self.parts[each].line != line:
                return False
            if self.parts[each].text.strip():
                return True
        return False

    def _closed(self, picked: Sequence[int], *, exactly: bool = False) -> list[int]:
        """The parts, and the lines for which a mark would be at least as long; `exactly` compares tokens, too."""
        found: list[int] = []
        last = -1
        for at in [*picked, len(self.parts)]:
            if self._chars[at] > self._chars[last + 1]:
                between = self._lines_between(last, at)
                if self._is_short(between, exactly=exactly):
                    found += between
            if at < len(self.parts):
                found.append(at)
            last = at
        return found

    def _lines_between(self, last: int, at: int) -> range:
        """The parts between two others that are on neither's line."""
        start, end = last + 1, at
        while last >= 0 and start < end and self.parts[start].line == self.parts[last].line:
            start += 1
        while at < len(self.parts) and start < end and self.parts[end - 1].line == self.parts[at].line:
            end -= 1
        return range(start, end)

    def _is_short(self, between: range, *, exactly: bool) -> bool:
        """Whether the mark for some lines would be at least as long as they are."""
        chars = self._chars[between.stop] - self._chars[between.start]
        if not chars:
            return False
        lines = self._lines[self.parts[between[-1]].line + 1] - self._lines[self.parts[between[0]].line]
        mark = self._mark(lines)
        if chars - 1 <= len(mark):
            return True
        if not exactly or chars > _CHARS * len(mark):
            return False
        return self.count("\n".join([self.parts[at].text for at in between])) <= self.count(mark)

    def closed(self, picked: Sequence[int]) -> list[int]:
        """The parts, and those that take no more tokens than the mark for them."""
        return self._closed(sorted(picked), exactly=True)


def _sums(numbers: Sequence[int]) -> list[int]:
    """The sums of the first none, one, two, … of some numbers."""
    found = [0]
    for each in numbers:
        found.append(found[-1] + each)
    return found


def cut(words: str, count: Count, wide: int = _WIDE) -> str:
    """The beginning of words that are too long, with how much is left out; all of them where that is no shorter."""
    if len(words) <= wide:
        return words
    head = words[:wide].rstrip()
    mark = f" … {len(words) - len(head):,} characters left out"
    rest = words[len(head) :]
    if len(rest) <= len(mark) or (len(rest) <= _CHARS * len(mark) and count(rest) <= count(mark)):
        return words
    return head + mark


def pick(excerpt: Excerpt, tokens: int, *, rest: bool = False, wide: int = _WIDE) -> str | None:
    """As much of a text as so many tokens hold, by rank; None where nothing fits, or where nothing is telling.

    Without `rest` only what tells most about the text is printed. With it, all else follows, until the room is full.
    """
    parts, count = excerpt.parts, excerpt.count
    ranked = [at for at in range(len(parts)) if rest or parts[at].rank < REST]
    ranked.sort(key=lambda at: (parts[at].rank, at))
    if not ranked:
        return None

    def fits(size: int) -> bool:
        return count(excerpt.text(ranked[:size], wide)) <= tokens

    size = _largest(len(ranked), _guess([parts[at] for at in ranked], tokens * _USUAL, wide), fits)
    if rest and size == len(ranked):
        longest = max([len(part.text) for part in parts])
        more = _largest(longest - wide, tokens, lambda more: count(excerpt.text(ranked, wide + more)) <= tokens)
        return excerpt.text(ranked, wide + more)
    chosen = _without_long_marks(excerpt, ranked, size, tokens, wide)
    if rest and (fuller := _with_a_part_of_the_next(excerpt, ranked, chosen, tokens, wide)) is not None:
        return fuller
    return excerpt.text(chosen, wide) if chosen else None


def _without_long_marks(excerpt: Excerpt, ranked: Sequence[int], size: int, tokens: int, wide: int) -> list[int]:
    """The first parts, and all that takes no more tokens than the mark for it; a few less where that does not fit."""
    for less in range(min(size, _LESS)):
        chosen = excerpt.closed(ranked[: size - less])
        if excerpt.count(excerpt.text(chosen, wide)) <= tokens:
            return chosen
    return list(ranked[:size])


def _with_a_part_of_the_next(
    excerpt: Excerpt, ranked: Sequence[int], chosen: Sequence[int], tokens: int, wide: int
) -> str | None:
    """The chosen parts and the beginning of the next one, if there is room that is worth it."""
    taken = set(chosen)
    at = next((each for each in ranked if each not in taken and excerpt.parts[each].text.strip()), -1)
    room = tokens - (excerpt.count(excerpt.text(chosen, wide)) if chosen else 0)
    if at < 0 or room < max(_SPARE, tokens // _SMALL):
        return None

    closed = excerpt.closed([*chosen, at])

    def text(more: int) -> str:
        return excerpt.text(closed, wide, (at, _NARROW + more))

    longest = min(len(excerpt.parts[at].text), wide) - _NARROW
    more = _largest(longest, tokens, lambda more: excerpt.count(text(more)) <= tokens)
    return text(more) if more > 0 else None


def _guess(parts: Sequence[Part], chars: int, wide: int) -> int:
    """How many parts have so many characters."""
    size = 0
    for at, part in enumerate(parts):
        size += min(len(part.text), wide) + 1
        if size > chars:
            return at
    return len(parts)


def _largest(most: int, guess: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `most` that fits, 0 where none does; searched for from a guess on."""
    low, high = 0, most
    at, step = min(max(guess, 1), most), max(most // 32, 1)
    while low < high and at > low:
        if fits(at):
            low = at
            at = min(at + step, high)
        else:
            high = at - 1
            at = max(at - step, low)
        step *= 2
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low
