"""The records of the board: a card for each plan, in columns from broken to archived, and the lint findings on them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from execplan.core.plan.model import ACTIVE, ARCHIVED, BROKEN, COMPLETE, DRAFT
from execplan.core.plan_store import plan_store
from execplan.linter.checking.batch_check import check_plans
from execplan.linter.checking.check_targets import TargetGroup
from execplan.linter.checking.modified_plans import add_committed_plans
from execplan.linter.checking.plan_check import CheckOptions
from execplan.linter.checking.plan_histories import add_histories
from execplan.linter.checking.repository_trees import RepositoryTrees
from execplan.linter.finding_summary import finding_weight
from execplan.linter.rule import ERROR, HINT, WARNING
from execplan.team.advice import execution_status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from execplan.core.plan_facts.listed_plan import TaskCounts
    from execplan.core.project.project import Project
    from execplan.core.project.project_list import ProjectOrigin
    from execplan.linter.rule import Finding
    from execplan.team.worktrees.plan_versions import PlanLocation

STALLED: Final = "stalled"
COLUMNS: Final = (BROKEN, DRAFT, ACTIVE, STALLED, COMPLETE, ARCHIVED)
"""The names of the columns, from left to right; broken plans come first, because nothing else works with them."""


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


class NextTask(NamedTuple):
    """The task of a plan to work on next."""

    number: int
    id: str
    text: str


class TaskClaim(NamedTuple):
    """A claim on an open task of a plan."""

    number: int
    id: str
    text: str
    by: str
    until: str
    """UTC timestamp at which the claim expires."""


class LastRun(NamedTuple):
    """The last run of a plan."""

    id: str
    state: str
    """One of `run_statuses.STATES`."""
    text: str
    """Description for people, such as `run 2 failed`."""


class Card(NamedTuple):
    """A plan on the board. Texts come from the plan, so whoever shows them must escape them."""

    id: str
    path: str
    """Path from the repository root."""
    project: str
    """Path from the repository root of the nested project or further plans directory; empty for the project of the board."""
    title: str
    """Empty for a plan without a title or a broken plan."""
    column: str
    """One of `COLUMNS`."""
    state: str
    """State of the plan; a stalled plan is a draft or active."""
    digest: str
    """SHA-256 of the file, which a writer passes as `if_match`; empty for a file that can't be read."""
    counts: TaskCounts | None
    """None for a broken plan."""
    next_task: NextTask | None
    """The task that the current author has claimed, otherwise the first unclaimed open task, of a draft or active plan."""
    next_text: str
    """Description of the next task and of claims, or why there is no next task."""
    blocked_by: tuple[str, ...]
    """The plans that the plan waits for, as its metadata names them."""
    claims: tuple[TaskClaim, ...]
    last_date: str
    """Latest date in the plan, such as 2026-01-31; empty if there is none."""
    idle_days: int | None
    """Days since `last_date`; None if there is none, or if it is in the future."""
    findings: FindingCounts
    approval: str
    """Approval status of the execution plan of an open plan, such as `approved` or `stale`; `none` without one."""
    run: LastRun | None
    conflict_line: int
    """First line with a conflict marker, from 1, or 0."""
    error: str
    """Why the plan is broken; empty for others."""
    worktree: PlanLocation | None = None
    """Where the plan is being worked on, if not only here; None if worktrees were not compared."""
    open_comments: int = 0
    """Number of review comments that are not resolved."""
    unknown_dependencies: tuple[str, ...] = ()
    """Dependencies in projects that are not known on this machine, as written; they block nothing."""
    dialect: str = ""
    """Dialect of the plan, by its directory."""
    from_project: ProjectOrigin | None = None
    """The project of the plan; None if the board is that of one project."""

    @property
    def identity(self) -> tuple[ProjectOrigin | None, str, str]:
        """What tells the plan from others on the board, also after it has changed its column."""
        return self.from_project, self.project, self.id

    @property
    def approval_text(self) -> str:
        """The approval status in two words; empty if nothing was compiled."""
        return execution_status.approval_label(self.approval)

    @property
    def holders(self) -> tuple[str, ...]:
        """Names of those who have claimed tasks, without repetition."""
        return tuple(dict.fromkeys([claim.by for claim in self.claims]))

    def to_json(self) -> dict[str, Any]:
        """Return the card as a document shows it."""
        return {
            **self._asdict(),
            "counts": self.counts._asdict() if self.counts is not None else None,
            "next_task": self.next_task._asdict() if self.next_task is not None else None,
            "claims": [claim._asdict() for claim in self.claims],
            "findings": self.findings._asdict(),
            "run": self.run._asdict() if self.run is not None else None,
            "worktree": self.worktree.to_json() if self.worktree is not None else None,
            "from_project": self.from_project.to_json() if self.from_project is not None else None,
        }


class Column(NamedTuple):
    """A column of the board."""

    name: str
    """One of `COLUMNS`."""
    cards: tuple[Card, ...]
    """Latest activity first."""
    total: int
    """Number of plans, also if their cards were not loaded."""


class Board(NamedTuple):
    """All plans of a project and of its nested projects at a glance."""

    columns: tuple[Column, ...]
    """All of `COLUMNS`, also empty ones."""
    findings: Mapping[str, tuple[Finding, ...]]
    """The findings that cards count, by path of the plan; only of plans that have some."""

    @property
    def cards(self) -> list[Card]:
        """All cards, column by column."""
        return [card for column in self.columns for card in column.cards]
