"""Statistics in the Prometheus text format, version 0.0.4."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.execution.engine.run_records.run_statistics import BUCKETS, GENERATION_BUCKETS, PLAN_BUCKETS, STEP_BUCKETS
from execplan.execution.states import COMPLETED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.context.gathering.agent_session_logs import SessionUsage
    from execplan.execution.engine.run_records.run_statistics import RunStatistics


def render(figures: RunStatistics, used: SessionUsage) -> str:
    """Return the statistics in the Prometheus text format."""
    return "".join([f"{line}\n" for line in _lines(figures, used)])


def _lines(figures: RunStatistics, used: SessionUsage) -> Iterator[str]:
    """Yield the lines of all metrics of the statistics."""
    yield from _counter(
        "plan_executions",
        "Ended runs, each counted once, by current state.",
        "status",
        figures.executions,
    )
    yield from _histogram("plan_execution_duration_seconds", "Duration of ended runs.", figures.seconds, BUCKETS)
    yield from _histogram(
        "plan_step_duration_seconds", "Duration of step attempts.", figures.step_seconds, STEP_BUCKETS
    )
    about = "Processor seconds of steps."
    yield from _plain_counter("plan_step_cpu_seconds", about, figures.cpu_seconds)
    about = "Peak memory of the step that used most."
    yield from _gauge("plan_step_peak_memory_bytes", about, figures.peak_memory_bytes)
    yield from _counter("plan_step_files", "Changes of files by steps.", "kind", figures.changes)
    yield from _counter("plan_step_lines", "Lines that steps added and removed.", "kind", figures.lines)
    yield from _plain_counter("plan_plans_created", "Approved execution plans, and revisions.", figures.plans)
    about = "Time to compile or revise an execution plan."
    yield from _histogram("plan_generation_duration_seconds", about, figures.generation, GENERATION_BUCKETS)
    yield from _histogram("plan_steps_per_plan", "Steps per execution plan.", figures.plan_steps, PLAN_BUCKETS)
    about = "Execution plans per hour, from the first to the last, over at least one hour."
    yield from _gauge("plan_plans_created_per_hour", about, figures.plans_per_hour)
    yield from _counter("plan_errors", "Failed attempts and runs, by cause.", "kind", figures.errors)
    for name, about in (("runs", "Runs"), ("attempts", "Step attempts"), ("errors", "Failed attempts and runs")):
        counts = {pathway: numbers[name] for pathway, numbers in figures.pathways.items()}
        yield from _counter(f"plan_pathway_{name}", f"{about}, by who performs the run.", "pathway", counts)
    kinds = figures.kinds.items()
    about = "Ended runs, by kind of work."
    yield from _counter("plan_kind_executions", about, "kind", {kind: sum(counts.values()) for kind, counts in kinds})
    about = "Completed runs, by kind of work."
    yield from _counter("plan_kind_completed", about, "kind", {kind: counts[COMPLETED] for kind, counts in kinds})
    yield from _counter("plan_rollbacks", "Rollbacks, by cause.", "cause", figures.rollbacks)
    yield from _plain_counter("plan_steps_completed", "Completed steps.", figures.steps["completed"])
    yield from _plain_counter("plan_agent_executions", "Runs performed by an agent.", figures.agent_runs)
    yield from _plain_counter("plan_agent_calls", "Allowed calls of agents.", figures.agent_calls)
    yield from _plain_counter("plan_replans", "Revisions made during a run.", figures.replans)
    yield from _counter("plan_approvals", "Approvals, by result.", "status", figures.approvals)
    yield from _gauge("plan_approval_rate", "Share of approved among approved and declined.", figures.approval_rate)
    yield from _gauge("plan_execution_success_rate", "Share of completed runs among ended runs.", figures.success_rate)
    yield from _gauge("plan_rollback_rate", "Share of rolled-back runs among all runs.", figures.rollback_rate)
    usage = used.token_usage
    about = "Tokens used by agent sessions, from their logs."
    yield from _counter("plan_session_tokens", about, "kind", usage.tokens)
    yield from _gauge(
        "plan_session_cost_usd", "Cost of sessions in US dollars, if their logs record it.", usage.cost_usd
    )


def _counter(name: str, about: str, label: str, counts: dict[str, int]) -> Iterator[str]:
    name += "_total"
    yield from _head(name, about, "counter")
    for value, count in sorted(counts.items()):
        yield f'{name}{{{label}="{_escape(value)}"}} {float(count)}'


def _plain_counter(name: str, about: str, count: float) -> Iterator[str]:
    yield from _head(f"{name}_total", about, "counter")
    yield f"{name}_total {float(count)}"


def _gauge(name: str, about: str, value: float | None) -> Iterator[str]:
    """Yield a gauge, without a value if there is nothing to measure."""
    yield from _head(name, about, "gauge")
    if value is not None:
        yield f"{name} {float(value)}"


def _histogram(name: str, about: str, values: Sequence[float], limits: Sequence[float]) -> Iterator[str]:
    yield from _head(name, about, "histogram")
    for limit in limits:
        yield f'{name}_bucket{{le="{limit}"}} {float(sum([value <= limit for value in values]))}'
    yield f'{name}_bucket{{le="+Inf"}} {float(len(values))}'
    yield f"{name}_count {float(len(values))}"
    yield f"{name}_sum {float(sum(values))}"


def _head(name: str, about: str, kind: str) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"


def _escape(label_value: str) -> str:
    return label_value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
