"""`execplan undo`."""

from __future__ import annotations

import os

from execplan.cli.answer import Answer, Call, typed
from execplan.cli.verb import plan_option, verb, writer_options
from execplan.cli.writing import told
from execplan.repo import pick
from execplan.repo.amend import Options
from execplan.repo.edits.undo import undo as take_back


@verb(
    reads="the journal of the plan, and the plan.",
    writes="the lines of the last edit as they were before it; all that was changed since stays.",
    examples=("execplan undo", "execplan undo -p parser --dry-run", "execplan undo --commit"),
)
@plan_option
@writer_options
def undo(call: Call, plan: str | None, options: Options) -> Answer:
    """Take back the last edit that a verb made to the plan, committed or not; again for the one before it.

    It refuses when the lines of that edit have changed since. A move is taken back by its own verb: restore, rename.
    """
    home, ref = pick.open_plan(os.getcwd(), plan)
    amended = take_back(home, ref, options)
    return told(amended, options, f"execplan show {typed(ref.id, amended.path)}")


command = undo
