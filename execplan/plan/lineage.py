"""Which tasks of a plan after an edit are which tasks before it."""

from __future__ import annotations

from execplan.plan.seek import ids_for_texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def match_edited_tasks(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, ...]]:
    """For each task before an edit, by its text, where it is in the tasks after it: nowhere, once, or in parts.

    What is the same above and below the edit stays paired. Of the rest, tasks with the same id are paired first; then
    those that are left, where it is clear which became which: as many as before, or one that became several.
    """
    same_above = 0
    while same_above < min(len(before), len(after)) and before[same_above] == after[same_above]:
        same_above += 1
    same_below = 0
    while same_below < min(len(before), len(after)) - same_above and before[-1 - same_below] == after[-1 - same_below]:
        same_below += 1
    positions: dict[int, tuple[int, ...]] = {index: (index,) for index in range(same_above)}
    shift = len(after) - len(before)
    positions.update({index: (index + shift,) for index in range(len(before) - same_below, len(before))})
    old_indexes, new_indexes = list(range(same_above, len(before) - same_below)), list(range(same_above, len(after) - same_below))
    new_ids = {task_id: index for index, task_id in zip(new_indexes, ids_for_texts([after[index] for index in new_indexes]), strict=True)}
    for index, task_id in zip(list(old_indexes), ids_for_texts([before[index] for index in old_indexes]), strict=True):
        if task_id in new_ids:
            positions[index] = (new_ids[task_id],)
            old_indexes.remove(index)
            new_indexes.remove(new_ids[task_id])
    if len(old_indexes) == len(new_indexes):
        positions.update({index: (new_index,) for index, new_index in zip(old_indexes, new_indexes, strict=True)})
    elif len(old_indexes) == 1 or len(new_indexes) == 1:
        positions.update({index: tuple(new_indexes) for index in old_indexes})
    return [positions.get(index, ()) for index in range(len(before))]
