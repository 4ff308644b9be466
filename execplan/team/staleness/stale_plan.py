"""Plans that are not what they say: which evidence speaks against each, and the commands that settle it."""

from __future__ import annotations

from collections.abc import Callable
from shlex import quote
from typing import Final, NamedTuple

from execplan.core.plan.model import COMPLETE, DRAFT
from execplan.core.plan.plan_dates import is_on_hold
from execplan.core.plan_store.plan_store import StoredPlan
from execplan.core.text.message_parts import format_count, format_excess
from execplan.team.staleness.claimed_status import DONE, GIVEN_UP
from execplan.team.staleness.stale_evidence import (
    MAX_TASKS,
    StalenessFacts,
    archive_steps,
    drift_evidence,
    error_evidence,
    file_evidence,
    join_commands,
    merge_evidence,
    missing_evidence,
    status_evidence,
)

SUPERSEDED: Final = "superseded"
GIVEN_UP_PLAN: Final = "given up"
UNFINISHED_IN_ARCHIVE: Final = "unfinished in the archive"
READY_TO_ARCHIVE: Final = "ready to archive"
SHIPPED_UNCHECKED: Final = "shipped but not checked off"
CONTRADICTING_STATUS: Final = "contradicting status"
DRIFTED: Final = "drifted"
STALLED: Final = "stalled"

_MAX_COMMITS = 3
"""Maximum number of commits in a command."""


class StalePlan(NamedTuple):
    """A plan that is not what it says."""

    stored_plan: StoredPlan
    kind: str
    evidence: tuple[str, ...]
    """Sentences without a period, the most important first."""
    remedy: str
    """Commands that settle it, in order."""
    line: int
    """Line that is wrong, from 0."""


def assess(facts: StalenessFacts) -> StalePlan | None:
    """Return what is wrong with what a plan says, or None; the first of the checks that applies counts."""
    return next((stale_plan for check in _CHECKS if (stale_plan := check(facts)) is not None), None)


def _superseded(facts: StalenessFacts) -> StalePlan | None:
    if facts.stored_plan.ref.archived or not facts.successor:
        return None
    status = facts.status
    line = status.line if status is not None and status.meaning == GIVEN_UP else facts.plan.title_line
    return StalePlan(
        facts.stored_plan,
        SUPERSEDED,
        (f"{facts.successor} supersedes this plan, but it is not archived", *status_evidence(facts, DONE)),
        f"execplan archive {facts.name} --as superseded --by {quote(facts.successor)}",
        max(line, 0),
    )


def _given_up(facts: StalenessFacts) -> StalePlan | None:
    status = facts.status
    if facts.stored_plan.ref.archived or status is None or status.meaning != GIVEN_UP:
        return None
    return StalePlan(
        facts.stored_plan,
        GIVEN_UP_PLAN,
        (f"the status says `{status.text}`, but the plan is not archived",),
        f"execplan archive {facts.name} --as abandoned --reason {quote(status.text)}",
        status.line,
    )


def _unfinished_in_archive(facts: StalenessFacts) -> StalePlan | None:
    project, ref = facts.stored_plan.project, facts.stored_plan.ref
    tasks = facts.open_tasks
    is_expected = facts.plan.is_archived_unfinished or project.is_in_superseded(ref.path)
    if not ref.archived or not tasks or is_expected:
        return None
    name = facts.name
    return StalePlan(
        facts.stored_plan,
        UNFINISHED_IN_ARCHIVE,
        (f"archived with {format_count(len(tasks), 'open task')}",),
        f"execplan restore {name}, then finish it, or then abandon it: execplan archive {name} --as abandoned --reason 'Why'",
        tasks[0].box_line,
    )


def _ready_to_archive(facts: StalenessFacts) -> StalePlan | None:
    plan = facts.plan
    if facts.stored_plan.ref.archived:
        return None
    is_complete = plan.state() == COMPLETE
    is_merged_without_tasks = not plan.tasks and facts.is_merged_since_start and not facts.timeline.missing
    status = facts.status
    is_done_without_tasks = not plan.tasks and status is not None and status.meaning == DONE
    if not is_complete and not is_merged_without_tasks and not is_done_without_tasks:
        return None
    if not facts.merged and not facts.is_due_for_archive:
        return None
    if len(plan.tasks) > 1:
        evidence = [f"all {len(plan.tasks)} tasks are done, but the plan is not archived"]
    elif plan.tasks:
        evidence = ["its task is done, but the plan is not archived"]
    else:
        evidence = ["the plan has no tasks and is not archived"]
    steps = archive_steps(facts, [])
    evidence += [
        *status_evidence(facts, DONE),
        *merge_evidence(facts),
        *missing_evidence(facts),
    ]
    return StalePlan(
        facts.stored_plan,
        READY_TO_ARCHIVE,
        (*evidence, *error_evidence(steps.errors)),
        steps.commands,
        max(plan.title_line, 0),
    )


def _shipped_unchecked(facts: StalenessFacts) -> StalePlan | None:
    tasks = facts.open_tasks
    if facts.stored_plan.ref.archived or not tasks or facts.is_modified:
        return None
    timeline = facts.timeline
    is_delivered = not timeline.missing
    has_ticks = facts.plan.counts()["done"] > 0
    by_merge = facts.is_merged_since_start and is_delivered and not (has_ticks and facts.was_edited_after_merge)
    by_files = (
        facts.is_stalled
        and is_delivered
        and timeline.shipped is not None
        and timeline.changed is not None
        and timeline.changed.position >= timeline.shipped.position
    )
    if not by_merge and not by_files:
        return None
    steps = archive_steps(facts, tasks)
    noun = "task is" if len(tasks) == 1 else "tasks are"
    return StalePlan(
        facts.stored_plan,
        SHIPPED_UNCHECKED,
        (
            f"{len(tasks)} {noun} not checked off, although the work seems to be done",
            *merge_evidence(facts),
            *file_evidence(facts),
            *status_evidence(facts, DONE),
            *error_evidence(steps.errors),
        ),
        steps.commands,
        tasks[0].box_line,
    )


def _contradicting_status(facts: StalenessFacts) -> StalePlan | None:
    status, tasks = facts.status, facts.open_tasks
    if facts.stored_plan.ref.archived or status is None or status.meaning != DONE or not tasks:
        return None
    numbers = " ".join([str(task.number) for task in tasks[:MAX_TASKS]])
    remedy = (
        f"execplan done {numbers} -p {facts.name}; if they are not done, correct the status on line {status.line + 1}"
    )
    message = f"the status says `{status.text}`, but task {tasks[0].number} is open{format_excess(len(tasks), 1)}"
    return StalePlan(facts.stored_plan, CONTRADICTING_STATUS, (message,), remedy, status.line)


def _drifted(facts: StalenessFacts) -> StalePlan | None:
    project, drifts = facts.stored_plan.project, facts.timeline.drifts
    is_settled = facts.plan.state() == COMPLETE or is_on_hold(
        facts.plan, project.display_path(facts.stored_plan.ref.path)
    )
    if facts.stored_plan.ref.archived or not drifts or facts.is_modified or is_settled:
        return None
    commits = " ".join(dict.fromkeys([drift.step.commit[:10] for drift in drifts[:_MAX_COMMITS]]))
    return StalePlan(
        facts.stored_plan,
        DRIFTED,
        (
            "the plan describes files that have changed since its last edit",
            *drift_evidence(drifts),
        ),
        join_commands([f"git show {commits}", f"execplan edit {facts.name}"]),
        max(facts.plan.title_line, 0),
    )


def _stalled(facts: StalenessFacts) -> StalePlan | None:
    if facts.stored_plan.ref.archived or not facts.is_stalled or facts.plan.state() == COMPLETE:
        return None
    days = facts.stored_plan.project.settings.stalled_days
    remaining_work, command = format_count(len(facts.open_tasks), "open task"), "next"
    if facts.plan.state() == DRAFT:
        remaining_work = "draft"
    elif not facts.plan.tasks:
        remaining_work, command = "no tasks", "edit"
    name = facts.name
    return StalePlan(
        facts.stored_plan,
        STALLED,
        (f"{remaining_work}, but no timestamp, edit or commit in {days} days",),
        f"execplan {command} {name}; to give it up: execplan archive {name} --as abandoned --reason 'WHY'",
        max(facts.plan.title_line, 0),
    )


_CHECKS: tuple[Callable[[StalenessFacts], StalePlan | None], ...] = (
    _superseded,
    _given_up,
    _unfinished_in_archive,
    _ready_to_archive,
    _shipped_unchecked,
    _contradicting_status,
    _drifted,
    _stalled,
)
