"""Which units are printed whole, which shortened, and which not at all, so that all of it fits.

What is pinned gets its floor first, then fair parts of the room. The rest comes by its priority for each token that it takes,
large units as summaries; what room is left then makes these longer, or whole.
"""

from __future__ import annotations

from execplan.context.budget import least
from execplan.context.reason import reason
from execplan.context.render import visible
from execplan.context.shorten import summarize, truncate
from execplan.context.unit import FILE, KEEP, PLAN, PRUNE, SUMMARIZE, TRUNCATE
from execplan.context.words import words
from execplan.errors import INPUT, ExecplanError
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

    from execplan.context.budget import Allocation
    from execplan.context.render import Form
    from execplan.context.score import Scored
    from execplan.context.tokens import Counter
    from execplan.context.unit import Pack, Unit

THRESHOLD: Final = 0.15
"""The least relevance of what is not left out, room or not."""
FLOOR: Final = 24
"""Tokens of its content that a pinned unit has at least."""
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
"""Tokens: for less more than this nothing is shortened anew."""


class Item(NamedTuple):
    """A unit, and what becomes of it."""

    unit: Unit
    action: str
    text: str
    """What is printed of its content; nothing where it is pruned."""
    tokens: int
    """Of all that is printed of it; 0 where it is pruned."""
    original_tokens: int
    """The same if it were printed whole."""
    priority: int
    """From 0 to 100."""
    reason: str
    filtered: bool = False
    """Whether it was pruned because it is not relevant, room or not."""


class Print(NamedTuple):
    """How a unit may be printed."""

    action: str
    text: str
    tokens: int


_NOTHING: Final = Print(PRUNE, "", 0)


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
    _refuse_doubles(scored)
    desk = _Desk(pack, scored, counter, form)
    floors = desk.floors()
    frame = counter.count(form.whole(pack, ()))
    needed = max(frame + sum([each.tokens for each in floors.values()]), desk.count(floors))
    if needed > allocation.context:
        budget = least(needed, allocation.shares)
        raise ExecplanError(
            "budget-too-small",
            f"{sum(allocation[:3]):,} tokens leave {allocation.context:,} to read, and what is never left out takes {needed:,}",
            exit=INPUT,
            hint=f"the smallest budget that does is {budget:,}: --budget {budget}",
        )
    room = allocation.context - frame
    while True:  # tokens of a whole are not always those of its parts
        prints = desk.fill(floors, room, threshold)
        over = desk.count(prints) - allocation.context
        if over <= 0:
            return desk.items(prints, threshold)
        room -= over


def _refuse_doubles(scored: Sequence[Scored]) -> None:
    seen: set[str] = set()
    for each in scored:
        if each.unit.id in seen:
            hint = "give each unit an id of its own"
            raise ExecplanError("double-unit", f"two units have the id {each.unit.id!r}", exit=INPUT, hint=hint)
        seen.add(each.unit.id)


class _Desk:
    """All units, and what it takes to print each whole."""

    def __init__(self, pack: Pack, scored: Sequence[Scored], counter: Counter, form: Form) -> None:
        self.pack, self.counter, self.form = pack, counter, form
        self.scored = [each._replace(unit=each.unit._replace(content=visible(each.unit.content))) for each in scored]
        self.named = {path for each in scored if each.unit.type in PLAN for path in each.unit.references}
        self.words = frozenset(words(pack.task) or words(pack.purpose))
        self.whole = {each.unit.id: self._print(each.unit, KEEP, each.unit.content) for each in self.scored}
        self.shorter: dict[tuple[str, int], Print | None] = {}

    def _may_be_in(self, each: Scored, threshold: float) -> bool:
        """Whether a unit is relevant enough; a part of the plan, and a file that the plan names, always is, if there is room."""
        return each.relevance >= threshold or each.unit.type in PLAN or each.unit.path in self.named

    def _print(self, unit: Unit, action: str, text: str) -> Print:
        return Print(action, text, self.counter.count(self.form.piece(unit, text, action)))

    def count(self, prints: dict[str, Print]) -> int:
        """The tokens of the pack that these make."""
        made = [(each.unit, prints.get(each.unit.id, _NOTHING)) for each in self.scored]
        pieces = [self.form.piece(unit, one.text, one.action) for unit, one in made if one.action != PRUNE]
        return self.counter.count(self.form.whole(self.pack, pieces))

    def floors(self) -> dict[str, Print]:
        """The least that is printed of what is never left out."""
        found = {}
        for each in self.scored:
            if each.unit.pinned:
                whole = self.whole[each.unit.id]
                cut = self._print(each.unit, TRUNCATE, truncate(each.unit, FLOOR, self.counter))
                found[each.unit.id] = cut if cut.tokens < whole.tokens else whole
        return found

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
        for each in [*pinned, *sorted(others, key=lambda each: (-each.relevance, each.unit.id))]:
            left -= self._print_more(prints, each.unit, left)
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

    def _print_more(self, prints: dict[str, Print], unit: Unit, more: int) -> int:
        """Print more of a unit, by at most so many tokens; tells how many these are."""
        had = prints.get(unit.id, _NOTHING)
        made = self._at_most(unit, had.tokens + more) if had.action != KEEP and more >= _LITTLE else None
        if made is None or made.tokens <= had.tokens:
            return 0
        prints[unit.id] = made
        return made.tokens - had.tokens

    def _at_most(self, unit: Unit, tokens: int) -> Print | None:
        """The most of a unit that takes so many tokens: the whole, a summary, or its beginning where there is no summary."""
        if self.whole[unit.id].tokens <= tokens:
            return self.whole[unit.id]
        if tokens < _SMALLEST:
            return None
        if (unit.id, tokens) not in self.shorter:
            self.shorter[unit.id, tokens] = self._shorter(unit, tokens)
        return self.shorter[unit.id, tokens]

    def _shorter(self, unit: Unit, tokens: int) -> Print | None:
        around = self._print(unit, SUMMARIZE, "").tokens
        for spare in (0, 4, 16):  # tokens of a text and of what is around it may be more than both
            most = max(tokens - around - spare, 1)
            text = summarize(unit, self.words, most, self.counter)
            action = SUMMARIZE if text is not None else TRUNCATE
            made = self._print(unit, action, truncate(unit, most, self.counter) if text is None else text)
            if made.tokens <= tokens and made.tokens < self.whole[unit.id].tokens:
                return made
        return None

    def items(self, prints: dict[str, Print], threshold: float) -> list[Item]:
        """The units with what became of them, and why."""
        found = []
        for each in self.scored:
            made, whole = prints.get(each.unit.id, _NOTHING), self.whole[each.unit.id].tokens
            filtered = made.action == PRUNE and not self._may_be_in(each, threshold)
            why = reason(each, made.action, filtered=filtered)
            found.append(Item(each.unit, made.action, made.text, made.tokens, whole, each.priority, why, filtered))
        return found
