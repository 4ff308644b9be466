"""Edits that another program has overwritten: found with the journal's and git's help, put back, or forgotten."""

from __future__ import annotations

from functools import partial

from execplan.errors import CHANGED, ExecplanError
from execplan.plan.whole import rebased
from execplan.repo import state
from execplan.repo.amend import amend, diff
from execplan.repo.edits import journal
from execplan.repo.edits.lost import Step, put_back

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.plan.change import Change
    from execplan.plan.model import Plan
    from execplan.repo.amend import Options
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

_VERB = "doctor"


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
