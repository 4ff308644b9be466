"""Can every plan be read, and does it lie where it belongs?"""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING

from execplan.engine.open_runs import list_open_runs
from execplan.lint.runner import lint_plan
from execplan.lint.selection import Selection
from execplan.repo import shelf
from execplan.repo.checking.one import Way, given
from execplan.repo.checking.selected import levels
from execplan.repo.checking.whole import artifacts_of
from execplan.view.doctor.check import ERROR, WARNING, Finding, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.repo.shelf import Shelved
    from execplan.view.doctor.ground import Ground

_UNFINISHED, _UNFILED = "EP502", "EP503"
_ORPHAN = "EP505"


@check("plans")
def plans(ground: Ground) -> Iterator[Finding | str]:
    """Every plan can be read, and none holds conflict markers."""
    for shelved in ground.plans:
        path = shelved.home.shown(shelved.ref.path)
        if shelved.error is not None:
            yield Finding(ERROR, path, shelved.error.message, shelved.error.hint, line=shelved.error.line)
        elif shelved.plan is not None and shelved.plan.conflicts:
            count = len(shelved.plan.conflicts)
            mend = f"execplan merge {quote(path)}, or take one side and remove the markers"
            message = f"{count} conflict markers are left, so nothing can be written"
            yield Finding(ERROR, path, message, mend, line=shelved.plan.conflicts[0] + 1)
    for trouble in ground.closed:
        if not os.path.isdir(os.path.join(ground.home.root, trouble.path)):
            continue  # the check of folders says so
        hint = f"let yourself in: chmod u+rx {quote(trouble.path)}"
        yield Finding(ERROR, trouble.path, f"plans may be hidden: {trouble.error.message}", hint)
    counted = [shelved.ref.archived for shelved in ground.plans]
    count = counted.count(False)
    yield f"{count} plan{'s' if count != 1 else ''}, {counted.count(True)} archived"


@check("places")
def places(ground: Ground) -> Iterator[Finding | str]:
    """Finished plans lie in the archive, and no unfinished one does unless it says why."""
    for shelved in ground.plans:
        if shelved.plan is not None and not shelved.plan.conflicts:
            yield from _misplaced(shelved)


def _misplaced(shelved: Shelved) -> Iterator[Finding]:
    """What lint finds about the place of a plan, as the settings want it."""
    home, ref, _, plan, _ = shelved
    assert plan is not None
    path = home.shown(ref.path)
    chosen = {code: level for code, level in levels(home, Selection(), path).items() if code in (_UNFINISHED, _UNFILED)}
    for found in lint_plan(plan, given(home, ref, Way()), chosen):
        if found.code == _UNFILED:
            if list_open_runs(home, ref):
                continue  # the check of runs reports it: the plan can't be archived before
            mend = f"execplan archive {ref.typed}"
        elif plan.excused or found.code != _UNFINISHED:
            continue
        else:
            mend = f"execplan restore {ref.typed}, then finish it, or archive it with --force --reason"
        yield Finding(WARNING, path, found.message, mend, line=found.line)


@check("ids")
def ids(ground: Ground) -> Iterator[Finding | str]:
    """No two plans have the same id, in no case and no Unicode form, archived ones and those of other homes too."""
    named: dict[str, list[Shelved]] = {}
    for shelved in ground.plans:
        named.setdefault(shelf.same_id(shelved.ref.id), []).append(shelved)
    for same in named.values():
        if len(same) > 1:
            paths = [each.home.shown(each.ref.path) for each in same]
            movable = next((at for at, each in enumerate(same) if not each.ref.archived), None)
            command = f"execplan rename {quote(paths[movable])} 'Another title'" if movable is not None else ""
            mend = command or f"give one of the files another name: git mv {quote(paths[0])} OTHER"
            yield Finding(WARNING, paths[0], f"its id is also that of {', '.join(paths[1:])}", mend)


@check("artifacts")
def artifacts(ground: Ground) -> Iterator[Finding | str]:
    """Every folder of artifacts belongs to a plan."""
    plans_seen = ground.plans
    for home in ground.homes if not ground.closed else ():
        if _ORPHAN not in levels(home, Selection(), ""):
            yield f"not looked at in {home.shown(home.base) or '.'}: its settings leave {_ORPHAN} out"
            continue
        names = {shelf.same_id(each.ref.id) for each in plans_seen if each.home is home}
        for name, path in artifacts_of(home):
            if name not in names:
                folder = os.path.dirname(path)
                mend = f"mv {quote(path)} {quote(folder)}/ID-OF-ITS-PLAN, or remove it: rm -r {quote(path)}"
                yield Finding(WARNING, path, "artifacts of a plan that is not there", mend)
