"""Is every edit in its plan, and nothing half done?"""

from __future__ import annotations

from functools import partial
from shlex import quote
from typing import TYPE_CHECKING

from execplan.repo.edits import journal, overwritten
from execplan.repo.edits.losses import look
from execplan.repo.edits.recovered import keep
from execplan.repo.moving.settle import half_done, settle
from execplan.view.doctor.check import ERROR, WARNING, Finding, Fix, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.repo.amend import Options
    from execplan.repo.edits.lost import Step
    from execplan.repo.home import Home
    from execplan.repo.shelf import Shelved
    from execplan.view.doctor.ground import Ground


@check("moves")
def moves(ground: Ground) -> Iterator[Finding | str]:
    """No move of a plan is half done."""
    for home in ground.states:
        move = half_done(home)
        if move is not None:
            fix = Fix(f"finish or reverse: {move.line}", partial(_settle, home))
            message = f"a move was cut short: {move.line}"
            yield Finding(ERROR, home.shown(move.path), message, "execplan doctor --fix", fix=fix)


def _settle(home: Home, options: Options) -> list[str]:
    return settle(home)


@check("edits")
def edits(ground: Ground) -> Iterator[Finding | str]:
    """Every edit that was made through execplan is in its plan, as far as the journal tells."""
    for shelved in ground.plans:
        if shelved.plan is None or shelved.plan.conflicts:
            continue
        home, ref = shelved[:2]
        looked = look(home, ref)
        for said in looked.damaged:
            file = quote(home.shown(journal.path_of(home, ref.path)))
            mend = f"see what else the journal holds with execplan undo --dry-run; to do without it: rm {file}"
            yield Finding(WARNING, home.shown(ref.path), f"the journal's record can't be read of {said}", mend)
        text = looked.now
        for step in looked.lost:
            if ref.archived:
                yield _lost_in_archive(shelved, step)
                continue
            done, diff = overwritten.preview(home, ref, step, text)
            text = text if done is None else done
            yield _lost(shelved, step, diff)


def _lost(shelved: Shelved, step: Step, diff: str) -> Finding:
    """What is to be said of an edit that is no longer in its plan, and how the plan changes when it is put back."""
    home, ref = shelved[:2]
    message = f"another program has overwritten an edit: {step.said}"
    mend, would, make = "execplan doctor --fix", "put back", _put_back
    if not diff:
        message += "; the same lines were changed otherwise, so it can't be put back by itself"
        mend, would, make = "keep what it did in a file: execplan doctor --fix", "keep in a file", _keep
    mend += f"; if it was taken out on purpose: execplan doctor --forget {ref.typed}"
    fix = Fix(f"{would}: {step.said}", partial(make, shelved, step), diff)
    return Finding(ERROR, home.shown(ref.path), message, mend, fix=fix)


def _lost_in_archive(shelved: Shelved, step: Step) -> Finding:
    """An archived plan is a record: what it lacks is kept in a file, unless the plan is restored first."""
    home, ref = shelved[:2]
    message = f"another program overwrote an edit before the plan was archived: {step.said}"
    mend = f"put it back: execplan restore {ref.typed}, then execplan doctor --fix; or keep what it did in a file: execplan doctor --fix"
    mend += f"; if it was taken out on purpose: execplan doctor --forget {ref.typed}"
    fix = Fix(f"keep in a file: {step.said}", partial(_keep, shelved, step), "")
    return Finding(ERROR, home.shown(ref.path), message, mend, fix=fix)


def _put_back(shelved: Shelved, step: Step, options: Options) -> list[str]:
    overwritten.again(shelved.home, shelved.ref, step, options)
    return [f"put back: {step.said}"]


def _keep(shelved: Shelved, step: Step, options: Options) -> list[str]:
    home, ref = shelved[:2]
    file = keep(home, ref.path, overwritten.difference(home, ref, step))
    overwritten.forget(home, ref, [step])
    return [f"kept in {home.shown(file)}: {step.said}"]
