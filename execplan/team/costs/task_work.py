"""Who worked on the tasks of a plan, and when: from a claim until the task was checked off, or the claim ended."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.clock import minute_bounds, now
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.model import DONE
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.plan_store import plan_store

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from execplan.core.plan.model import ParsedPlan, Task
    from execplan.core.plan_store.claims_file import ClaimSpan
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project

_SECONDS_PER_MINUTE = 60


class WorkSpan(NamedTuple):
    """A time of work on a task, in seconds since 1970; the end is exclusive."""

    name: str
    """Who had claimed the task."""
    session: str
    """ID of the agent program's session; empty if there was none."""
    start: int
    end: int


class TaskWork(NamedTuple):
    """A task with the times of work on it."""

    plan_id: str
    path: str
    """Path of the plan from the repository root."""
    task_id: str
    number: int
    text: str
    state: str
    spans: tuple[WorkSpan, ...]
    """Times of work in order; empty if the task was never claimed."""

    @property
    def seconds(self) -> int:
        """Number of seconds of work; times of several people or sessions at once count once."""
        total, end = 0, 0
        for span in sorted(self.spans, key=lambda span: span.start):
            total += max(0, span.end - max(span.start, end))
            end = max(end, span.end)
        return total


def collect_work(project: Project, ref: PlanRef, plan: ParsedPlan, claim_spans: Sequence[ClaimSpan]) -> list[TaskWork]:
    """Return the tasks of a plan with the times of work on them, according to the claims.

    A plan that was archived or renamed keeps its claims, because they move with it.
    """
    key = os.path.relpath(ref.real_path, os.path.realpath(project.path_base))
    spans_by_task: dict[str, list[ClaimSpan]] = {}
    for span in claim_spans:
        if span.plan == key:
            spans_by_task.setdefault(span.task, []).append(span)
    current_time = int(now().timestamp())
    return [
        TaskWork(
            ref.id,
            project.display_path(ref.path),
            task_id,
            task.number,
            task.text,
            task.state,
            _work_spans(spans_by_task.get(task_id, []), task, current_time),
        )
        for task_id, task in zip(task_ids(plan.tasks), plan.tasks, strict=True)
    ]


def collect_other_work(
    project: Project, works: Sequence[TaskWork], plans: Collection[str], claim_spans: Sequence[ClaimSpan]
) -> list[TaskWork]:
    """Return the tasks of other plans that sessions of these works had claimed too, so that usage can be split.

    `plans` are the real paths of the plans of these works. Plans that can't be read, or are gone, are left out.
    """
    sessions = {span.session for work in works for span in work.spans if span.session}
    base = os.path.realpath(project.path_base)
    paths = dict.fromkeys([os.path.join(base, span.plan) for span in claim_spans if span.session in sessions])
    other_works = []
    for path in paths:
        if path in plans:
            continue
        stored_plan = plan_store.load(project, plan_store.ref_for_path(project, path))
        if stored_plan.plan is not None:
            other_works += collect_work(project, stored_plan.ref, stored_plan.plan, claim_spans)
    return other_works


def _work_spans(claim_spans: Sequence[ClaimSpan], task: Task, current_time: int) -> tuple[WorkSpan, ...]:
    """Return the times of work on a task: its claims, cut off where it was checked off, and joined if one renews another."""
    done = _done_time(task)
    spans: list[WorkSpan] = []
    for claim_span in sorted(claim_spans, key=lambda span: span.start):
        end = min(claim_span.end, current_time)
        if done is not None and claim_span.start < done:
            end = min(end, done)
        if end < claim_span.start:
            continue
        span = WorkSpan(claim_span.name, claim_span.session, claim_span.start, end)
        previous = spans[-1] if spans else None
        if previous is not None and previous[:2] == span[:2] and span.start <= previous.end:
            spans[-1] = previous._replace(end=max(previous.end, span.end))
        else:
            spans.append(span)
    return tuple(spans)


def _done_time(task: Task) -> int | None:
    """Return the end of the minute in which a task was checked off; None if it is not done, or has only a date."""
    if task.state != DONE or task.timestamp is None or not task.timestamp.is_valid:
        return None
    bounds = minute_bounds(task.timestamp)
    if bounds is None or bounds[0] != bounds[1]:
        return None
    return (bounds[1] + 1) * _SECONDS_PER_MINUTE
