"""Output of `stats --cost`: what each task has cost, and what can't be known."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer, json_fields
from execplan.cli.error_handler import printable_line
from execplan.cli.output.terminal_layout import fit_lines
from execplan.cli.output.text_table import format_table_with_head
from execplan.core.clock import format_utc_timestamp
from execplan.core.plan.model import DONE
from execplan.core.text.message_parts import format_duration, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.team.costs.cost_report import Cost, CostReport, TaskCost

_MAX_TEXT_LENGTH = 50
"""Maximum length of a task's text in the table."""


def cost_answer(project: Project, plans: Sequence[tuple[Project, PlanRef]]) -> Answer:
    """Return the answer about the costs of plans. Raises ExecplanError if a plan can't be read."""
    from execplan.context.context_settings import parse_context_settings
    from execplan.context.gathering.agent_session_logs import read_session_usage
    from execplan.context.model_table import load_models
    from execplan.core.plan_store import plan_store
    from execplan.core.plan_store.claims_file import read_spans
    from execplan.team.costs.cost_report import build_report, collect_other_work, collect_work

    table = load_models(parse_context_settings(project.settings.context).models)
    works, other_works = [], []
    repositories = {}
    for plan_project, ref in plans:
        plan = plan_store.load(plan_project, ref).plan
        claim_spans = read_spans(plan_project)
        works += collect_work(plan_project, ref, plan, claim_spans) if plan is not None else []
        repositories[plan_project.shared_state] = plan_project, claim_spans
    paths = {os.path.realpath(ref.path) for _, ref in plans}
    for plan_project, claim_spans in repositories.values():
        other_works += collect_other_work(plan_project, works, paths, claim_spans)
    report = build_report(works, read_session_usage, table, other_works)
    data = {
        "tasks": [_task_json(task) for task in report.tasks],
        "total": {"seconds": sum([task.work.seconds for task in report.tasks]), **_cost_json(report.total)},
        "other_usage": _cost_json(report.other_usage),
        "models": list(report.models),
        "prices_from": table.priced,
        "unknown": list(report.gaps),
    }
    return Answer(data, _text(report, table.priced, has_many_plans=len(plans) > 1))


def _text(report: CostReport, priced: str, *, has_many_plans: bool) -> str:
    """Return a table with a row for each task of a plan, or for each of several plans, and what can't be known."""
    if not any([task.work.spans or task.work.state == DONE for task in report.tasks]):
        return "nobody has claimed or done a task yet"
    rows = _plan_rows(report) if has_many_plans else _task_rows(report)
    rows.append(("total", *_cells(report.tasks)))
    if report.other_usage.tokens:
        rows.append(("between tasks", "", *_cost_cells(report.other_usage)))
    head = ("plan" if has_many_plans else "task", "time", "input", "cached", "output", "US dollars")
    lines = [format_table_with_head(head, rows)]
    if report.total.usage.cost_usd is not None or report.other_usage.usage.cost_usd is not None:
        models = printable_line(", ".join(report.models))
        lines += fit_lines(f"prices of {priced}, unless the logs state the cost; models: {models}")
    return "\n".join([*lines, *fit_lines(*[f"not known: {gap}" for gap in report.gaps])])


def _task_rows(report: CostReport) -> list[tuple[str, ...]]:
    """Return a row for each task that somebody has claimed or done."""
    return [
        (f"{task.work.number}. {shorten(task.work.text, _MAX_TEXT_LENGTH)}", *_cells([task]))
        for task in report.tasks
        if task.work.spans or task.work.state == DONE
    ]


def _plan_rows(report: CostReport) -> list[tuple[str, ...]]:
    """Return a row for each plan of which somebody has claimed a task."""
    tasks_by_plan: dict[str, list[TaskCost]] = {}
    for task in report.tasks:
        tasks_by_plan.setdefault(task.work.path, []).append(task)
    return [
        (tasks[0].work.plan_id, *_cells(tasks))
        for tasks in tasks_by_plan.values()
        if any([task.work.spans for task in tasks])
    ]


def _cells(tasks: Sequence[TaskCost]) -> tuple[str, ...]:
    """Return the time and the cost of tasks together."""
    times = [task.work.seconds for task in tasks if task.work.spans]
    costs = [task.cost for task in tasks if task.cost is not None]
    total = costs[0] if costs else None
    for cost in costs[1:]:
        total = total.add(cost) if total is not None else cost
    return format_duration(sum(times)) if times else "-", *_cost_cells(total)


def _cost_cells(cost: Cost | None) -> tuple[str, str, str, str]:
    """Return input, cached input, output and cost of a row."""
    if cost is None:
        return "-", "-", "-", "-"
    tokens = cost.usage.tokens
    money = f"{cost.usage.cost_usd:.2f}" if cost.usage.cost_usd is not None else "-"
    money += "+" if cost.unpriced_tokens and cost.usage.cost_usd is not None else ""
    return f"{tokens['input'] + tokens['cache_write']:,}", f"{tokens['cache_read']:,}", f"{tokens['output']:,}", money


def _task_json(task: TaskCost) -> dict[str, Any]:
    work = task.work
    return {
        "plan": work.plan_id,
        "path": work.path,
        "task": work.task_id,
        **json_fields(work, "number text state"),
        "seconds": work.seconds if work.spans else None,
        "shared_seconds": task.shared_seconds,
        "spans": [
            {
                "by": span.name,
                "session": span.session or None,
                "start": format_utc_timestamp(span.start),
                "end": format_utc_timestamp(span.end),
            }
            for span in work.spans
        ],
        **(
            _cost_json(task.cost) if task.cost is not None else {"tokens": None, "unpriced_tokens": 0, "cost_usd": None}
        ),
    }


def _cost_json(cost: Cost) -> dict[str, Any]:
    cost_usd = cost.usage.cost_usd
    return {
        "tokens": cost.usage.tokens,
        "unpriced_tokens": cost.unpriced_tokens,
        "cost_usd": round(cost_usd, 6) if cost_usd is not None else None,
    }
