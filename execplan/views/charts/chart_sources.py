"""What charts are computed from: plans, their history in git, and their runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from execplan.core.clock import now
from execplan.core.errors import ExecplanError
from execplan.core.git.git_query import GIT_UNUSABLE_CODES
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.model import ACTIVE, DRAFT
from execplan.core.plan_store.plan_store import PlanRef, StoredPlan
from execplan.core.project.project import Project
from execplan.core.timestamps import leading_date
from execplan.team.history.history_event import HistoryEvent
from execplan.views.charts import chart_data
from execplan.views.charts.chart import AGE, BURN_UP, LEAD_TIME, RUNS, WEEKLY, Chart
from execplan.views.charts.chart_data import PlanAge, RunResult, StampedTask, TaskTimes, replay_tasks, stamped_tasks


class ChartSources(NamedTuple):
    """The data of some plans for all charts."""

    tasks: list[TaskTimes] | None
    """Tasks according to git; None without it."""
    stamped: list[StampedTask]
    ages: list[PlanAge]
    runs: list[RunResult]
    today: str
    """Day in UTC."""


class PlanSources(NamedTuple):
    """The data of one plan for all charts, without its history."""

    path: str
    """Path from the repository root, or an absolute path in another project."""
    state: str
    day: str
    """Day at the start of the plan's ID; empty if there is none."""
    stamped: list[StampedTask]
    runs: list[RunResult]

    def with_path(self, path: str) -> PlanSources:
        """Return the data of the plan at another path, by which its events name it."""
        return self._replace(path=path, stamped=[task._replace(path=path) for task in self.stamped])

    def to_plain(self) -> tuple[Any, ...]:
        """Return the data in plain tuples, the only ones that `marshal` writes."""
        return (*self[:3], tuple(map(tuple, self.stamped)), tuple(map(tuple, self.runs)))

    @classmethod
    def from_plain(cls, fields: Sequence[Any]) -> PlanSources:
        """Return the data from what `to_plain` returned."""
        path, state, day, stamped, runs = fields
        return cls(path, state, day, list(map(StampedTask._make, stamped)), list(map(RunResult._make, runs)))


def read_plan_sources(stored_plan: StoredPlan) -> PlanSources:
    """Read the data of a plan that is loaded. Runs that can't be read are left out."""
    from execplan.execution.engine.run_records.run_summary import list_readable_runs

    project, ref = stored_plan.project, stored_plan.ref
    path = project.shown_path(ref.path)
    summaries, _ = list_readable_runs(project, [ref])
    return PlanSources(
        path,
        stored_plan.state,
        leading_date(ref.id),
        stamped_tasks(path, stored_plan.plan) if stored_plan.plan is not None else [],
        [RunResult(summary.state, (summary.started or "")[:10]) for summary in summaries],
    )


def collect_sources(plans: Sequence[PlanSources], events: Sequence[HistoryEvent] | None) -> ChartSources:
    """Collect the data of plans, and their events, newest first; None without git."""
    paths = {plan.path for plan in plans}
    tasks = replay_tasks([event for event in events if event.path in paths]) if events is not None else None
    first_days: dict[str, str] = {}
    for task in tasks or ():
        day = chart_data.day_of(task.added)
        first_days[task.path] = min(day, first_days.get(task.path, day))
    return ChartSources(
        tasks,
        [task for plan in plans for task in plan.stamped],
        [
            PlanAge(plan.state, plan.day or first_days.get(plan.path, ""))
            for plan in plans
            if plan.state in (ACTIVE, DRAFT)
        ],
        [run for plan in plans for run in plan.runs],
        now().date().isoformat(),
    )


def load_events(
    plans: Sequence[tuple[Project, PlanRef | None]], tick: Callable[[int, int], None] | None = None
) -> list[HistoryEvent] | None:
    """Return the events of plans, or of all plans of a project, newest first.

    Return None if git can't be used, or lacks versions of the plans, whose tasks would not be counted.
    Raises ExecplanError if git fails for another reason.
    """
    from execplan.team.history.plan_history import lacks_versions, load_history

    if any([lacks_versions(project) for project in {project.base: project for project, _ in plans}.values()]):
        return None
    try:
        return [
            event._replace(path=os.path.join(project.root, event.path)) if project.is_read_only else event
            for project, ref in plans
            for event in load_history(project, ref, tick=tick)
        ]
    except ExecplanError as error:
        if error.code not in (*GIT_UNUSABLE_CODES, "no-repository"):
            raise
        return None


def make_chart(name: str, sources: ChartSources) -> Chart:
    """Return the chart with a name from `CHART_NAMES`."""
    if name == BURN_UP:
        return chart_data.burn_up(sources.tasks, sources.stamped, sources.today)
    if name == WEEKLY:
        return chart_data.weekly(sources.tasks, sources.stamped, sources.today)
    if name == LEAD_TIME:
        return chart_data.lead_time(sources.tasks)
    if name == AGE:
        return chart_data.age(sources.ages, sources.today)
    assert name == RUNS
    return chart_data.runs(sources.runs)
