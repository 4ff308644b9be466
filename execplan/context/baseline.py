"""The control of an experiment: the plain way to fill a budget, newest first, whole units until it is full.

Nothing is weighed and nothing is shortened to fit, except that what is never left out is cut where it has no room.
"""

from __future__ import annotations

from execplan.context.printing import NOTHING, Item, Printer
from execplan.context.score import age, newer_of_its_type
from execplan.context.unit import ARTIFACT, DIFF, FILE, INSTRUCTION, KEEP, MESSAGE, PRUNE, TOOL_RESULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from execplan.context.budget import Allocation
    from execplan.context.printing import Print
    from execplan.context.render import Form
    from execplan.context.score import Scored
    from execplan.context.tokens import Counter
    from execplan.context.unit import Pack, Unit

_AGES = {INSTRUCTION: 0, MESSAGE: 0, TOOL_RESULT: 0, DIFF: 1, FILE: 2, ARTIFACT: 2}
"""Which units are newer than others: the conversation, then what is not committed, then files; parts of the plan come last."""
_PLAN_AGE = 3
_FULL = "left out: what is newer fills the budget"
_CUT = "cut: no room for all of it"


def newest_first(
    pack: Pack, scored: Sequence[Scored], allocation: Allocation, counter: Counter, form: Form
) -> list[Item]:
    """What becomes of each unit, in their order; raises ExecplanError as `choose` does.

    What is never left out comes first. A unit that does not fit is passed over, until none of the older ones fits.
    """
    printer = Printer(pack, scored, counter, form)
    prints = printer.floors(allocation)
    room = allocation.context - printer.frame
    pinned = [each.unit for each in printer.scored if each.unit.pinned]
    others = [each.unit for each in printer.scored if not each.unit.pinned]
    for unit in [*pinned, *_newest_first(others)]:
        whole = printer.whole[unit.id]
        left = room - sum([each.tokens for each in prints.values()])
        if whole.tokens - prints.get(unit.id, NOTHING).tokens <= left:
            had = prints.get(unit.id)
            prints[unit.id] = whole
            if printer.count(prints) > allocation.context:  # tokens of a whole are not always those of its parts
                _put_back(prints, unit, had)
    return _items(printer, prints)


def _put_back(prints: dict[str, Print], unit: Unit, had: Print | None) -> None:
    if had is None:
        del prints[unit.id]
    else:
        prints[unit.id] = had


def _newest_first(units: Sequence[Unit]) -> list[Unit]:
    """By age; of units that are as old as each other the last one comes first."""
    backward = list(reversed(units))
    return sorted(backward, key=lambda unit: (_AGES.get(unit.type, _PLAN_AGE), -unit.order))


def _items(printer: Printer, prints: Mapping[str, Print]) -> list[Item]:
    newer = newer_of_its_type([each.unit for each in printer.scored])
    found = []
    for each in printer.scored:
        unit, made = each.unit, prints.get(each.unit.id, NOTHING)
        why = unit.pinned or age(unit, newer)
        more = "" if made.action == KEEP else _FULL if made.action == PRUNE else _CUT
        words = "; ".join([part for part in (why, more) if part]) or "there is room for it"
        found.append(
            Item(
                unit,
                made.action,
                made.text,
                made.tokens,
                printer.whole[unit.id].tokens,
                each.priority,
                words[:1].upper() + words[1:],
            )
        )
    return found
