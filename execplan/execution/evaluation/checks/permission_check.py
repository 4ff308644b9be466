"""Check that the files a step writes are writable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.execution.evaluation.checks.check_registry import ERROR, WARNING, CheckContext, Finding, check
from execplan.execution.evaluation.projected_files import normalize_paths, parent_directories
from execplan.execution.execution_plan import Type
from execplan.execution.world import LINK, OUTSIDE

if TYPE_CHECKING:
    from collections.abc import Iterator


@check("permissions")
def permissions(context: CheckContext) -> Iterator[Finding]:
    """Every file that a step writes or deletes is writable, and so is its directory."""
    writable: dict[str, bool] = {}
    deleted: set[str] = set()
    for trial in context.trials:
        for paths, level in ((trial.targets, ERROR), (normalize_paths(trial.step.outputs), WARNING)):
            for path in paths:
                if context.world.state(path).kind in (OUTSIDE, LINK):
                    continue
                checked_path = next((parent for parent in parent_directories(path) if parent in deleted), path)
                if checked_path not in writable:
                    writable[checked_path] = context.world.writable(checked_path)
                if not writable[checked_path]:
                    yield Finding(
                        level, f"{path} is not writable", "check its mode and that of its directory", trial.step
                    )
        if trial.step.type is Type.DELETE:
            deleted.update(trial.targets)
