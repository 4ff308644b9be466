"""Which units are printed whole, which shortened, and which not at all, so that all of it fits.

What is pinned gets its floor first, then fair parts of the room. The rest comes by its priority for each token that it takes,
large units as summaries; what room is left then makes these whole, or longer, until the room is full.
"""

from __future__ import annotations

from execplan.context.printing import NOTHING, Item, Print, Printer
from execplan.context.reason import reason
from execplan.context.shorten import summarizer, truncate
from execplan.context.unit import FILE, KEEP, PLAN, PRUNE, SUMMARIZE, TRUNCATE
from execplan.context.words import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

    from execplan.context.budget import Allocation
    from execplan.context.render import Form
    from execplan.context.score import Scored
    from execplan.context.shorten import Summarizer
    from execplan.context.tokens import Counter
    from execplan.context.unit import Pack, Unit

THRESHOLD: Final = 0.15
"""The least relevance of what is not left out, room or not."""
_PINNED: Final = 0.7
"""The part of the room that pinned units may take while others want some."""
_SUMMARY: Final = 160
"""The least tokens that a large unit is first offered, so that several find room."""
_PARTS: Final = 14
"""Into how many such offers a larger room is split."""
_STRONG: Final = 0.5
"""The relevance of what comes before all others, such as a file that the task names."""
_NAMED: Final = 0.75
"""The part of the room that is left which this may take."""
_FILES: Final = 0.4
"""The part of the room that is left then which files may take before all else competes for it: a plan is long in words."""
_SMALLEST: Final = 64
"""Tokens: a summary in less room than this says nothing."""
_LITTLE: Final = 8
"""Tokens: for less more than this nothing is shortened again."""
_TRIES: Final = 8
"""How often a unit is shortened until what is around it fits, too."""


def choose(
    pack: Pack,
    scored: Sequence[Scored],
    allocation: Allocation,
    counter: Counter,
    form: Form,
    threshold: float = THRESHOLD,
) -> list[Item]:
    """What becomes of each unit, in their order.

    Raises ExecplanError for two units with one id, and for a budget in which what is never left out has no room.
    """
    desk = _Desk(pack, scored, counter, form)
    floors = desk.floors(allocation)
    room = allocation.context - desk.frame
    while True:  # tokens of a whole are not always those of its parts
        prints = desk.fill(floors, room, threshold)
        over = desk.count(prints) - allocation.context
        if over <= 0:
            return desk.items(prints, threshold)
        room -= over


class _Desk(Printer):
    """All units, and those that were shortened."""

    def __init__(self, pack: Pack, scored: Sequence[Scored], counter: Counter, form: Form) -> None:
        super().__init__(pack, scored, counter, form)
        self.named = {path for each in scored if each.unit.type in PLAN for path in each.unit.references}
        self.words = frozenset(words(pack.task) or words(pack.purpose))
        self.shorter: dict[tuple[str, int, bool], Print | None] = {}
        self.summarizers: dict[str, Summarizer] = {}

    def _may_be_in(self, each: Scored, threshold: float) -> bool:
        """Whether a unit is relevant enough; a part of the plan, and a file that the plan names, always is, if there is room."""
        return each.relevance >= threshold or each.unit.type in PLAN or each.unit.path in self.named

    def fill(self, floors: dict[str, Print], room: int, threshold: float) -> dict[str, Print]:
        """What is printed of each unit in so much room; what is not named is pruned."""
        prints = dict(floors)
        left = room - sum([each.tokens for each in floors.values()])
        pinned = [each for each in self.scored if each.unit.pinned]
        others = [each for each in self.scored if not each.unit.pinned and self._may_be_in(each, threshold)]
        wanted = sum([self.whole[each.unit.id].tokens for each in others])
        left -= self._share(prints, pinned, left - min(wanted, int(room * (1 - _PINNED))))
        left -= self._share(prints, [each for each in others if each.relevance >= _STRONG], int(left * _NAMED))
        files = sorted(
            [each for each in others if each.unit.type == FILE], key=lambda each: (-each.relevance, each.unit.id)
        )
        left -= self._first(prints, files, int(left * _FILES), max(_SMALLEST, room // _PARTS))
        size = max(_SUMMARY, room // _PARTS)
        others.sort(key=lambda each: (-(each.relevance**2) / min(self.whole[each.unit.id].tokens, size), each.unit.id))
        for each in others:
            if each.unit.id not in prints:
                left -= self._print_more(prints, each.unit, min(size, left))
        first = [*pinned, *sorted(others, key=lambda each: (-each.relevance, each.unit.id))]
        for rest in (False, True):  # first what tells most about every unit, then all else of them
            for each in first:
                left -= self._print_more(prints, each.unit, left, rest=rest)
        return prints

    def _share(self, prints: dict[str, Print], units: Sequence[Scored], left: int) -> int:
        """Print more of units, the shortest first and each with a fair part of what is left; tells what it took."""
        took = 0
        for at, each in enumerate(sorted(units, key=lambda each: (self.whole[each.unit.id].tokens, each.unit.id))):
            took += self._print_more(prints, each.unit, (left - took) // (len(units) - at))
        return took

    def _first(self, prints: dict[str, Print], units: Sequence[Scored], most: int, size: int) -> int:
        """Print something of the first units, each at most so large, until a part of the room is taken; tells what it took."""
        took = 0
        for each in units:
            if each.unit.id not in prints and most - took >= _SMALLEST:
                took += self._print_more(prints, each.unit, min(size, most - took))
        return took

    def _print_more(self, prints: dict[str, Print], unit: Unit, more: int, *, rest: bool = False) -> int:
        """Print more of a unit, by at most so many tokens; returns how many these are."""
        had = prints.get(unit.id, NOTHING)
        made = self._at_most(unit, had.tokens + more, rest=rest) if had.action != KEEP and more >= _LITTLE else None
        if made is None or made.tokens <= had.tokens:
            return 0
        prints[unit.id] = made
        return made.tokens - had.tokens

    def _at_most(self, unit: Unit, tokens: int, *, rest: bool) -> Print | None:
        """The most of a unit that takes so many tokens: all of it, a summary, or its beginning where there is no summary.

        A summary holds what tells most about the unit, and with `rest` as much of all else as there is room for.
        """
        if self.whole[unit.id].tokens <= tokens:
            return self.whole[unit.id]
        if tokens < _SMALLEST:
            return None
        if (unit.id, tokens, rest) not in self.shorter:
            self.shorter[unit.id, tokens, rest] = self._shorter(unit, tokens, rest=rest)
        return self.shorter[unit.id, tokens, rest]

    def _shorter(self, unit: Unit, tokens: int, *, rest: bool) -> Print | None:
        if unit.id not in self.summarizers:
            self.summarizers[unit.id] = summarizer(unit, self.words, self.counter)
        most = tokens - self.print(unit, SUMMARIZE, "").tokens
        for attempt in range(_TRIES):  # a text and what is around it may take more tokens than each of them alone
            if most <= 0:
                return None
            text = self.summarizers[unit.id](most, rest)
            action = SUMMARIZE if text is not None else TRUNCATE
            made = self.print(unit, action, truncate(unit, most, self.counter) if text is None else text)
            if made.tokens <= tokens:
                return made if made.tokens < self.whole[unit.id].tokens else None
            most -= made.tokens - tokens + (1 << attempt) - 1
        return None

    def items(self, prints: dict[str, Print], threshold: float) -> list[Item]:
        """The units with what became of them, and why."""
        found = []
        for each in self.scored:
            made, whole = prints.get(each.unit.id, NOTHING), self.whole[each.unit.id].tokens
            filtered = made.action == PRUNE and not self._may_be_in(each, threshold)
            why = reason(each, made.action, filtered=filtered)
            found.append(Item(each.unit, made.action, made.text, made.tokens, whole, each.priority, why, filtered))
        return found
