"""An edit reversed: the lines that it changed become again what they were, and others stay."""

from __future__ import annotations

from execplan.errors import CHANGED, INPUT, ExecplanError
from execplan.plan.change import Change, facts
from execplan.plan.whole import rebased
from execplan.repo.amend import amend
from execplan.repo.edits import journal
from execplan.repo.edits.entries import EDIT, UNDO
from execplan.repo.edits.journal import Operation
from execplan.repo.edits.stack import stack
from execplan.repo.operations.choose import describe, steps_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.change import Changer
    from execplan.plan.model import Plan
    from execplan.repo.amend import Amended, Options
    from execplan.repo.operations.choose import Chosen


class SupersededError(ExecplanError):
    """The operation is no longer the last one: somebody did something meanwhile."""

    def __init__(self) -> None:
        super().__init__("changed-underneath", "the plan has changed meanwhile", exit=CHANGED, hint="try again")


def reverse_edit(chosen: Chosen, options: Options, command: str) -> Amended:
    """Undo or redo an edit; raises ExecplanError, and SupersededError."""
    home, ref, step, _ = chosen
    change = changer(chosen, command)

    def checked(plan: Plan) -> Change:
        require_last(chosen, command)
        made = change(plan)
        if not made.edits and not options.dry_run:
            journal.mark_undone(home, ref.path, step.operation.number)
        return made

    operation = Operation(kind=EDIT, undoes=step.operation.id)
    return amend(home, ref, checked, options, verb=command, operation=lambda: operation)


def require_last(chosen: Chosen, command: str) -> None:
    """Raise SupersededError when the operation is no longer the last one; the plan's lock is held."""
    steps = steps_of(stack(chosen.home, chosen.ref.path), command)
    if not steps or steps[-1].latest.id != chosen.step.latest.id:
        raise SupersededError


def changer(chosen: Chosen, command: str) -> Changer:
    """The change that brings a plan's text back to what it was before the operation; raises ExecplanError."""
    old, new = texts_of(chosen)
    what = describe(chosen)
    summary = f"{command}, {chosen.step.operation.summary}"
    verb = "undone" if command == UNDO else "redone"
    hint = f"{command} it by hand; what it changed is in git, if it was committed: git log -p"

    def change(plan: Plan) -> Change:
        made = rebased(plan, new, old, summary, f"{verb}: {what}", hint)
        if made.edits or old == new:
            return made
        return Change((), facts(plan), summary, (f"no longer there, so nothing to {command}: {what}",))

    return change


def texts_of(chosen: Chosen) -> tuple[bytes, bytes]:
    """The texts before and after what is reversed; raises ExecplanError where the journal is damaged."""
    try:
        return chosen.step.latest.unpack()
    except ValueError as error:
        raise damaged(chosen, error) from None


def damaged(chosen: Chosen, error: ValueError) -> ExecplanError:
    """The error where the journal can't be read."""
    return ExecplanError(
        "journal-damaged",
        f"the journal's entry can't be read of {describe(chosen)}: {error}",
        exit=INPUT,
        hint="undo it by hand; git has what was committed: git log -p",
    )
