"""What a step writes may be written."""

from __future__ import annotations

from execplan.execution.evaluation.after import above, inside
from execplan.execution.evaluation.checks.check import ERROR, WARNING, Case, Finding, check
from execplan.execution.model import Type
from execplan.execution.world import LINK, OUTSIDE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


@check("permissions")
def permissions(case: Case) -> Iterator[Finding]:
    """Every file that a step writes or deletes may be written, and so may its folder."""
    asked: dict[str, bool] = {}
    deleted: set[str] = set()
    for trial in case.trials:
        for paths, level in ((trial.targets, ERROR), (inside(trial.step.outputs), WARNING)):
            for path in paths:
                if case.world.state(path).kind in (OUTSIDE, LINK):
                    continue
                place = next((each for each in above(path) if each in deleted), path)
                if place not in asked:
                    asked[place] = case.world.writable(place)
                if not asked[place]:
                    yield Finding(level, f"{path} may not be written", "look at its mode and its folder's", trial.step)
        if trial.step.type is Type.DELETE:
            deleted.update(trial.targets)
