"""Warnings about dependencies on a plan by a name that it no longer has after it was renamed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.errors import ExecplanError
from execplan.team.dependencies.dependency_graph import build_graph
from execplan.team.dependencies.plan_resolver import PlanResolver

if TYPE_CHECKING:
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project

    Dependents = frozenset[tuple[str, str]]
    """Paths of plans, each with a name by which it depends on a plan."""


def find_dependents(project: Project, ref: PlanRef) -> Dependents:
    """Return the open plans that depend on a plan, with the names that they use; none if plans can't be read."""
    path = project.display_path(ref.path)
    try:
        edges = build_graph(PlanResolver(project)).edges
    except ExecplanError:
        return frozenset()
    return frozenset([(edge.source, edge.name) for edge in edges if edge.target == path])


def rename_warnings(project: Project, ref: PlanRef, dependents: Dependents) -> tuple[str, ...]:
    """Return a warning for each dependency that no longer means a renamed plan, because its name was not rewritten.

    `dependents` are those before it was renamed.
    """
    if not dependents:
        return ()
    path = project.display_path(ref.path)
    try:
        graph = build_graph(PlanResolver(project))
    except ExecplanError as error:
        return (f"couldn't find out whether other plans depend on the old name: {error.message}",)
    lost = [(edge.source, edge.line, edge.name) for edge in graph.edges if edge.target != path]
    lost += [(dependency.path, dependency.line, dependency.name) for dependency in graph.unclear]
    warnings = []
    for plan_path, line, name in sorted(set(lost)):
        if (plan_path, name) in dependents:
            _, mark, task = name.partition("#")
            warnings.append(f"{plan_path}:{line}: {name} no longer means this plan; write {ref.id}{mark}{task}")
    return tuple(warnings)
