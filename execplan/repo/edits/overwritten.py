"""Edits that another program has overwritten: found with the journal's and git's help, put back, or forgotten."""

from __future__ import annotations

import os
from functools import partial

from execplan.errors import CHANGED, ExecplanError
from execplan.plan.whole import rebased
from execplan.record import NamedTuple
from execplan.repo import past, shelf, state
from execplan.repo.amend import amend, diff
from execplan.repo.edits import journal
from execplan.repo.edits.lost import Step, lost, put_back

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.plan.change import Change
    from execplan.plan.model import Plan
    from execplan.repo.amend import Options
    from execplan.repo.edits.journal import Journaled
    from execplan.repo.edits.lost import ByGit
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

_VERB = "doctor"
_TRIES = 10
"""How often a plan is read anew that others are writing to; then nothing is said of it."""


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
    texts: dict[int, tuple[bytes, bytes]] = {}
    damaged: list[str] = []
    for edit in edits:
        try:
            texts[edit.number] = edit.unpack()
        except ValueError:
            damaged.append(f"{edit.summary}, made {edit.moment.replace('T', ' ')}")
    steps: list[Step] = []
    before = 0
    for at, edit in enumerate(edits):
        if edit.number not in texts:
            continue
        old, new = texts[edit.number]
        follows, before = edit.number == before + 1, edit.number
        after = texts.get(edits[at + 1].number, (b"",))[0] if at + 1 < len(edits) else now
        if edit.made or after == new:  # of one that was cut short the next text tells
            steps.append(Step(edit.number, edit.summary, edit.moment, old, new, _counts(edit), follows))
    return steps, damaged


def _by_git(home: Home, ref: Ref) -> ByGit:
    """Whether git put one text in place of another: both are known to it, or the first is on a branch of its own.

    A text that was written over the one that is checked out was not put there by git, even if it knows both.
    """
    if home.git is None:
        return lambda before, after: False
    path, *left = [
        os.path.relpath(each, os.path.realpath(home.root)) for each in (ref.real, *journal.left_by(home, ref.path))
    ]
    paths = [path, *[each for each in left if not each.startswith("../")]]

    def by_git(before: bytes, after: bytes) -> bool:
        content = past.blob(home, path, before)
        if not past.stored(home, content, paths) or past.checked_out(home, path) == content:
            return False
        if past.stored(home, past.blob(home, path, after), paths):
            return True
        return not past.stored(home, content, paths, here=True)

    return by_git


def preview(home: Home, ref: Ref, step: Step, text: bytes) -> tuple[bytes | None, str]:
    """A text with an edit put back and the difference, or None where its lines were changed otherwise."""
    done = put_back(step, text)
    return done, "" if done is None else diff(text, done, home.shown(ref.path))


def again(home: Home, ref: Ref, step: Step, options: Options) -> None:
    """Put an edit back, as an edit of its own that `undo` takes back; raises ExecplanError where its lines have changed."""
    if amend(home, ref, partial(_again, step), options, verb=_VERB).changed:
        forget(home, ref, [step])  # the edit that put it back stands for it from now on


def forget(home: Home, ref: Ref, steps: Sequence[Step]) -> None:
    """Take it that edits are no longer in their plan on purpose; raises ExecplanError."""
    with state.lock(home, ref.real, f"{_VERB} of {ref.id}"):
        for step in steps:
            journal.mark_undone(home, ref.path, step.number)


def _again(step: Step, plan: Plan) -> Change:
    """The change that makes an edit again, to the plan as it is now."""
    now = plan.text.to_bytes()
    done = put_back(step, now)
    if done is None:
        raise ExecplanError(
            "changed-since",
            f"the lines of {step.words} have changed meanwhile",
            exit=CHANGED,
            hint="look again: execplan doctor",
        )
    return rebased(plan, now, done, f"put back, {step.words}", f"put back: {step.said}", "")


def difference(home: Home, ref: Ref, step: Step) -> bytes:
    """What an edit did, as a unified diff."""
    return (diff(step.old, step.new, home.shown(ref.path)) + "\n").encode("utf-8", "backslashreplace")


def _counts(edit: Journaled) -> bool:
    return edit.made and journal.can_be_undone(edit)
