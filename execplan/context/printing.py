"""What it takes to print each unit, whole or shortened, and the items that come of it."""

from __future__ import annotations

from execplan.context.budget import least
from execplan.context.render import visible
from execplan.context.shorten import truncate
from execplan.context.unit import KEEP, PRUNE, TRUNCATE
from execplan.errors import INPUT, ExecplanError
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final

    from execplan.context.budget import Allocation
    from execplan.context.render import Form
    from execplan.context.score import Scored
    from execplan.context.tokens import Counter
    from execplan.context.unit import Pack, Unit

FLOOR: Final = 24
"""Tokens of its content that a pinned unit has at least."""


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


NOTHING: Final = Print(PRUNE, "", 0)


class Printer:
    """All units, and what it takes to print each whole."""

    def __init__(self, pack: Pack, scored: Sequence[Scored], counter: Counter, form: Form) -> None:
        """Raises ExecplanError for two units with one id."""
        _refuse_doubles(scored)
        self.pack, self.counter, self.form = pack, counter, form
        self.scored = [each._replace(unit=each.unit._replace(content=visible(each.unit.content))) for each in scored]
        self.whole = {each.unit.id: self.print(each.unit, KEEP, each.unit.content) for each in self.scored}
        self.frame = counter.count(form.whole(pack, (), shortened=True))
        """Tokens of what is around the units."""

    def print(self, unit: Unit, action: str, text: str) -> Print:
        """A unit as it is printed with this text."""
        return Print(action, text, self.counter.count(self.form.piece(unit, text, action)))

    def count(self, prints: Mapping[str, Print]) -> int:
        """The tokens of the pack that these make."""
        made = [(each.unit, prints.get(each.unit.id, NOTHING)) for each in self.scored]
        pieces = [self.form.piece(unit, one.text, one.action) for unit, one in made if one.action != PRUNE]
        shortened = any([one.action != KEEP for _, one in made])
        return self.counter.count(self.form.whole(self.pack, pieces, shortened=shortened))

    def floors(self, allocation: Allocation) -> dict[str, Print]:
        """The least that is printed of what is never left out; raises ExecplanError where it has no room."""
        found = {}
        for each in self.scored:
            if each.unit.pinned:
                whole = self.whole[each.unit.id]
                cut = self.print(each.unit, TRUNCATE, truncate(each.unit, FLOOR, self.counter))
                found[each.unit.id] = cut if cut.tokens < whole.tokens else whole
        needed = max(self.frame + sum([each.tokens for each in found.values()]), self.count(found))
        if needed > allocation.context:
            budget = least(needed, allocation.shares)
            raise ExecplanError(
                "budget-too-small",
                f"{sum(allocation[:3]):,} tokens leave {allocation.context:,} to read, and what is never left out takes {needed:,}",
                exit=INPUT,
                hint=f"the smallest budget that is enough is {budget:,}: --budget {budget}",
            )
        return found


def _refuse_doubles(scored: Sequence[Scored]) -> None:
    seen: set[str] = set()
    for each in scored:
        if each.unit.id in seen:
            hint = "give each unit an id of its own"
            raise ExecplanError("double-unit", f"two units have the id {each.unit.id!r}", exit=INPUT, hint=hint)
        seen.add(each.unit.id)
