"""Construction of the dependency graph from the plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.plan.model import ARCHIVED
from execplan.core.plan.task_needs import read_task_needs
from execplan.core.plan_facts.listed_plan import ListedPlan
from execplan.team.dependencies.dependency_graph import UNKNOWN, DependencyGraph, PlanEdge, PlanNode, UnclearDependency

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.core.plan_facts.listed_plan import OpenTask
    from execplan.team.dependencies.plan_entry import PlanEntry
    from execplan.team.dependencies.plan_resolver import PlanResolver


def build_graph(resolver: PlanResolver, *, archived: bool = False) -> DependencyGraph:
    """Build the graph of the plans that a resolver knows: open ones, and of archived ones those that they need, or all."""
    resolver.load_all_facts()
    return _build(resolver, [entry for entry in resolver.entries if archived or not entry.ref.archived])


def build_graph_from(resolver: PlanResolver, start: PlanEntry) -> DependencyGraph:
    """Build the graph of a plan and of all that it needs, directly or not; no other plan is read."""
    return _build(resolver, [start])


def _build(resolver: PlanResolver, start: Sequence[PlanEntry]) -> DependencyGraph:
    entries = {entry.display_path: entry for entry in start}
    pending = list(start)
    edges: list[PlanEdge] = []
    unclear: list[UnclearDependency] = []
    unknown: dict[str, PlanNode] = {}
    while pending:
        entry = pending.pop(0)
        for dependency, target in _dependencies(resolver.resolver_of(entry), entry):
            if isinstance(dependency, UnclearDependency):
                unclear.append(dependency)
                continue
            edges.append(dependency)
            if target is None:
                unknown[dependency.target] = PlanNode(dependency.target, dependency.target, "", UNKNOWN, 0, 0, False)
            elif dependency.target not in entries:
                entries[dependency.target] = target
                pending += [] if target.ref.archived else [target]
    nodes = {path: _make_node(resolver.resolver_of(entry), entry) for path, entry in entries.items()} | unknown
    return DependencyGraph(nodes, tuple(edges), tuple(unclear))


def _make_node(resolver: PlanResolver, entry: PlanEntry) -> PlanNode:
    plan = ListedPlan(entry.project, entry.ref, resolver.facts(entry))
    counts = plan.facts.counts
    return PlanNode(
        entry.name,
        entry.display_path,
        plan.facts.title or "",
        plan.state,
        len(plan.facts.open_tasks) if plan.state != ARCHIVED else 0,
        counts.total if counts is not None else 0,
        resolver.is_done(entry),
        entry.origin,
    )


def _dependencies(
    resolver: PlanResolver, entry: PlanEntry
) -> Iterator[tuple[PlanEdge | UnclearDependency, PlanEntry | None]]:
    """Yield the dependencies of a plan, then those of its open tasks, each with the plan that it needs if that is known."""
    facts, source = resolver.facts(entry), entry.display_path
    for mention in facts.dependencies:
        resolution = resolver.resolve(mention.name)
        target = resolution.entry
        if target is not None:
            is_done = resolver.is_done(target)
            yield PlanEdge(source, target.display_path, mention.name, mention.line + 1, "", "", is_done), target
        elif resolution.unknown_project:
            yield PlanEdge(source, mention.name, mention.name, mention.line + 1, "", "", is_done=False), None
        elif mention.is_certain:
            yield UnclearDependency(source, mention.line + 1, mention.name, resolution.problem), None
    if not entry.ref.archived:
        yield from _task_dependencies(resolver, facts.open_tasks, source)


def _task_dependencies(
    resolver: PlanResolver, open_tasks: Sequence[OpenTask], source: str
) -> Iterator[tuple[PlanEdge | UnclearDependency, PlanEntry | None]]:
    """Yield the dependencies of the open tasks of the plan at a path."""
    for task in open_tasks:
        for need in read_task_needs(task.text):
            problem = resolver.need_problem(need)
            resolution = resolver.resolve(need.plan)
            target = resolution.entry
            if resolution.unknown_project:
                yield PlanEdge(source, need.plan, need.name, task.box_line + 1, task.id, "", is_done=False), None
                continue
            if problem or target is None:
                yield UnclearDependency(source, task.box_line + 1, need.name, problem), None
                continue
            numbered_task = resolver.find_task(target, need.task)
            target_id = numbered_task[0] if numbered_task is not None else ""
            is_done = resolver.is_task_done(target, need.task)
            line = task.box_line + 1
            yield PlanEdge(source, target.display_path, need.name, line, task.id, target_id, is_done), target
