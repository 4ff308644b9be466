"""Which tasks of a plan after an edit are which tasks before it."""

from __future__ import annotations

from execplan.plan.seek import ids_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def lineage(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, ...]]:
    """For each task before an edit, by its text, where it is in the tasks after it: nowhere, once, or in parts.

    What is the same above and below the edit stays paired. Of the rest, tasks with the same id are paired first; then
    those that are left, where it is clear which became which: as many as before, or one that became several.
    """
    top = 0
    while top < min(len(before), len(after)) and before[top] == after[top]:
        top += 1
    end = 0
    while end < min(len(before), len(after)) - top and before[-1 - end] == after[-1 - end]:
        end += 1
    places: dict[int, tuple[int, ...]] = {at: (at,) for at in range(top)}
    shift = len(after) - len(before)
    places.update({at: (at + shift,) for at in range(len(before) - end, len(before))})
    old, new = list(range(top, len(before) - end)), list(range(top, len(after) - end))
    new_ids = {name: at for at, name in zip(new, ids_of([after[at] for at in new]), strict=True)}
    for at, name in zip(list(old), ids_of([before[at] for at in old]), strict=True):
        if name in new_ids:
            places[at] = (new_ids[name],)
            old.remove(at)
            new.remove(new_ids[name])
    if len(old) == len(new):
        places.update({at: (to,) for at, to in zip(old, new, strict=True)})
    elif len(old) == 1 or len(new) == 1:
        places.update({at: tuple(new) for at in old})
    return [places.get(at, ()) for at in range(len(before))]
