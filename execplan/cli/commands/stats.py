"""The `execplan stats` command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.cli.plan_arguments import plan_flag
from execplan.errors import CHECK_FAILED, USAGE, ExecplanError
from execplan.plan_store import plan_selection, plan_store
from execplan.project import project_discovery

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.context.gathering.agent_session_logs import SessionUsage
    from execplan.engine.run_records.run_statistics import RunStatistics
    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project

TEXT = "text"
PROMETHEUS = "prometheus"
_CHARTS = ("burn-up", "weekly", "lead-time", "age", "runs")
_TEXTFILE_PREFIX = b"# HELP plan_"
"""Start of every text file written by execplan."""
_MAX_TEXTFILE_BYTES = 1 << 20


@define_command(
    reads=(
        "the audit logs of the named plans, or of all plans, including archived plans and nested projects; "
        "the session logs that they name, below ~/.claude and ~/.codex; with --chart, the plans, their history in git, and their runs; "
        "with --cost, the plans, the log of claims, and the logs of the sessions that made them."
    ),
    writes="nothing; with --textfile or --svg, that file.",
    examples=(
        "execplan stats",
        "execplan stats parser --json",
        "execplan stats parser --cost",
        "execplan stats --format prometheus",
        "execplan stats --textfile execplan.prom",
        "execplan stats --chart burn-up",
        "execplan stats parser --chart burn-up --svg burn-up.svg",
    ),
)
@click.argument("plans", nargs=-1, metavar="[PLAN]...")
@plan_flag(default="all plans")
@click.option(
    "--format",
    "form",
    type=click.Choice([TEXT, PROMETHEUS]),
    default=TEXT,
    help="Output format; prometheus is the Prometheus text format.",
)
@click.option(
    "--textfile", metavar="FILE", help="Write the Prometheus text format to FILE, for node_exporter to collect."
)
@click.option(
    "--chart",
    type=click.Choice(_CHARTS),
    help="Show a chart: tasks in total and done; tasks done per week; days from added to done; age of open plans; results of runs.",
)
@click.option("--cost", is_flag=True, help="Show the time, the tokens and the cost of each task.")
@click.option("--svg", metavar="FILE", help="With --chart, write the chart to FILE as SVG.")
def stats(
    call: Call,
    plans: tuple[str, ...],
    *,
    form: str,
    textfile: str | None,
    chart: str | None,
    cost: bool,
    svg: str | None,
) -> Answer:
    """Count runs, steps, rollbacks and approvals, or show a chart.

    Use it to see how often runs succeed, how long they take, and what agents cost. Plans, errors and replans are
    counted, too. The numbers come from the audit logs. Tokens and costs come from the agents' session logs, if the
    audit logs name them and they record costs.

    --cost shows what each task has cost: the time from its claim until it was checked off, and the tokens that the
    session with the claim used in that time. Money is computed from the models' prices. What can't be known is listed.

    The chart burn-up shows done tasks by their timestamps and by git, so you see where the two differ. Install
    execplan[charts] to draw charts on a terminal or as SVG; without a terminal, their numbers are printed.
    """
    if svg is not None and chart is None:
        raise ExecplanError(
            "usage", "--svg requires --chart", exit=USAGE, hint="add the name of a chart: --chart burn-up"
        )
    if chart is not None and (form != TEXT or textfile is not None):
        message = "--chart can't be combined with --format prometheus or --textfile"
        raise ExecplanError("usage", message, exit=USAGE, hint="omit one of them")
    if cost and (form != TEXT or textfile is not None or chart is not None):
        message = "--cost can't be combined with --format prometheus, --textfile or --chart"
        raise ExecplanError("usage", message, exit=USAGE, hint="omit one of them")
    if call.as_json and form != TEXT:
        why = "--json and --format prometheus can't be combined"
        raise ExecplanError("usage", why, exit=USAGE, hint="omit one of them")
    from execplan.context.gathering.agent_session_logs import measure_sessions
    from execplan.engine.run_records.run_statistics import compute_statistics

    project, plan_refs = _find_plans(plans)
    if cost:
        from execplan.cli.output.cost_output import cost_answer

        return cost_answer(project, plan_refs)
    if chart is not None:
        from execplan.cli.output.chart_output import chart_answer

        is_all = not plans and plan_selection.plan_from_environment() is None
        return chart_answer(project, plan_refs, chart, svg, is_all=is_all)
    audit_logs, warnings = _read_audit_logs(plan_refs)
    statistics = compute_statistics(audit_logs)
    session_usage = measure_sessions(statistics.sessions)
    data = {
        "plans": len([audit_log for audit_log in audit_logs if audit_log]),
        **_stats_json(statistics, session_usage),
    }
    if textfile is not None:
        changed = _write_textfile(project, textfile, statistics, session_usage)
        text = f"wrote {textfile}" if changed else f"{textfile} is up to date"
        return Answer(
            {**data, "path": project.display_path(os.path.abspath(textfile)), "changed": changed},
            text,
            warnings=warnings,
            is_requested=False,
        )
    if form == PROMETHEUS:
        from execplan.cli.output.prometheus_metrics import render

        return Answer(data, render(statistics, session_usage), warnings=warnings, is_raw=True)
    return Answer(
        data, _stats_text(statistics, session_usage) if data["plans"] else "no records yet", warnings=warnings
    )


def _find_plans(plan_names: tuple[str, ...]) -> tuple[Project, list[tuple[Project, PlanRef]]]:
    """Return the current project and the selected plans."""
    directory = os.getcwd()
    names: tuple[str | None, ...] = plan_names or (
        (None,) if plan_selection.plan_from_environment() is not None else ()
    )
    if names:
        plan_refs = list(
            {
                ref.path: (project, ref)
                for project, ref in [plan_selection.select_plan(directory, name) for name in names]
            }.values()
        )
        return project_discovery.require_existing(plan_refs[0][0]), plan_refs
    project = project_discovery.require(directory)
    return project, [
        (member_project, ref)
        for member_project in project_discovery.with_nested_projects(project)
        for ref in plan_store.all_refs(member_project)
    ]


def _read_audit_logs(plans: list[tuple[Project, PlanRef]]) -> tuple[list[Any], tuple[str, ...]]:
    """Return the records of each plan, and warnings about broken audit logs."""
    from execplan.engine.audit_log import hash_chain, log_reader

    record_lists, warnings = [], []
    for project, ref in plans:
        data = log_reader.read(project, ref)
        chain_walk = hash_chain.parse_chain(data[: data.rfind(b"\n") + 1])
        record_lists.append(chain_walk.records)
        if chain_walk.flaw is not None:
            warnings.append(f"the audit log of {ref.id} is broken, so the statistics may be wrong: {chain_walk.flaw}")
    return record_lists, tuple(warnings)


def _write_textfile(project: Project, file: str, statistics: RunStatistics, session_usage: SessionUsage) -> bool:
    """Write the metrics to a file atomically, and return whether it changed. Raises ExecplanError."""
    from execplan.cli.output.output_file import write_output_file
    from execplan.cli.output.prometheus_metrics import render

    message = f"{file} contains something other than metrics, so it was not overwritten"
    error = ExecplanError("not-metrics", message, exit=CHECK_FAILED, hint="use another file, or remove it")
    new, is_new = render(statistics, session_usage).encode(), not os.path.lexists(file)
    changed = write_output_file(project, file, new, _TEXTFILE_PREFIX, error, _MAX_TEXTFILE_BYTES)
    if is_new:
        os.chmod(file, 0o644)  # whatever the umask says: another user's collector reads it
    return changed


def _stats_json(statistics: RunStatistics, session_usage: SessionUsage) -> dict[str, Any]:
    return {
        "runs": statistics.runs,
        "executions": statistics.executions,
        "duration_s": _distribution_json(statistics.seconds),
        "step_duration_s": _distribution_json(statistics.step_seconds),
        "created": statistics.plans,
        "created_per_hour": statistics.plans_per_hour,
        "generation_s": _distribution_json(statistics.generation),
        "steps_per_plan": _distribution_json(statistics.plan_steps),
        "errors": statistics.errors,
        "sessions": {
            "count": session_usage.session_count,
            "logs": session_usage.log_count,
            "tokens": session_usage.token_usage.tokens,
            "cost_usd": session_usage.token_usage.cost_usd,
        },
        "steps": statistics.steps,
        "agent_runs": statistics.agent_runs,
        "agent_calls": statistics.agent_calls,
        "rollbacks": statistics.rollbacks,
        "replans": statistics.replans,
        "approvals": statistics.approvals,
        "approval_rate": statistics.approval_rate,
        "execution_success_rate": statistics.success_rate,
        "rollback_rate": statistics.rollback_rate,
    }


def _distribution_json(values: Sequence[float]) -> dict[str, float]:
    """Return the count, the sum and the maximum of some values."""
    return {"count": len(values), "sum": round(sum(values), 6), "max": max(values, default=0)}


def _stats_text(statistics: RunStatistics, session_usage: SessionUsage) -> str:
    from execplan.cli.output.text_table import format_table
    from execplan.text.message_parts import format_count

    hourly = f", {statistics.plans_per_hour:.1f} per hour" if statistics.plans_per_hour is not None else ""
    tokens = ", ".join(
        [f"{count:,} {kind.replace('_', ' ')}" for kind, count in session_usage.token_usage.tokens.items() if count]
    )
    cost = (
        f"{session_usage.token_usage.cost_usd:.2f} US dollars"
        if session_usage.token_usage.cost_usd is not None
        else "not in the logs"
    )
    rates = (
        ("approval", statistics.approval_rate),
        ("success", statistics.success_rate),
        ("rollback", statistics.rollback_rate),
    )
    rows = [
        ("runs", _format_counts(statistics.runs)),
        ("duration", _format_average(statistics.seconds, ".1f", " s")),
        ("steps", _format_counts(statistics.steps)),
        ("step duration", _format_average(statistics.step_seconds, ".1f", " s")),
        ("errors", _format_counts(statistics.errors)),
        ("by agents", f"{format_count(statistics.agent_runs, 'run')}, {format_count(statistics.agent_calls, 'call')}"),
        ("rollbacks", _format_counts(statistics.rollbacks)),
        ("replans", str(statistics.replans)),
        ("approvals", _format_counts(statistics.approvals)),
        ("rates", ", ".join([f"{name} {value:.0%}" for name, value in rates if value is not None]) or "-"),
    ]
    if statistics.plans:
        rows[:0] = [
            ("created", f"{format_count(statistics.plans, 'execution plan')}{hourly}"),
            ("compile time", _format_average(statistics.generation, ".3f", " s")),
            ("plan size", _format_average(statistics.plan_steps, ".1f", " steps")),
        ]
    if session_usage.log_count:
        rows += [("tokens", tokens or "-"), ("cost", cost)]
    return format_table(("what", "how many"), rows)


def _format_average(values: Sequence[float], form: str, unit: str) -> str:
    """`31.0 s on average, 61.5 s at most`."""
    if not values:
        return "-"
    return f"{sum(values) / len(values):{form}}{unit} on average, {max(values):{form}}{unit} at most"


def _format_counts(counts: dict[str, int]) -> str:
    """`3: 2 completed, 1 failed`."""
    phrases = [f"{count} {name.replace('_', ' ')}" for name, count in sorted(counts.items()) if count]
    return f"{sum(counts.values())}: {', '.join(phrases)}" if phrases else "0"


stats.finishes_moves = False  # a command that writes finishes an interrupted move
stats.may_page = True
command = stats
