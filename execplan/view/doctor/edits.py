"""Is every edit in its plan, and nothing half done?"""

from __future__ import annotations

from functools import partial
from shlex import quote
from typing import TYPE_CHECKING

from execplan.repo import overwritten, recovery
from execplan.view.doctor.check import ERROR, WARNING, Finding, Fix, check

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.repo.amend import Options
    from execplan.repo.home import Home
    from execplan.repo.lost import Step
    from execplan.repo.shelf import Shelved
    from execplan.view.doctor.ground import Ground


@check("moves")
def moves(ground: Ground) -> Iterator[Finding | str]:
    """No move of a plan is half done."""
    for home in ground.homes:
        move = recovery.pending(home)
        if move is not None:
            fix = Fix(f"finish it or take it back: {move}", partial(_settle, home))
            yield Finding(ERROR, "", f"a move was cut short: {move}", "execplan doctor --fix", fix=fix)


def _settle(home: Home, options: Options) -> list[str]:
    return recovery.settle(home)


@check("edits")
def edits(ground: Ground) -> Iterator[Finding | str]:
    """Every edit that was made through execplan is in its plan, as far as the journal tells."""
    for shelved in ground.plans:
        if shelved.plan is None or shelved.plan.conflicts or shelved.ref.archived:
            continue
        home, ref, data = shelved[:3]
        path = home.shown(ref.path)
        for said in overwritten.told(home, ref.path, data).damaged:
            mend = f"undo can't go behind it; to forget the journal of this plan: rm {quote(overwritten.file(home, ref.path))}"
            yield Finding(WARNING, path, f"the journal's record can't be read of {said}", mend)
        for step in overwritten.find(home, ref, data):
            yield _lost(shelved, step)


def _lost(shelved: Shelved, step: Step) -> Finding:
    home, ref, data = shelved[:3]
    path = home.shown(ref.path)
    back, diff = overwritten.preview(home, ref, [step], data)
    meant = f"if it was taken out on purpose: execplan doctor --forget {quote(ref.id)}"
    message = f"another program has overwritten an edit: {step.said}"
    if back.made:
        fix = Fix(f"put back: {step.said}", partial(_put_back, shelved, [step]), diff)
        return Finding(ERROR, path, message, f"execplan doctor --fix; {meant}", fix=fix)
    fix = Fix(f"keep in a file: {step.said}", partial(_put_back, shelved, [step]))
    message += "; its lines have changed since, so it can't be put back by itself"
    return Finding(ERROR, path, message, f"keep what it did in a file: execplan doctor --fix; {meant}", fix=fix)


def _put_back(shelved: Shelved, steps: Sequence[Step], options: Options) -> list[str]:
    home, ref = shelved[:2]
    back = overwritten.put_all_back(home, ref, steps, options)
    said = [f"put back in {home.shown(ref.path)}: {each}" for each in back.made]
    for step, difference in back.kept:
        file = recovery.keep(home, ref.path, difference)
        overwritten.forget(home, ref, [step])
        said.append(f"kept in {home.shown(file)}: {step.said}")
    return said


@check("recovered")
def recovered(ground: Ground) -> Iterator[Finding | str]:
    """No version of a plan is kept that an edit displaced."""
    for home in ground.states:
        for path in recovery.every(home):
            told = quote(home.shown(path))
            mend = f"look whether the plan lacks something of it, then remove it: rm {told}"
            yield Finding(WARNING, home.shown(path), "holds what could not be written into a plan", mend)
