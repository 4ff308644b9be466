"""A call for which no warrant is in force: what passes without a plan is found out first, for all else is slow."""

from __future__ import annotations

import os

from execplan import clock
from execplan.agents.guard import current_warrant, keep, own
from execplan.agents.guard.basis import Basis, of_run
from execplan.agents.guard.call import COMMAND
from execplan.agents.guard.decide import Judged, judge
from execplan.agents.guard.match import match
from execplan.agents.guard.planned import Planned
from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.execution.permission import DENY
from execplan.repo import homes, shelf
from execplan.repo.execution.policy import effective
from execplan.text import disk, plain_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.agents.guard.call import Call
    from execplan.repo.home import Home

_MOST: Final = 8 << 20
"""Bytes of the longest document that is looked at here."""
_BEGUN: Final = frozenset(("approval-used", "journal-altered"))
"""What is found where another call is about to begin the run."""


def judged(call: Call, named: str | None, *, asks: bool) -> tuple[Judged, tuple[str, ...]]:
    """What becomes of a call, and what no reason tells; raises ExecplanError."""
    home = homes.find(os.getcwd())
    if not home.exists:  # nobody looks for homes below: that may take longer than there is
        what = f"no plans folder in {home.base} or above"
        raise ExecplanError("no-home", what, exit=ENVIRONMENT, hint="the agent works where there is no plan")
    policy = effective(home)
    basis = Basis(home, policy.reads, policy.tools)
    if why := own.frees(call, basis.around, home):  # said whether or not there is a plan to judge by
        return Judged(DENY, why), ()
    bare = judge(call, basis, clock.seconds())
    if bare.kind != DENY and (call.kind != COMMAND or _is_of_no_plan(home, call, basis)):
        return bare, ()
    try:
        with keep.line(home):
            return _in_turn(home, call, named, asks=asks)
    except ExecplanError:
        if bare.kind == DENY:
            raise
        return bare, ()  # a command that only reads needs no plan, but may be a step of one


def _in_turn(home: Home, call: Call, named: str | None, *, asks: bool) -> tuple[Judged, tuple[str, ...]]:
    """What becomes of a call whose turn has come: by then, or meanwhile, another may have begun the run. Raises ExecplanError."""
    if (found := _by_warrant(call, named, asks=asks)) is not None:
        return found
    from execplan.agents.guard.afresh import by_plan

    try:
        return by_plan(home, call, named, asks=asks)
    except ExecplanError as error:
        if error.code not in _BEGUN:
            raise
        with keep.lock(home, call):
            pass  # who has just begun the run finishes that first
        if (found := _by_warrant(call, named, asks=asks)) is not None:
            return found
        raise


def _by_warrant(call: Call, named: str | None, *, asks: bool) -> tuple[Judged, tuple[str, ...]] | None:
    """What becomes of a call by the warrant in force; None where there is none. Raises ExecplanError."""
    issued = current_warrant.warrant(named)
    if issued is None:
        return None
    entries = keep.entries_of(issued)
    basis = of_run(issued, entries)
    return None if keep.is_over(basis) else (keep.by_warrant(call, issued, entries, basis, asks=asks), issued.hidden)


def _is_of_no_plan(home: Home, call: Call, basis: Basis) -> bool:
    """Whether no plan that somebody approved plans or denies a command that only reads, as far as their documents are at hand.

    It is enough for a command that passes too where the plan can't be read at all.
    """
    for ref in shelf.every(home):
        folder = home.artifacts_of(ref.path, archived=ref.archived)
        if ref.archived or not shelf.entries(os.path.join(folder, "approvals")):
            continue
        try:
            told = plain_json.read(disk.read(os.path.join(folder, "execution-plan.json"), _MOST)[0].decode())
            planned = tuple([Planned(each, "") for each in told["steps"]])
            around = basis.around._replace(constraints=told.get("constraints") or {})
            found = match(call, planned, around, basis.reads)
        except (ExecplanError, AttributeError, KeyError, TypeError, ValueError):
            return False
        if found.matches or found.refused:
            return False
    return True
