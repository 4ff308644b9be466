"""Statistics in the Prometheus text format. The only importer of prometheus_client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from execplan.engine.run_records.run_statistics import BUCKETS, GENERATION_BUCKETS, PLAN_BUCKETS, STEP_BUCKETS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prometheus_client.core import Metric

    from execplan.context.gathering.agent_session_logs import SessionUsage
    from execplan.engine.run_records.run_statistics import RunStatistics


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
        figures = self._figures
        yield _counter(
            "plan_executions",
            "Runs that ended, each once, by the state that they have now.",
            "status",
            figures.executions,
        )
        yield _histogram("plan_execution_duration_seconds", "How long runs took that ended.", figures.seconds, BUCKETS)
        yield _histogram(
            "plan_step_duration_seconds", "How long attempts of steps took.", figures.step_seconds, STEP_BUCKETS
        )
        yield _plain_counter("plan_plans_created", "Execution plans that were approved, and revisions.", figures.plans)
        about = "How long execution plans took to be compiled or revised."
        yield _histogram("plan_generation_duration_seconds", about, figures.generation, GENERATION_BUCKETS)
        yield _histogram("plan_steps_per_plan", "Steps of execution plans.", figures.plan_steps, PLAN_BUCKETS)
        about = "Execution plans an hour, from the first to the last, at least in one hour."
        yield _gauge("plan_plans_created_per_hour", about, figures.plans_per_hour)
        yield _counter("plan_errors", "Attempts and runs that failed, by why.", "kind", figures.errors)
        yield _counter("plan_rollbacks", "Rollbacks, by what caused them.", "cause", figures.rollbacks)
        yield _plain_counter("plan_steps_completed", "Steps that were completed.", figures.steps["completed"])
        yield _plain_counter("plan_agent_executions", "Runs that an agent carried out.", figures.agent_runs)
        yield _plain_counter("plan_agent_calls", "Calls that an agent was allowed.", figures.agent_calls)
        yield _plain_counter("plan_replans", "Revisions that were made while a run was under way.", figures.replans)
        yield _counter("plan_approvals", "Approvals, by what became of them.", "status", figures.approvals)
        yield _gauge("plan_approval_rate", "Approved of what was approved or declined.", figures.approval_rate)
        yield _gauge("plan_execution_success_rate", "Completed of the runs that ended.", figures.success_rate)
        yield _gauge("plan_rollback_rate", "Runs that were rolled back, of all.", figures.rollback_rate)
        usage = self._used.token_usage
        about = "Tokens that sessions of agents used, by their logs."
        yield _counter("plan_session_tokens", about, "kind", usage.tokens)
        yield _gauge("plan_session_cost_usd", "US dollars that sessions cost, where their logs say so.", usage.cost_usd)


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
