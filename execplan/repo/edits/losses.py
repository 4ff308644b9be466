"""Which edits of a plan another program has overwritten, by what the journal, the plan and git say."""

from __future__ import annotations

import os

from execplan.record import NamedTuple
from execplan.repo import past, shelf
from execplan.repo.edits import journal
from execplan.repo.edits.entries import EDIT, read_all
from execplan.repo.edits.lost import Step, lost
from execplan.repo.edits.moved import left_by
from execplan.repo.edits.stack import stack_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.edits.entries import Journaled
    from execplan.repo.edits.lost import ByGit
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

_TRIES = 10
"""How often a plan is read again that others are writing to; then nothing is said of it."""


class Looked(NamedTuple):
    """What the journal of a plan tells, held against the plan."""

    lost: tuple[Step, ...]
    """The edits that are no longer in it."""
    damaged: tuple[str, ...]
    """What was done by those whose record can't be read."""
    now: bytes
    """What it holds."""


def look(home: Home, ref: Ref) -> Looked:
    """Look which edits of a plan are no longer in it; raises ExecplanError."""
    edits = journal.edits(home, ref.path)
    if not edits:
        return Looked((), (), b"")
    for _ in range(_TRIES):
        now = shelf.open_bytes(home, ref.path)
        before, edits = edits, journal.edits(home, ref.path)
        if before == edits:  # nobody has begun or finished an edit while the plan was read
            steps, damaged = _steps(edits, now)
            return Looked(tuple(lost(steps, now, _by_git(home, ref))), tuple(damaged), now)
    return Looked((), (), b"")


def _steps(edits: list[Journaled], now: bytes) -> tuple[list[Step], list[str]]:
    """The edits that came to the disk, and what was done by those whose record can't be read."""
    both = read_all(edits)
    unread = [each for each in edits if each.made and each.number not in both]
    damaged = [f"{each.summary}, made {each.moment.replace('T', ' ')}" for each in unread]
    stack = stack_of(edits)
    counts = {step.operation.number for step in stack.done if step.operation.kind == EDIT}
    steps: list[Step] = []
    before = 0
    for at, edit in enumerate(edits):
        if edit.number not in both:
            continue
        old, new = both[edit.number]
        follows, before = edit.number == before + 1, edit.number
        after = both.get(edits[at + 1].number, (b"",))[0] if at + 1 < len(edits) else now
        if edit.made or after == new:  # of one that was cut short the next text tells
            steps.append(Step(edit.number, edit.summary, edit.moment, old, new, edit.number in counts, follows))
    return steps, damaged


def _by_git(home: Home, ref: Ref) -> ByGit:
    """Whether git put one text in place of another: both are known to it, or the first is on a branch of its own.

    A text that was written over the one that is checked out was not put there by git, even if it knows both.
    """
    if home.git is None:
        return lambda before, after: False
    path, *left = [os.path.relpath(each, os.path.realpath(home.root)) for each in (ref.real, *left_by(home, ref.path))]
    paths = [path, *[each for each in left if not each.startswith("../")]]

    def by_git(before: bytes, after: bytes) -> bool:
        content = past.blob(home, path, before)
        if not past.stored(home, content, paths) or past.checked_out(home, path) == content:
            return False
        if past.stored(home, past.blob(home, path, after), paths):
            return True
        return not past.stored(home, content, paths, here=True)

    return by_git
