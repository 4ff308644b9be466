"""What charts are computed from: plans, their history in git, and their runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.charts import chart_data
from execplan.charts.chart import AGE, BURN_UP, LEAD_TIME, RUNS, WEEKLY, Chart
from execplan.charts.chart_data import PlanAge, RunResult
from execplan.charts.task_times import StampedTask, TaskTimes, replay_tasks, stamped_tasks
from execplan.clock import leading_date, now
from execplan.errors import ExecplanError
from execplan.git.git_query import GIT_UNUSABLE_CODES
from execplan.named_tuple import NamedTuple
from execplan.plan.model import ACTIVE, DRAFT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.history.history_event import HistoryEvent
    from execplan.plan_store.plan_store import PlanRef, StoredPlan
    from execplan.project.project import Project


class ChartSources(NamedTuple):
    """The data of some plans for all charts."""

    tasks: list[TaskTimes] | None
    """Tasks according to git; None without it."""
    stamped: list[StampedTask]
    ages: list[PlanAge]
    runs: list[RunResult]
    today: str
    """Day in UTC."""


def collect_sources(stored_plans: Sequence[StoredPlan], events: Sequence[HistoryEvent] | None) -> ChartSources:
    """Collect the data of plans that are loaded, and their events, newest first; None without git.

    Runs that can't be read are left out.
    """
    from execplan.engine.run_records.run_summary import list_readable_runs

    paths = {_display_path(stored_plan) for stored_plan in stored_plans}
    tasks = replay_tasks([event for event in events if event.path in paths]) if events is not None else None
    first_days: dict[str, str] = {}
    for task in tasks or ():
        day = chart_data.day_of(task.added)
        first_days[task.path] = min(day, first_days.get(task.path, day))
    stamped, ages, runs = [], [], []
    for stored_plan in stored_plans:
        path = _display_path(stored_plan)
        if stored_plan.plan is not None:
            stamped += stamped_tasks(path, stored_plan.plan)
        if stored_plan.state in (ACTIVE, DRAFT):
            ages.append(PlanAge(stored_plan.state, leading_date(stored_plan.ref.id) or first_days.get(path, "")))
        summaries, _ = list_readable_runs(stored_plan.project, [stored_plan.ref])
        runs += [RunResult(summary.state, (summary.started or "")[:10]) for summary in summaries]
    return ChartSources(tasks, stamped, ages, runs, now().date().isoformat())


def load_events(
    plans: Sequence[tuple[Project, PlanRef | None]], tick: Callable[[int, int], None] | None = None
) -> list[HistoryEvent] | None:
    """Return the events of plans, or of all plans of a project, newest first; None if git can't be used.

    Raises ExecplanError if git fails for another reason.
    """
    from execplan.history.plan_history import load_history

    try:
        return [event for project, ref in plans for event in load_history(project, ref, tick=tick)]
    except ExecplanError as error:
        if error.code not in (*GIT_UNUSABLE_CODES, "no-repository"):
            raise
        return None


def make_chart(name: str, sources: ChartSources) -> Chart:
    """Return the chart with a name from `CHART_NAMES`."""
    if name == BURN_UP:
        return chart_data.burn_up(sources.tasks, sources.stamped, sources.today)
    if name == WEEKLY:
        return chart_data.weekly(sources.tasks, sources.stamped)
    if name == LEAD_TIME:
        return chart_data.lead_time(sources.tasks)
    if name == AGE:
        return chart_data.age(sources.ages, sources.today)
    assert name == RUNS
    return chart_data.runs(sources.runs)


def _display_path(stored_plan: StoredPlan) -> str:
    return stored_plan.project.display_path(stored_plan.ref.path)
