"""The graph of plans and what they depend on, with cycles and the critical path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from execplan.team.dependencies.cycle_search import find_components, find_cycle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from execplan.core.project.project_list import ProjectOrigin

    Point = tuple[str, str]
    """A point of a plan: its path, and `start`, `end` or the ID of a task."""

UNKNOWN: Final = "unknown"
"""State of a plan in a project that is not known on this machine; it blocks nothing."""
_START, _END = "start", "end"


class PlanEdge(NamedTuple):
    """A dependency of a plan on another one."""

    source: str
    """Path of the plan that depends."""
    target: str
    """Path of the plan that must be done first."""
    name: str
    """The dependency as written, such as `parser` or `parser#3`."""
    line: int
    """Line of the dependency, from 1."""
    source_task: str
    """ID of the task that depends; empty for the whole plan."""
    target_task: str
    """ID of the task that must be done first; empty for the whole plan."""
    is_done: bool


class PlanNode(NamedTuple):
    """A plan of the graph."""

    id: str
    """ID, after the name of the project and a colon if the plan is in another one."""
    path: str
    """Path from the repository root; absolute in another project, and the ID for an unknown plan."""
    title: str
    state: str
    """State of the plan, or UNKNOWN."""
    open_tasks: int
    total_tasks: int
    is_done: bool
    from_project: ProjectOrigin | None = None
    """The other project that the plan is in; None for the own project."""

    @property
    def is_unknown(self) -> bool:
        """Return whether the plan is in a project that is not known on this machine."""
        return self.state == UNKNOWN


class UnclearDependency(NamedTuple):
    """A dependency that names no plan or task, or several plans."""

    path: str
    line: int
    """Line, from 1."""
    name: str
    problem: str


class DependencyGraph(NamedTuple):
    """Plans with the dependencies between them; edges lead from a plan to what must be done first."""

    nodes: dict[str, PlanNode]
    """The plans by path."""
    edges: tuple[PlanEdge, ...]
    unclear: tuple[UnclearDependency, ...]

    def is_blocked(self, path: str) -> bool:
        """Return whether an unfinished plan waits for another plan, rather than some of its tasks."""
        return not self.nodes[path].is_done and any(
            [
                edge.source == path and not (edge.source_task or edge.is_done or self.nodes[edge.target].is_unknown)
                for edge in self.edges
            ]
        )

    def all_needed(self) -> dict[str, set[str]]:
        """Return for each plan those that must be complete before it starts, directly or not."""
        targets: dict[str, list[str]] = {}
        for edge in self.edges:
            if not edge.source_task:
                targets.setdefault(edge.source, []).append(edge.target)
        return {path: _reachable(targets, path) for path in self.nodes}

    def related_to(self, path: str) -> DependencyGraph:
        """Return the part of the graph with one plan: what it needs, and what needs it, directly or not."""
        targets: dict[str, list[str]] = {}
        sources: dict[str, list[str]] = {}
        for edge in self.edges:
            targets.setdefault(edge.source, []).append(edge.target)
            sources.setdefault(edge.target, []).append(edge.source)
        reached = {path} | _reachable(targets, path) | _reachable(sources, path)
        edges = tuple([edge for edge in self.edges if edge.source in reached and edge.target in reached])
        nodes = {node_path: node for node_path, node in self.nodes.items() if node_path in reached}
        unclear = tuple([dependency for dependency in self.unclear if dependency.path == path])
        return DependencyGraph(nodes, edges, unclear)

    def critical_path(self) -> tuple[str, ...]:
        """Return the paths of the plans, first one first, that together have the most open tasks to do one after another.

        Empty if no unfinished plan waits for another one. Needs of single tasks count unless they are part of a cycle.
        """
        waits: dict[str, list[str]] = {
            path: [] for path, node in self.nodes.items() if not (node.is_done or node.is_unknown)
        }
        for edge in self.edges:
            if edge.source in waits and edge.target in waits and edge.target not in waits[edge.source]:
                waits[edge.source].append(edge.target)
        if find_cycle(waits):
            whole_plans = {(edge.source, edge.target) for edge in self.edges if not edge.source_task}
            cycle_of = {path: number for number, paths in enumerate(find_components(waits)) for path in paths}
            waits = {
                path: [
                    target
                    for target in targets
                    if (path, target) in whole_plans or path not in cycle_of or cycle_of[path] != cycle_of.get(target)
                ]
                for path, targets in waits.items()
            }
        if find_cycle(waits):
            return ()
        longest: dict[str, tuple[int, tuple[str, ...]]] = {}
        for path in _in_order(waits):
            before = max([longest[target] for target in waits[path]], default=(0, ()))
            longest[path] = before[0] + max(self.nodes[path].open_tasks, 1), (*before[1], path)
        chains = [chain for chain in longest.values() if len(chain[1]) > 1]
        return max(chains, default=(0, ()))[1]

    def _node_json(self, node: PlanNode) -> dict[str, Any]:
        fields = {**node._asdict(), "from_project": node.from_project.to_json() if node.from_project else None}
        return {"done": fields.pop("is_done"), **fields, "blocked": self.is_blocked(node.path)}

    def to_json(self) -> dict[str, Any]:
        """Return the graph as a document shows it."""
        path = self.critical_path()
        return {
            "plans": [self._node_json(node) for node in self.nodes.values()],
            "edges": [
                {
                    "from": edge.source,
                    "from_task": edge.source_task or None,
                    "to": edge.target,
                    "to_task": edge.target_task or None,
                    "name": edge.name,
                    "line": edge.line,
                    "done": edge.is_done,
                }
                for edge in self.edges
            ],
            "critical_path": [self.nodes[node_path].id for node_path in path],
            "unclear": [dependency._asdict() for dependency in self.unclear],
        }


def _reachable(successors: Mapping[str, list[str]], start: str) -> set[str]:
    """Return what can be reached from a point, not counting the point itself unless it is in a cycle."""
    reached: set[str] = set()
    pending = [start]
    while pending:
        new_points = [point for point in successors.get(pending.pop(), ()) if point not in reached]
        reached.update(new_points)
        pending += new_points
    return reached


def _in_order(waits: Mapping[str, list[str]]) -> list[str]:
    """Return the keys of a graph without cycles, each after those that it waits for."""
    ordered: dict[str, None] = {}
    for start in waits:
        stack = [start]
        while stack:
            path = stack[-1]
            pending = [target for target in waits[path] if target not in ordered]
            if pending:
                stack += pending
            else:
                ordered[stack.pop()] = None
    return list(ordered)
