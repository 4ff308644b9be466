"""The `execplan graph` command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.cli.output.terminal_text import printable_lines
from execplan.cli.plan_arguments import plan_argument
from execplan.core.plan_store import plan_selection
from execplan.core.project import project_discovery
from execplan.core.text.message_parts import format_count

if TYPE_CHECKING:
    from execplan.team.dependencies.dependency_graph import DependencyGraph

_TEXT, _MERMAID, _DOT, _SVG = "text", "mermaid", "dot", "svg"


@define_command(
    reads="the plans outside the archive, including those of nested projects, and the archived plans that they need.",
    writes="the index of many plans in the git directory; nothing else.",
    examples=(
        "execplan graph",
        "execplan graph parser",
        "execplan graph --format mermaid",
        "execplan graph --format svg > plans.svg",
        "execplan graph --json",
    ),
    may_page=True,
)
@plan_argument(default="all plans")
@click.option(
    "--format",
    "form",
    type=click.Choice((_TEXT, _MERMAID, _DOT, _SVG)),
    default=_TEXT,
    help="Form of the graph (default: text); svg requires graphviz.",
)
@click.option("--all", "archived", is_flag=True, help="Include all archived plans.")
def graph(call: Call, plan: str | None, *, form: str, archived: bool) -> Answer:
    """Draw which plans wait for which.

    A plan depends on the plans that its metadata names under `depends_on`, that its Metadata list names, or that its
    section `Plan dependencies` lists; a task depends on a task of another plan if its text says so, as in `needs
    scanner#2`. A plan is drawn below those that it needs. The critical path is the chain of plans with the most open
    tasks. With PLAN, only what it needs and what needs it is drawn. Drawn plans that wait for each other are an error.
    """
    from execplan.team.dependencies import graph_text
    from execplan.team.dependencies.dependency_graph import build_graph
    from execplan.team.dependencies.dependency_problems import deadlock_error, find_deadlock
    from execplan.team.dependencies.plan_resolver import PlanResolver

    project = project_discovery.require(os.getcwd())
    dependency_graph = build_graph(PlanResolver(project), archived=archived)
    if plan is not None:
        plan_project, ref = plan_selection.select_plan(os.getcwd(), plan)
        path = plan_project.display_path(ref.path)
        if path not in dependency_graph.nodes:
            dependency_graph = build_graph(PlanResolver(project), archived=True)
        dependency_graph = dependency_graph.related_to(path)
    if cycle := find_deadlock(dependency_graph):
        raise deadlock_error(cycle)
    data = dependency_graph.to_json()
    warnings = tuple(
        [f"{entry.path}:{entry.line}: {entry.name}: {entry.problem}" for entry in dependency_graph.unclear]
    )
    if form == _TEXT:
        return Answer(data, _graph_text(dependency_graph), warnings=warnings)
    draw = {_MERMAID: graph_text.format_mermaid, _DOT: graph_text.format_dot, _SVG: graph_text.draw_svg}[form]
    drawing = draw(dependency_graph)
    return Answer({**data, "drawing": drawing}, drawing, warnings=warnings, is_raw=True)


def _graph_text(dependency_graph: DependencyGraph) -> str:
    """Return the plans with dependencies as a tree, the others in one line, and the critical path."""
    from execplan.team.dependencies.graph_text import format_tree

    if not dependency_graph.nodes:
        return "no open plans"
    connected = {path for edge in dependency_graph.edges for path in (edge.source, edge.target)}
    nodes = {path: node for path, node in dependency_graph.nodes.items() if path in connected}
    lines = format_tree(dependency_graph._replace(nodes=nodes)) if nodes else []
    if other_count := len(dependency_graph.nodes) - len(nodes):
        lines += [""] if lines else []
        lines.append(f"{format_count(other_count, 'plan')} without dependencies")
    if path := dependency_graph.critical_path():
        ids = [dependency_graph.nodes[node_path].id for node_path in path]
        count = sum([dependency_graph.nodes[node_path].open_tasks for node_path in path])
        lines += ["", f"critical path ({format_count(count, 'open task')}): {' -> '.join(ids)}"]
    return printable_lines(lines)
