"""What a step writes may be written."""

from __future__ import annotations

from execplan.execution.evaluation.after import inside
from execplan.execution.evaluation.checks.check import ERROR, WARNING, Case, Finding, check
from execplan.execution.world import LINK, OUTSIDE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


@check("permissions")
def permissions(case: Case) -> Iterator[Finding]:
    """Every file that a step writes or deletes may be written, and so may its folder."""
    asked: dict[str, bool] = {}
    for trial in case.trials:
        for paths, level in ((trial.targets, ERROR), (inside(trial.step.outputs), WARNING)):
            for path in paths:
                if case.world.state(path).kind in (OUTSIDE, LINK):
                    continue
                if path not in asked:
                    asked[path] = case.world.writable(path)
                if not asked[path]:
                    yield Finding(level, f"{path} may not be written", "look at its mode and its folder's", trial.step)
