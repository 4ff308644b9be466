"""Problems of dependencies for lint rules: names that are not clear, and plans and tasks that wait for each other.

A plan ends after its open tasks, each of these comes after the plan's start, and that comes after the end of the
plans that it depends on. A deadlock is a cycle of these points.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from shlex import quote

from execplan.core.errors import ExecplanError
from execplan.core.plan.plan_dependencies import split_project_name
from execplan.core.plan.task_needs import TaskNeed
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.team.dependencies.cycle_search import find_components, find_cycle, find_cycle_through
from execplan.team.dependencies.dependency_graph import DependencyGraph, PlanEdge, PlanNode, build_graph_from
from execplan.team.dependencies.known_projects import KnownProjects
from execplan.team.dependencies.plan_resolver import PlanEntry, PlanResolver

Point = tuple[str, str]

"""A point of a plan: its path, and `start`, `end` or the ID of a task."""

_START, _END = "start", "end"
DEADLOCK_COMMAND = "execplan lint --select EP510"
"""The command that shows the lines with dependencies of plans that wait for each other."""


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


class DependencyAnswers:
    """The answers for the plans of a project; each plan is read once."""

    def __init__(self, project: Project) -> None:
        # Findings must not depend on which other repositories are on this machine.
        self._resolver = PlanResolver(project, KnownProjects(reads_settings=False))
        self._deadlocks: dict[str, tuple[str, ...]] = {}
        self._examined_paths: set[str] = set()
        self._entries: dict[str, PlanEntry] = {}
        self._start_count = 0

    def find_problem(self, name: str) -> str:
        """Return why it is not clear which plan a name means; empty if it is. Other projects are not looked up."""
        resolution = self._resolver.resolve(name)
        return "" if split_project_name(name)[0] and resolution.entry is None else resolution.problem

    def find_need_problem(self, name: str) -> str:
        """Return why it is not clear which task a name such as `plan#3` means; empty if it is.

        Other projects are not looked up.
        """
        plan, _, task = name.partition("#")
        if split_project_name(plan)[0] and self._resolver.resolve(plan).entry is None:
            return ""
        return self._resolver.need_problem(TaskNeed(plan, task))

    def find_cycle(self, path: str) -> str:
        """Return the cycle that the plan with this path from the root is in; empty if it is in none.

        Only the plans that it needs are read. A second plan means that many are checked, so the index is loaded.
        """
        if path not in self._examined_paths:
            self._entries = self._entries or {entry.display_path: entry for entry in self._resolver.entries}
            entry = self._entries.get(path)
            if entry is None:
                return ""
            self._start_count += 1
            if self._start_count == 2:
                self._resolver.load_all_facts(only_indexed=True)
            graph = build_graph_from(self._resolver, entry)
            self._examined_paths |= graph.nodes.keys() | {path}
            self._deadlocks |= deadlocks_by_plan(graph)
        return " -> ".join(self._deadlocks.get(path, ()))


def find_own_cycle(project: Project, ref: PlanRef) -> str:
    """Return the cycle that a plan is in, also across other projects of the user; empty if it is in none."""
    resolver = PlanResolver(project)
    entry = next((entry for entry in resolver.entries if entry.ref.path == ref.path), None)
    if entry is None:
        return ""
    return " -> ".join(deadlocks_by_plan(build_graph_from(resolver, entry)).get(entry.display_path, ()))


def deadlock_error(cycle: Sequence[str]) -> ExecplanError:
    """Return the error for open plans and tasks that wait for each other."""
    hint = "remove one of these dependencies"
    if not any([":" in name for name in cycle]):  # lint does not look into other projects
        hint += f"; to see its line: {DEADLOCK_COMMAND}"
    return cycle_error(cycle, hint)


def cycle_error(cycle: Sequence[str], hint: str) -> ExecplanError:
    """Return the error for plans and tasks that wait for each other."""
    return ExecplanError("dependency-cycle", f"plans wait for each other: {' -> '.join(cycle)}", hint=hint)


def ensure_no_new_cycle(project: Project, ref: PlanRef, names: Sequence[str]) -> tuple[str, ...]:
    """Raise an error if a plan that comes to depend on others would wait for itself; return warnings about unclear names."""
    resolver = PlanResolver(project)
    warnings: list[str] = []
    for name in names:
        resolution = resolver.resolve(name)
        entry = resolution.entry
        if entry is None:
            warnings.append(f"depends_on: {name}: {resolution.problem}")
            continue
        own_path = project.display_path(ref.path)
        graph = build_graph_from(resolver, entry)
        if own_path in graph.nodes:
            successors: dict[str, list[str]] = {}
            for edge in graph.edges:
                successors.setdefault(edge.source, []).append(edge.target)
            successors[own_path] = [entry.display_path]
            cycle = find_cycle_through(successors, own_path)
            chain = [ref.id if path == own_path else graph.nodes[path].id for path in cycle]
            directory = f"-C {quote(entry.origin.path)} " if entry.origin is not None else ""
            raise cycle_error(chain, f"see what {entry.name} depends on: execplan {directory}graph {entry.ref.id}")
    return tuple(warnings)
