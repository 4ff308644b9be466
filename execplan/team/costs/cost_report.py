"""What plans have cost: the time of work on each task, by whom, and the tokens and the money of the sessions in it.

The logs of sessions don't name tasks, so usage goes to a task by its time: that of the claim that the session had.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise

from execplan.context.model_table import ModelTable, cost_of
from execplan.context.session_logs.token_usage import NO_USAGE, TokenUsage, UsageEvent
from execplan.core.clock import now
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.model import DONE, ParsedPlan, Task
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.claims_file import ClaimSpan
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.text.message_parts import format_count
from execplan.core.timestamps import minute_bounds

ReadUsage = Callable[[str, int], list[UsageEvent] | None]

"""Returns the usage of a session from a time on; None if its log is not found."""

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


class Cost(NamedTuple):
    """Tokens, and their cost as far as it is known."""

    usage: TokenUsage = NO_USAGE
    """Tokens by kind; the cost is None if no part of it is known."""
    unpriced_tokens: int = 0
    """Number of tokens of models without a known price, which the cost doesn't include."""

    def add(self, other: Cost) -> Cost:
        """Return the sum of both costs."""
        return Cost(self.usage.add(other.usage), self.unpriced_tokens + other.unpriced_tokens)

    @property
    def tokens(self) -> int:
        """Number of tokens of all kinds."""
        return sum(self.usage.tokens.values())


class TaskCost(NamedTuple):
    """What a task has cost."""

    work: TaskWork
    cost: Cost | None
    """Usage in the times of work; None if no log of its sessions was found, or if no session worked on it."""
    shared_seconds: int
    """Number of seconds in which the same session had other tasks claimed too, so that its usage was split evenly."""


class CostReport(NamedTuple):
    """What the tasks of some plans have cost, and what can't be known."""

    tasks: tuple[TaskCost, ...]
    total: Cost
    other_usage: Cost
    """Usage of the same sessions between the first and the last claim, while they had claimed no task."""
    models: tuple[str, ...]
    """Models that the logs name."""
    gaps: tuple[str, ...]
    """What can't be known, a sentence each."""


class _Share(NamedTuple):
    """A time of work of a session on a task."""

    task: int
    """Index of the task."""
    start: int
    end: int


def build_report(
    works: Sequence[TaskWork], read_usage: ReadUsage, table: ModelTable, other_works: Sequence[TaskWork] = ()
) -> CostReport:
    """Return what tasks have cost, in the order given.

    Other works of the same sessions get their part of the usage, but are not in the report.
    """
    shares = _shares_by_session(works)
    all_shares = _shares_by_session([*works, *other_works])
    costs: list[Cost | None] = [None for _ in (*works, *other_works)]
    shared_seconds = [0 for _ in costs]
    other_usage, models, missing_logs = Cost(), set(), 0
    for session, session_shares in shares.items():
        _add_shared_seconds(all_shares[session], shared_seconds)
        start, end = min([share.start for share in session_shares]), max([share.end for share in session_shares])
        events = read_usage(session, start)
        if events is None:
            missing_logs += 1
            continue
        for share in session_shares:
            costs[share.task] = costs[share.task] or Cost()
        for event in [event for event in events if event.time < end]:
            models.add(event.model or "unknown")
            event_cost = _price(event, table)
            tasks = sorted({share.task for share in all_shares[session] if share.start <= event.time < share.end})
            for task, part in zip(tasks, _split(event_cost, len(tasks)), strict=True):
                costs[task] = (costs[task] or Cost()).add(part)
            other_usage = other_usage if tasks else other_usage.add(event_cost)
    task_costs = tuple(
        [TaskCost(work, cost, shared) for work, cost, shared in zip(works, costs, shared_seconds, strict=False)]
    )
    total = Cost()
    for cost in costs[: len(works)]:
        total = total.add(cost) if cost is not None else total
    gaps = _find_gaps(task_costs, total.add(other_usage), missing_logs, len(shares))
    return CostReport(task_costs, total, other_usage, tuple(sorted(models)), gaps)


def _shares_by_session(works: Sequence[TaskWork]) -> dict[str, list[_Share]]:
    shares: dict[str, list[_Share]] = {}
    for index, work in enumerate(works):
        for span in work.spans:
            if span.session:
                shares.setdefault(span.session, []).append(_Share(index, span.start, span.end))
    return shares


def _add_shared_seconds(shares: Sequence[_Share], shared_seconds: list[int]) -> None:
    """Add for each task the seconds in which its session had other tasks claimed too."""
    edges = sorted({edge for share in shares for edge in (share.start, share.end)})
    for start, end in pairwise(edges):
        tasks = {share.task for share in shares if share.start <= start and end <= share.end}
        if len(tasks) > 1:
            for task in tasks:
                shared_seconds[task] += end - start


def _price(event: UsageEvent, table: ModelTable) -> Cost:
    """Return the usage with its cost: as logged, or from the price of the model."""
    if event.usage.cost_usd is not None:
        return Cost(event.usage)
    model = table.find(event.model) if event.model else None
    if model is None or model.price is None:
        return Cost(event.usage, sum(event.usage.tokens.values()))
    return Cost(event.usage._replace(cost_usd=cost_of(model.price, event)))


def _split(cost: Cost, count: int) -> list[Cost]:
    """Split usage evenly; the parts add up to it."""
    parts = []
    for index in range(count):
        tokens = {kind: _part(number, index, count) for kind, number in cost.usage.tokens.items()}
        cost_usd = cost.usage.cost_usd / count if cost.usage.cost_usd is not None else None
        parts.append(Cost(TokenUsage(tokens, cost_usd), _part(cost.unpriced_tokens, index, count)))
    return parts


def _part(number: int, index: int, count: int) -> int:
    """Return the part of a number at an index, if it is split into `count` nearly equal integers."""
    return number * (index + 1) // count - number * index // count


def _find_gaps(tasks: Sequence[TaskCost], used: Cost, missing_logs: int, session_count: int) -> tuple[str, ...]:
    """Return what can't be known about the tasks."""
    unclaimed = [task for task in tasks if task.work.state == DONE and not task.work.spans]
    people = [task for task in tasks if task.work.spans and not any([span.session for span in task.work.spans])]
    shared = [task for task in tasks if task.shared_seconds]
    gaps = []
    if unclaimed:
        gaps.append(f"{format_count(len(unclaimed), 'done task')} had no claim: their time and usage are unknown")
    if people:
        gaps.append(f"{format_count(len(people), 'task')} had claims outside of a known session: no usage")
    if missing_logs:
        gaps.append(f"the logs of {missing_logs} of {format_count(session_count, 'session')} were not found")
    if shared:
        gaps.append(f"{format_count(len(shared), 'task')} shared a session's time with others: usage was split evenly")
    if used.unpriced_tokens:
        gaps.append(f"{used.unpriced_tokens:,} tokens are of models without a known price: the cost leaves them out")
    if any([task.work.spans for task in tasks]):
        gaps.append("tasks end with the minute of their timestamp; pauses within a claim count as time")
    return tuple(gaps)
