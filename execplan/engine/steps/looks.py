"""The looks at the tree before and behind a step in which a program runs."""

from __future__ import annotations

import os

from execplan.engine import ticks
from execplan.engine.steps.named import declared, snapshot
from execplan.execution.evaluation.after import normalize_paths
from execplan.execution.evaluation.trial import target_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.entries import Change
    from execplan.engine.files.tree import WorkspaceSnapshot
    from execplan.engine.steps.bench import RunContext
    from execplan.execution.model import Step

_last: dict[str, WorkspaceSnapshot] = {}
"""The last look of the run that is under way, by its id: what is as it was then is not read again."""


def keep(bench: RunContext, step: Step) -> None:
    """Keep the tree as it is before a step; raises ExecplanError."""
    from execplan.engine.files import tree

    known = _last.get(bench.place.id)
    tree.save(_look(bench, step, known, keep=True), snapshot(bench.place, step))


def known(bench: RunContext, step: Step) -> bool:
    """Whether the look before a step is there: it is kept before the step is begun, so without it nothing is known of that."""
    return os.path.lexists(snapshot(bench.place, step))


def changed(bench: RunContext, step: Step) -> tuple[tuple[Change, ...], tuple[str, ...], str]:
    """What has changed since, the folders that were made, and where nobody has looked, in words; raises ExecplanError."""
    from execplan.engine.files import tree

    if not known(bench, step):
        return (), (), "in the repository (the look at it from before is gone)"
    before = tree.load(snapshot(bench.place, step))
    after = _look(bench, step, before, keep=False)
    _last.clear()
    _last[bench.place.id] = after
    changes, folders = tree.diff_snapshots(before, after, declared(step), bench.store, bench.ground)
    ticked = ticks.plans(bench.home, bench.ref, bench.document)
    hidden = "in files that git ignores" if before.unseen or after.unseen else ""
    hidden = hidden if before.is_complete and after.is_complete else "in files that it does not declare"
    return tuple([each for each in changes if each.path not in ticked]), folders, hidden


def _look(bench: RunContext, step: Step, known: WorkspaceSnapshot | None, *, keep: bool) -> WorkspaceSnapshot:
    """The tree, with what git ignores where this step says that it writes it, or another is to change it."""
    from execplan.engine.files import tree

    others = [path for each in bench.document.steps for path in normalize_paths(target_paths(each))]
    return tree.take_snapshot(bench.home, bench.ground, bench.store, [*declared(step), *others], known, keep=keep)
