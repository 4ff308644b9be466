"""Statistics in the Prometheus text format. The only importer of prometheus_client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from execplan.execution.engine.run_records.run_statistics import BUCKETS, GENERATION_BUCKETS, PLAN_BUCKETS, STEP_BUCKETS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prometheus_client.core import Metric

    from execplan.context.gathering.agent_session_logs import SessionUsage
    from execplan.execution.engine.run_records.run_statistics import RunStatistics


def render(figures: RunStatistics, used: SessionUsage) -> str:
    """Return the statistics in the Prometheus text format."""
    registry = CollectorRegistry()
    registry.register(_Collector(figures, used))
    return generate_latest(registry).decode()


class _Collector(Collector):
    def __init__(self, figures: RunStatistics, used: SessionUsage) -> None:
        self._figures, self._used = figures, used

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics of the statistics."""
        figures, usage = self._figures, self._used.token_usage
        about = "Ended runs, each counted once, by current state."
        yield _counter("plan_executions", about, "status", figures.executions)
        yield _histogram("plan_execution_duration_seconds", "Duration of ended runs.", figures.seconds, BUCKETS)
        yield _histogram("plan_step_duration_seconds", "Duration of step attempts.", figures.step_seconds, STEP_BUCKETS)
        yield _plain_counter("plan_plans_created", "Approved execution plans, and revisions.", figures.plans)
        about = "Time to compile or revise an execution plan."
        yield _histogram("plan_generation_duration_seconds", about, figures.generation, GENERATION_BUCKETS)
        yield _histogram("plan_steps_per_plan", "Steps per execution plan.", figures.plan_steps, PLAN_BUCKETS)
        about = "Execution plans per hour, from the first to the last, over at least one hour."
        yield _gauge("plan_plans_created_per_hour", about, figures.plans_per_hour)
        yield _counter("plan_errors", "Failed attempts and runs, by cause.", "kind", figures.errors)
        yield _counter("plan_rollbacks", "Rollbacks, by cause.", "cause", figures.rollbacks)
        yield _plain_counter("plan_steps_completed", "Completed steps.", figures.steps["completed"])
        yield _plain_counter("plan_agent_executions", "Runs performed by an agent.", figures.agent_runs)
        yield _plain_counter("plan_agent_calls", "Allowed calls of agents.", figures.agent_calls)
        yield _plain_counter("plan_replans", "Revisions made during a run.", figures.replans)
        yield _counter("plan_approvals", "Approvals, by result.", "status", figures.approvals)
        yield _gauge("plan_approval_rate", "Share of approved among approved and declined.", figures.approval_rate)
        yield _gauge("plan_execution_success_rate", "Share of completed runs among ended runs.", figures.success_rate)
        yield _gauge("plan_rollback_rate", "Share of rolled-back runs among all runs.", figures.rollback_rate)
        yield _counter("plan_session_tokens", "Tokens used by agent sessions, from their logs.", "kind", usage.tokens)
        about = "Cost of sessions in US dollars, if their logs record it."
        yield _gauge("plan_session_cost_usd", about, usage.cost_usd)


def _counter(name: str, about: str, label: str, counts: dict[str, int]) -> Metric:
    family = CounterMetricFamily(name, about, labels=[label])
    for value, count in sorted(counts.items()):
        family.add_metric([value], count)
    return family


def _plain_counter(name: str, about: str, count: int) -> Metric:
    return CounterMetricFamily(name, about, value=count)


def _gauge(name: str, about: str, value: float | None) -> Metric:
    """Build a gauge, without a value if there is nothing to measure."""
    return GaugeMetricFamily(name, about, value=value)


def _histogram(name: str, about: str, values: Sequence[float], limits: Sequence[float]) -> Metric:
    buckets = [(str(limit), float(sum([value <= limit for value in values]))) for limit in limits]
    return HistogramMetricFamily(name, about, buckets=[*buckets, ("+Inf", float(len(values)))], sum_value=sum(values))
