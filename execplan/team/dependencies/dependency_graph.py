"""The graph of plans and what they depend on, with cycles and the critical path, and its construction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from execplan.core.plan.model import ARCHIVED
from execplan.core.plan.task_needs import read_task_needs
from execplan.core.plan_facts.listed_plan import ListedPlan
from execplan.team.dependencies.cycle_search import find_components, find_cycle

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from execplan.core.plan_facts.listed_plan import OpenTask
    from execplan.core.project.project_list import ProjectOrigin
    from execplan.team.dependencies.plan_resolver import PlanEntry, PlanResolver

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
