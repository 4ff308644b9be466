"""The records of the board: a card for each plan, in columns from broken to archived."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from execplan.core.plan.model import ACTIVE, ARCHIVED, BROKEN, COMPLETE, DRAFT
from execplan.team.advice import execution_status
from execplan.views.board.finding_counts import FindingCounts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from execplan.core.plan_facts.listed_plan import TaskCounts
    from execplan.core.project.project_list import ProjectOrigin
    from execplan.linter.rule import Finding
    from execplan.team.worktrees.plan_location import PlanLocation

STALLED: Final = "stalled"
COLUMNS: Final = (BROKEN, DRAFT, ACTIVE, STALLED, COMPLETE, ARCHIVED)
"""The names of the columns, from left to right; broken plans come first, because nothing else works with them."""


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
    """Path of the nested project from the repository root; empty for the project that the board was loaded for."""
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
