"""Taking back the last edit of a plan."""

from __future__ import annotations

from execplan.errors import INPUT, NO, ExecplanError
from execplan.plan.change import Change, facts
from execplan.plan.whole import rebased
from execplan.repo.amend import amend
from execplan.repo.edits import journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.model import Plan
    from execplan.repo.amend import Amended, Options
    from execplan.repo.edits.journal import Journaled
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


def undo(home: Home, ref: Ref, options: Options) -> Amended:
    """Take back the last edit that was made through the tool and not taken back yet; raises ExecplanError."""

    def change(plan: Plan) -> Change:
        while True:
            edit = journal.last(home, ref.path)
            if edit is None:
                raise _nothing(home, ref)
            made = _reverse(plan, edit)
            if made.edits or options.dry_run:
                return made
            journal.mark_undone(home, ref.path, edit.number)
            if edit.made:  # else it was cut short before it came to the disk
                return made

    return amend(home, ref, change, options, verb=journal.UNDO)


def _reverse(plan: Plan, edit: Journaled) -> Change:
    what = f"{edit.summary}, made {edit.moment.replace('T', ' ')}"
    try:
        old, new = edit.unpack()
    except ValueError as error:
        raise ExecplanError(
            "journal-damaged",
            f"the journal's record of {what} can't be read: {error}",
            exit=INPUT,
            hint="take it back by hand, with git's help: git log -p",
        ) from None
    hint = "take it back by hand; what it changed is in git, if it was committed: git log -p"
    change = rebased(plan, new, old, f"undo, {edit.summary}", f"undone: {what}", hint)
    return change if change.edits else Change((), facts(plan), "", (f"no longer there, so nothing to undo: {what}",))


def _nothing(home: Home, ref: Ref) -> ExecplanError:
    return ExecplanError(
        "nothing-to-undo",
        f"{home.shown(ref.path)} has no edit in the journal that could be taken back",
        exit=NO,
        hint=f"only edits made through execplan in this checkout are journaled, at most {journal.MAX_EDITS} of a plan",
    )
