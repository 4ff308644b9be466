"""Plans and tasks that wait for each other.

A plan ends after its open tasks, each of these comes after the plan's start, and that comes after the end of the plans
that it depends on. A deadlock is a cycle of these points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.team.dependencies.cycle_search import find_components, find_cycle, find_cycle_through

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from execplan.team.dependencies.dependency_graph import DependencyGraph, PlanEdge, PlanNode

    Point = tuple[str, str]
    """A point of a plan: its path, and `start`, `end` or the ID of a task."""

_START, _END = "start", "end"


def find_deadlock(graph: DependencyGraph) -> tuple[str, ...]:
    """Return names of plans and tasks that wait for each other, the first one also last; empty if there are none."""
    return _cycle_names(graph.nodes, find_cycle(_waiting_points(graph.edges)))


def deadlocks_by_plan(graph: DependencyGraph) -> dict[str, tuple[str, ...]]:
    """Return for each plan that waits for itself, by path, the names of the plans and tasks in between."""
    waits = _waiting_points(graph.edges)
    deadlocks: dict[str, tuple[str, ...]] = {}
    for component in find_components(waits):
        members = {point: [target for target in waits[point] if target in component] for point in component}
        for point in sorted(component):
            if point[0] not in deadlocks and (cycle := find_cycle_through(members, point)):
                deadlocks[point[0]] = _cycle_names(graph.nodes, cycle)
    return deadlocks


def _waiting_points(edges: Iterable[PlanEdge]) -> dict[Point, list[Point]]:
    """Return for each point those that come before it; tasks that are done are left out."""
    waits: dict[Point, list[Point]] = {}
    for edge in edges:
        if edge.is_done and edge.source_task:
            continue
        source: Point = (edge.source, edge.source_task or _START)
        target: Point = (edge.target, edge.target_task or _END)
        waits.setdefault(source, []).append(target)
        for path, point in ((edge.source, source), (edge.target, target)):
            if point[1] != _START:
                waits.setdefault(point, []).append((path, _START))
            if point[1] != _END:
                waits.setdefault((path, _END), []).append(point)
            waits.setdefault((path, _START), [])
    return waits


def _cycle_names(nodes: Mapping[str, PlanNode], cycle: Sequence[Point]) -> tuple[str, ...]:
    names = [f"{nodes[path].id}#{point}" if point not in (_START, _END) else nodes[path].id for path, point in cycle]
    different = [name for at, name in enumerate(names) if not at or name != names[at - 1]]
    return tuple(different if len(different) != 1 else different * 2)
