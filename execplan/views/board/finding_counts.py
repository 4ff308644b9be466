"""The lint findings of all plans and their number, from the cache of `lint` where nothing has changed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from execplan.core.plan_store import plan_store
from execplan.linter.checking.batch_check import check_plans
from execplan.linter.checking.check_targets import TargetGroup
from execplan.linter.checking.modified_plans import add_committed_plans
from execplan.linter.checking.plan_check import CheckOptions
from execplan.linter.checking.plan_histories import add_histories
from execplan.linter.checking.repository_trees import RepositoryTrees
from execplan.linter.finding_summary import finding_weight
from execplan.linter.rule import ERROR, HINT, WARNING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.core.project.project import Project
    from execplan.linter.rule import Finding


class FindingCounts(NamedTuple):
    """The number of findings of a plan at each level."""

    error: int = 0
    warning: int = 0
    hint: int = 0

    def describe(self) -> str:
        """Describe the findings of the most severe level, as in `2 errors`; empty without findings."""
        from execplan.core.text.message_parts import format_count

        levels = [format_count(count, level) for level, count in self._asdict().items() if count]
        return levels[0] if levels else ""


def check_all_plans(
    projects: Sequence[Project], *, archived: bool, tick: Callable[[int, int], None] | None = None
) -> dict[str, tuple[Finding, ...]]:
    """Return the findings of plans by path from the root, with the built-in rules, as `lint` without options does.

    `tick` is called with the number of plans checked and the total. Raises ExecplanError if settings are invalid.
    """
    groups = [
        TargetGroup(project, directory, os.path.join(directory, ""), in_archive, names, is_complete=True)
        for project in projects
        for in_archive in ((False, True) if archived else (False,))
        for directory, names in plan_store.plan_files(project, archive=in_archive)
    ]
    options = add_histories(groups, CheckOptions(trees=RepositoryTrees()))
    checked_files = check_plans(groups, add_committed_plans(groups, options), tick=tick)
    return {checked.path: tuple(checked.findings) for checked in checked_files if checked.findings}


def count_levels(findings: Sequence[Finding]) -> FindingCounts:
    """Count the findings of a plan at each level."""
    counts = dict.fromkeys((ERROR, WARNING, HINT), 0)
    for finding in findings:
        if finding.level in counts:
            counts[finding.level] += finding_weight(finding)
    return FindingCounts(*counts.values())
