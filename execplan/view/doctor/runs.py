"""Is every run at its end, or known to wait, and is nothing kept of runs that are gone?"""

from __future__ import annotations

import os
import shutil
from functools import partial
from shlex import quote
from time import time
from typing import TYPE_CHECKING

from execplan.engine import copies, gone
from execplan.engine import place as places
from execplan.engine.alone import acquire_run_lock, run_lock_holder
from execplan.engine.last import BY_AGENT, CUT_SHORT, ROLLING_BACK, read_run_status
from execplan.engine.lost import is_lost
from execplan.engine.open_runs import OPEN_STATES
from execplan.repo import belongings, shelf
from execplan.view.doctor.check import ERROR, WARNING, Finding, Fix, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.engine.place import RunPaths
    from execplan.repo.amend import Options
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref
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
        for place in places.list_runs(home, ref):
            state = read_run_status(home, place).state
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


@check("evidence")
def evidence(ground: Ground) -> Iterator[Finding | str]:
    """What a run has written is among the artifacts of its plan as it was written, and its plan is there."""
    for home, ref in [shelved[:2] for shelved in ground.plans]:
        for place in places.list_runs(home, ref):
            names = [] if place.id in run_lock_holder(home) else gone.list_altered_evidence(home, place)
            if names:
                more = f" and {len(names) - 1} more files are" if len(names) > 1 else " is"
                message = f"of the run {place.id} {names[0]}{more} missing or changed in the artifacts"
                fix = Fix(f"restore the files of the run {place.id}", partial(_bring_back, home, ref, place))
                copy = quote(home.shown(place.copy))
                mend = f"execplan doctor --fix; if you removed them on purpose, remove the copy too: rm -r {copy}"
                yield Finding(ERROR, home.shown(place.folder), message, mend, fix=fix)
    for home in ground.states:
        for folder, path in belongings.every(home):
            runs = [] if os.path.lexists(path) else _of_state(home, folder, path)
            for place in [place for place in runs if read_run_status(home, place).state in OPEN_STATES][:1]:
                kept = place.copy_path(copies.PLAN)
                if not is_lost(home, kept, path) or gone.is_in_other_plan(home, path, place.id):
                    continue
                message = f"is gone, and its run {place.id} is not finished"
                mend = (
                    f"restore it as it was before the last step: cp {quote(home.shown(kept))} {quote(home.shown(path))}"
                )
                yield Finding(ERROR, home.shown(path), message, mend)


def _of_state(home: Home, folder: str, path: str) -> list[RunPaths]:
    """The runs of a plan that is gone, the last one first."""
    ref = shelf.Ref(home.place(path)[1], path, False)
    found = [name for name in reversed(places.list_directory(folder)) if places.is_run_id(name)]
    return [places.get_run_paths(home, ref, name) for name in found]


def _bring_back(home: Home, ref: Ref, place: RunPaths, options: Options) -> list[str]:
    """Bring back what a run has written, as a resume or a rollback of it would; raises ExecplanError."""
    from execplan.engine.opened import open_run
    from execplan.engine.watch import RunObserver

    told: list[str] = []

    class Told(RunObserver):
        def warn(self, words: str) -> bool:
            told.append(words)
            return True

    with open_run(home, ref, place, Told(), "doctor"):
        return told or [f"restored the files of the run {place.id}"]


@check("ledgers")
def ledgers(ground: Ground) -> Iterator[Finding | str]:
    """Every ledger is as it was written, as far as its chain and its anchor tell."""
    from execplan.engine.ledger import names
    from execplan.engine.ledger.verify import verify_log

    for home, ref in [shelved[:2] for shelved in ground.plans]:
        folder, copy = home.artifacts_of(ref.path, archived=ref.archived), names.copy_path(home, ref)
        if not any([os.path.lexists(os.path.join(folder, name)) for name in _RECORDED]) and not (
            os.path.lexists(copy) and is_lost(home, copy, names.path_of(home, ref))
        ):
            continue  # to ask git for its anchor takes some milliseconds
        found = verify_log(home, ref)
        if found.reasons:
            more = f", and {len(found.reasons) - 1} more" if len(found.reasons) > 1 else ""
            message = f"the ledger of {ref.id} is not as it was written: {found.reasons[0]}{more}"
            mend, fix = f"see all of it: execplan audit {ref.typed} --verify", None
            if names.is_restorable(home, ref):
                fix = Fix(f"restore {found.path} from its copy", partial(_restore, home, ref))
                mend += "; restore it from its copy: execplan doctor --fix"
            yield Finding(ERROR, found.path, message, mend, fix=fix)


def _restore(home: Home, ref: Ref, options: Options) -> list[str]:
    from execplan.engine.files.store import BackupStore
    from execplan.engine.ledger.ledger import AuditLog

    ledger = AuditLog(home, ref, can_restore=True)
    ledger.update_anchor()
    kept = BackupStore(home).save(ledger.overwritten) if ledger.overwritten else ""
    more = f"; the previous content is in {home.shown(BackupStore(home).path(kept))}" if kept else ""
    return [f"restored {home.shown(ledger.path)}{more}"]


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
        for path, plan in belongings.every(home):
            if not os.path.lexists(plan) and time() - os.lstat(path).st_mtime > _DAYS * 86_400:
                told = home.shown(path)
                fix = Fix(f"remove {told}", partial(_remove, home, path))
                yield Finding(WARNING, told, "is of a plan that is gone", f"rm -r {quote(told)}", fix=fix)


def _known(ground: Ground, home: Home) -> set[str]:
    """The runs whose working state lies beside that of a home."""
    refs = [(each, ref) for each in ground.homes if each.state == home.state for ref in shelf.every(each)]
    return {place.id for each, ref in refs for place in places.list_runs(each, ref)}


def _remove(home: Home, path: str, options: Options) -> list[str]:
    with acquire_run_lock(home, "doctor"):
        shutil.rmtree(path, ignore_errors=True)
    return [f"removed {home.shown(path)}"]
