"""The facts of a plan's content that its card shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.linter.rules.staleness_rules import is_on_hold, latest_date
from execplan.plan.model import OPEN
from execplan.plan.plan_dependencies import read_dependencies
from execplan.plan.plan_lookup import task_ids
from execplan.text.text_lines import digest

if TYPE_CHECKING:
    from execplan.plan.model import ParsedPlan
    from execplan.plan.plan_dependencies import PlanMention


class TaskCounts(NamedTuple):
    """The number of tasks in each state."""

    open: int
    done: int
    other: int
    total: int


class OpenTask(NamedTuple):
    """An open task of a plan."""

    number: int
    """Position among the plan's tasks, from 1."""
    id: str
    text: str


class CardFacts(NamedTuple):
    """What the content of a plan says, independent of where the plan is and of the time."""

    digest: str
    """SHA-256 of the file, in 64 hexadecimal digits; empty if the file can't be read."""
    title: str
    state: str
    """State of the plan if it is not archived."""
    counts: TaskCounts | None
    """None for a broken plan."""
    open_tasks: tuple[OpenTask, ...]
    dependencies: tuple[PlanMention, ...]
    """The plans that the metadata names as dependencies."""
    last_date: str
    """Latest date in the plan, such as 2026-01-31; empty if there is none."""
    is_on_hold: bool
    conflict_line: int
    """First line with a conflict marker, from 1, or 0."""
    finishing_command: str
    """The command that the plan needs first once it is complete: `merge`, `outcome`, `lint` or `archive`."""
    error: str
    """Why the plan is broken; empty for others."""


def extract_facts(plan: ParsedPlan, data: bytes, path: str) -> CardFacts:
    """Extract the facts from a parsed plan and its bytes; `path` is its path from the repository root."""
    return CardFacts(
        digest(data),
        plan.title or "",
        plan.state(),
        TaskCounts(**plan.counts()),
        tuple(
            [
                OpenTask(task.number, task_id, task.text)
                for task, task_id in zip(plan.tasks, task_ids(plan.tasks), strict=True)
                if task.state == OPEN
            ]
        ),
        tuple(read_dependencies(plan)),
        latest_date(plan),
        is_on_hold(plan, path),
        plan.conflict_lines[0] + 1 if plan.conflict_lines else 0,
        _finishing_command(plan),
        "",
    )


def _finishing_command(plan: ParsedPlan) -> str:
    """Return the command that the plan needs first once it is complete, as `plan_advice` advises."""
    if plan.conflict_lines:
        return "merge"
    if not plan.outcomes:
        return "outcome"
    return "lint" if plan.placeholder_lines else "archive"
