"""The hunks of a changed file by the tasks that name what they change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from execplan.core.plan.model import ParsedPlan
from execplan.core.text.sequence_alignment import align_sequences
from execplan.execution.inference.step_blocks import find_task_naming

_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_NAME = re.compile(r"[A-Za-z_]\w+")
_CODE = re.compile(r"`([^`/]+)`")
_CONTEXT_LINES = 3


class HunkGroup(NamedTuple):
    """The content of a file after the hunks for a task, and for the tasks before it, were applied."""

    data: bytes
    task: str
    """Text of the task, or an empty string."""
    reference: str
    """Reference to the task for an attribute."""


class _Hunk(NamedTuple):
    start: int
    end: int
    new: tuple[bytes, ...]


def group_hunks(plan: ParsedPlan, path: str, before: bytes, after: bytes) -> list[HunkGroup]:
    """Return the groups of a file's hunks, in the order of their first hunks; only one unless the tasks differ.

    A task gets the hunks with a name that it has as code, if no other task has it. Hunks without such a name belong to the task that names
    the file, if there is one.
    """
    default = find_task_naming(plan, [path])
    old_lines, new_lines = re.findall(_LINE, before), re.findall(_LINE, after)
    hunks = list(_find_hunks(old_lines, new_lines))
    task_names = _names_in_tasks(plan)
    tasks = [_find_task(plan, task_names, old_lines, hunk) or default for hunk in hunks]
    groups: list[HunkGroup] = []
    done: set[tuple[str, str]] = set()
    for task in dict.fromkeys(tasks):
        done.add(task)
        applied = [hunk for hunk, hunk_task in zip(hunks, tasks, strict=True) if hunk_task in done]
        groups.append(HunkGroup(_apply(old_lines, applied), *task))
    if len(groups) > 1:
        return groups
    return [HunkGroup(after, *(tasks[0] if tasks else default))]


def _find_hunks(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[_Hunk]:
    """Yield the changed ranges of lines; those with few lines between them are one."""
    matches = [*align_sequences(old, new), (len(old), len(new))]
    old_start = new_start = 0
    pending: tuple[int, int, int, int] | None = None
    for old_at, new_at in matches:
        if (old_start, new_start) != (old_at, new_at):
            if pending is not None and old_start - pending[1] <= 2 * _CONTEXT_LINES:
                pending = (pending[0], old_at, pending[2], new_at)
            else:
                if pending is not None:
                    yield _Hunk(pending[0], pending[1], tuple(new[pending[2] : pending[3]]))
                pending = (old_start, old_at, new_start, new_at)
        old_start, new_start = old_at + 1, new_at + 1
    if pending is not None:
        yield _Hunk(pending[0], pending[1], tuple(new[pending[2] : pending[3]]))


def _names_in_tasks(plan: ParsedPlan) -> set[str]:
    """Return the names that tasks have as code, apart from those in paths."""
    return {name for task in plan.tasks for code in _CODE.findall(task.text) for name in _NAME.findall(code)}


def _find_task(plan: ParsedPlan, task_names: set[str], old: Sequence[bytes], hunk: _Hunk) -> tuple[str, str] | None:
    """Return the only task that a name in the changed lines, or in the nearest definition above them, belongs to."""
    text = b"".join([*old[hunk.start : hunk.end], *hunk.new]).decode("utf-8", "replace")
    names = task_names.intersection([*_NAME.findall(text), *_NAME.findall(_heading_above(old, hunk.start))])
    tasks = {find_task_naming(plan, [name]) for name in names}
    tasks.discard(("", ""))
    return tasks.pop() if len(tasks) == 1 else None


def _heading_above(old: Sequence[bytes], at: int) -> str:
    """Return the nearest line above that is not indented and begins with a letter, as git shows it for a hunk."""
    line = next((line for line in reversed(old[:at]) if line[:1].isalpha() or line[:1] in (b"_", b"$")), b"")
    return line.decode("utf-8", "replace")


def _apply(old: Sequence[bytes], hunks: Sequence[_Hunk]) -> bytes:
    pieces: list[bytes] = []
    at = 0
    for hunk in hunks:
        pieces += [*old[at : hunk.start], *hunk.new]
        at = hunk.end
    return b"".join([*pieces, *old[at:]])
