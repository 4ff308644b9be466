"""Is every run at its end, or known to wait, and is nothing kept of runs that are gone?"""

from __future__ import annotations

import os
import shutil
from functools import partial
from shlex import quote
from time import time
from typing import TYPE_CHECKING

from execplan.engine import place as places
from execplan.engine.alone import alone
from execplan.engine.last import BY_AGENT, CUT_SHORT, ROLLING_BACK, how
from execplan.repo import shelf
from execplan.view.doctor.check import ERROR, WARNING, Finding, Fix, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.repo.amend import Options
    from execplan.repo.home import Home
    from execplan.view.doctor.ground import Ground

_RECORDED = ("ledger.jsonl", "approvals", "runs")
"""What lies among the artifacts of a plan that has a ledger, or had one."""
_IDLE = 86_400
"""Seconds for which an agent's run may wait for its next call before somebody should know."""
_DAYS = 30
"""So long a run may be gone, with a branch that is not checked out, before what is kept for it is left over."""


@check("runs")
def runs(ground: Ground) -> Iterator[Finding | str]:
    """No run was cut short, and no rollback; no agent's run is left behind."""
    for home, ref in [shelved[:2] for shelved in ground.plans]:
        for place in places.every(home, ref):
            state = how(home, place).state
            name = f"{place.number} -p {ref.typed}"
            if state == ROLLING_BACK:
                message = (
                    f"the rollback of the run {place.id} was cut short: some of its files are back, others are not"
                )
                yield Finding(ERROR, home.shown(place.folder), message, f"execplan rollback {name}")
            elif state == BY_AGENT and time() - os.lstat(place.journal).st_mtime > _IDLE:
                message = f"no agent has done anything in its run {place.id} for more than a day"
                mend = f"execplan handoff {ref.typed}, for another agent; or take back what it did: execplan rollback {name}"
                yield Finding(WARNING, home.shown(place.folder), message, mend)
            elif state == CUT_SHORT:
                message = f"the run {place.id} was interrupted or killed, and has not been resumed or rolled back"
                mend = f"execplan resume {name}, or take back what it did: execplan rollback {name}"
                yield Finding(ERROR, home.shown(place.folder), message, mend)


@check("ledgers")
def ledgers(ground: Ground) -> Iterator[Finding | str]:
    """Every ledger is as it was written, as far as its chain and its anchor tell."""
    from execplan.engine.ledger.verify import verify

    for home, ref in [shelved[:2] for shelved in ground.plans]:
        folder = home.artifacts_of(ref.path, archived=ref.archived)
        if not any([os.path.lexists(os.path.join(folder, name)) for name in _RECORDED]):
            continue  # to ask git for its anchor takes some milliseconds
        found = verify(home, ref)
        if found.reasons:
            more = f", and {len(found.reasons) - 1} more" if len(found.reasons) > 1 else ""
            message = f"the ledger of {ref.id} is not as it was written: {found.reasons[0]}{more}"
            yield Finding(ERROR, found.path, message, f"see all of it: execplan audit {ref.typed} --verify")


@check("run-states")
def states(ground: Ground) -> Iterator[Finding | str]:
    """What is kept to resume runs belongs to runs that are there, or were 30 days ago."""
    for home in ground.states:
        folder = os.path.join(home.state, "runs")
        names = shelf.entries(folder)
        known = _known(ground, home) if names else set()
        for name in names:
            path = os.path.join(folder, name)
            if name not in known and time() - os.lstat(path).st_mtime > _DAYS * 86_400:
                told = home.shown(path)
                fix = Fix(f"remove {told}", partial(_remove, home, path))
                yield Finding(WARNING, told, "is of a run that is gone", f"rm -r {quote(told)}", fix=fix)


def _known(ground: Ground, home: Home) -> set[str]:
    """The runs whose working state lies beside that of a home."""
    refs = [(each, ref) for each in ground.homes if each.state == home.state for ref in shelf.every(each)]
    return {place.id for each, ref in refs for place in places.every(each, ref)}


def _remove(home: Home, path: str, options: Options) -> list[str]:
    with alone(home, "doctor"):
        shutil.rmtree(path, ignore_errors=True)
    return [f"removed {home.shown(path)}"]
