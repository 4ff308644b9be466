"""Output of `stats`: the numbers of all plans, and of each project if there are several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from execplan.cli.answer import json_fields
from execplan.cli.output.text_table import format_table
from execplan.context.gathering.agent_session_logs import SessionUsage, measure_sessions
from execplan.core.project.project_list import ProjectOrigin
from execplan.core.text.message_parts import format_count
from execplan.execution.engine.audit_log.hash_chain import AuditRecord
from execplan.execution.engine.run_records.run_statistics import RunStatistics


class ProjectStatistics(NamedTuple):
    """The statistics of all plans, or of those of one of several projects."""

    origin: ProjectOrigin | None
    """The project; None for all of them together."""
    plan_count: int
    """Number of plans with records."""
    statistics: RunStatistics
    session_usage: SessionUsage

    def to_json(self) -> dict[str, Any]:
        """Return the statistics as a document shows them."""
        origin = self.origin.to_json() if self.origin is not None else {}
        return {**origin, "plans": self.plan_count, **stats_json(self.statistics, self.session_usage)}


def measure(origin: ProjectOrigin | None, audit_logs: Sequence[Sequence[AuditRecord]]) -> ProjectStatistics:
    """Return the statistics of plans from their audit logs."""
    statistics = RunStatistics(audit_logs)
    plan_count = len([audit_log for audit_log in audit_logs if audit_log])
    return ProjectStatistics(origin, plan_count, statistics, measure_sessions(statistics.sessions))


def format_project_table(projects: Sequence[ProjectStatistics]) -> str:
    """Return a table with a row for each project."""
    rows = [
        (
            project.origin.name if project.origin is not None else "",
            str(project.plan_count),
            str(sum(project.statistics.runs.values())),
            str(sum(project.statistics.steps.values())),
            str(sum(project.statistics.approvals.values())),
            f"{project.statistics.success_rate:.0%}" if project.statistics.success_rate is not None else "-",
        )
        for project in projects
    ]
    head = ("project", "plans", "runs", "steps", "approvals", "success")
    return format_table(head, [head, *rows])


def stats_json(statistics: RunStatistics, session_usage: SessionUsage) -> dict[str, Any]:
    """Return statistics as a document shows them."""
    return {
        **json_fields(statistics, "runs executions"),
        "duration_s": _distribution_json(statistics.seconds),
        "step_duration_s": _distribution_json(statistics.step_seconds),
        "created": statistics.plans,
        "created_per_hour": statistics.plans_per_hour,
        "generation_s": _distribution_json(statistics.generation),
        "steps_per_plan": _distribution_json(statistics.plan_steps),
        **json_fields(statistics, "errors pathways kinds"),
        "resources": {
            "cpu_s": round(statistics.cpu_seconds, 6),
            "peak_memory_bytes": statistics.peak_memory_bytes,
            **{f"files_{kind}": count for kind, count in statistics.changes.items()},
            **{f"lines_{kind}": count for kind, count in statistics.lines.items()},
        },
        "sessions": {
            "count": session_usage.session_count,
            "logs": session_usage.log_count,
            "tokens": session_usage.token_usage.tokens,
            "cost_usd": session_usage.token_usage.cost_usd,
        },
        **json_fields(statistics, "steps agent_runs agent_calls rollbacks replans approvals approval_rate"),
        "execution_success_rate": statistics.success_rate,
        "rollback_rate": statistics.rollback_rate,
    }


def _distribution_json(values: Sequence[float]) -> dict[str, float]:
    """Return the count, the sum and the maximum of some values."""
    return {"count": len(values), "sum": round(sum(values), 6), "max": max(values, default=0)}


def stats_text(statistics: RunStatistics, session_usage: SessionUsage) -> str:
    """Return statistics as a table for people."""
    hourly = f", {statistics.plans_per_hour:.1f} per hour" if statistics.plans_per_hour is not None else ""
    tokens = ", ".join(
        [f"{count:,} {kind.replace('_', ' ')}" for kind, count in session_usage.token_usage.tokens.items() if count]
    )
    if session_usage.token_usage.cost_usd is not None:
        cost = f"{session_usage.token_usage.cost_usd:.2f} US dollars"
    else:
        cost = "not in the logs"
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
        ("resources", _format_resources(statistics)),
        ("errors", _format_counts(statistics.errors)),
        ("by pathway", ", ".join([_format_pathway(*item) for item in statistics.pathways.items()])),
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
    rows += [(f"runs of {kind}", _format_counts(counts)) for kind, counts in sorted(statistics.kinds.items())]
    if session_usage.log_count:
        rows += [("tokens", tokens or "-"), ("cost", cost)]
    return format_table(("what", "how many"), rows)


def _format_resources(statistics: RunStatistics) -> str:
    """Return what steps used and changed."""
    used = f"{statistics.cpu_seconds:.1f} s of processor time, at most {statistics.peak_memory_bytes >> 20:,} MB"
    lines = ", ".join([f"{count:,} lines {kind}" for kind, count in statistics.lines.items()])
    return f"{used}; files {_format_counts(statistics.changes)}; {lines}"


def _format_pathway(name: str, counts: dict[str, int]) -> str:
    """`engine 1 error in 3 attempts`."""
    return f"{name} {format_count(counts['errors'], 'error')} in {format_count(counts['attempts'], 'attempt')}"


def _format_average(values: Sequence[float], form: str, unit: str) -> str:
    """`31.0 s on average, 61.5 s at most`."""
    if not values:
        return "-"
    return f"{sum(values) / len(values):{form}}{unit} on average, {max(values):{form}}{unit} at most"


def _format_counts(counts: dict[str, int]) -> str:
    """`3: 2 completed, 1 failed`."""
    phrases = [f"{count} {name.replace('_', ' ')}" for name, count in sorted(counts.items()) if count]
    return f"{sum(counts.values())}: {', '.join(phrases)}" if phrases else "0"
