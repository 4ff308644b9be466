"""Which operations on a plan can be undone, and which redone."""

from __future__ import annotations

import os

from execplan.errors import ExecplanError
from execplan.plan.reader import MAX_BYTES
from execplan.record import NamedTuple
from execplan.repo.edits import journal
from execplan.repo.edits.entries import FOLLOW, MOVE, REDO, UNDO, Journaled
from execplan.text import disk
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.repo.home import Home


class Step(NamedTuple):
    """An operation that can be undone or redone."""

    operation: Journaled
    """As it was first done."""
    latest: Journaled
    """What last did it, or undid it: this is what is reversed."""


class Stack(NamedTuple):
    """The operations on a plan, the newest last."""

    done: tuple[Step, ...]
    undone: tuple[Step, ...]
    """Those that can be redone: nothing new was done since."""


def stack(home: Home, path: str) -> Stack:
    """The operations on the plan at the path; raises ExecplanError."""
    return stack_of(entries(home, path))


def entries(home: Home, path: str) -> list[Journaled]:
    """The entries of the plan's journal; of a process that was killed, the plan says whether it has done the last one.

    Raises ExecplanError.
    """
    found = journal.edits(home, path)
    if found and not found[-1].made and found[-1].kind != MOVE and found[-1].before != found[-1].after:
        try:
            now = digest(disk.read(path, MAX_BYTES)[0]) if os.path.lexists(path) else digest(b"")
        except ExecplanError:
            return found
        found[-1] = found[-1]._replace(made=now == found[-1].after)
    return found


def stack_of(entries: Sequence[Journaled]) -> Stack:
    """The operations of a journal's entries."""
    done: dict[str, Step] = {}
    undone: dict[str, Step] = {}
    for entry in entries:
        if not entry.made or entry.kind == FOLLOW:
            continue
        if entry.verb == UNDO:
            step = done.pop(entry.undoes, None)
            if step is not None and not entry.undone:
                undone[entry.undoes] = step._replace(latest=entry)
        elif entry.verb == REDO:
            step = undone.pop(entry.undoes, None)
            if step is not None:
                done[entry.undoes] = step._replace(latest=entry)
        else:
            undone.clear()
            if not entry.undone:
                done[entry.id] = Step(entry, entry)
    dismissed = {entry.id for entry in entries if entry.undone}
    return Stack(
        tuple([step for name, step in done.items() if name not in dismissed]),
        tuple([step for name, step in undone.items() if name not in dismissed]),
    )
