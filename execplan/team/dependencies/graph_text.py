"""Drawings of the dependency graph: a tree in plain text, Mermaid, DOT, and SVG made by graphviz."""

from __future__ import annotations

import os
import subprocess
from shutil import which

from execplan.core.errors import ExecplanError
from execplan.core.plan.model import ARCHIVED
from execplan.core.text.invisible_characters import escape_unprintable
from execplan.core.text.message_parts import shorten
from execplan.team.dependencies.dependency_graph import UNKNOWN, DependencyGraph, PlanEdge, PlanNode

_MAX_LABEL = 60
"""Maximum characters of a title in a drawing."""
_TIMEOUT = 60
"""Seconds that graphviz may take."""
_COLORS = {"done": "#d9f2df", "blocked": "#f6e3c4", "open": "#ffffff", "unknown": "#eaeef2"}


def format_tree(graph: DependencyGraph) -> list[str]:
    """Return the plans as a tree in which a plan is below those that it needs; without a cycle only.

    A plan that needs several others is complete below the first, and named below the others.
    """
    lines: list[str] = []
    drawn: set[str] = set()
    dependents_by_path: dict[str, dict[str, None]] = {}
    for edge in graph.edges:
        dependents_by_path.setdefault(edge.target, {})[edge.source] = None
    waiting = {edge.source for edge in graph.edges}
    roots = [path for path in graph.nodes if path not in waiting]
    pending = [(path, "", "", "") for path in reversed(roots)]
    while pending:
        path, lead, child_lead, needs = pending.pop()
        if path in drawn:
            lines.append(f"{lead}{graph.nodes[path].id}{needs} (see above)")
            continue
        drawn.add(path)
        lines.append(f"{lead}{graph.nodes[path].id}  {describe_node(graph, path)}{needs}")
        dependents = list(dependents_by_path.get(path, ()))
        for dependent in reversed(dependents):
            branch, indent = ("└─ ", "   ") if dependent == dependents[-1] else ("├─ ", "│  ")
            pending.append((dependent, child_lead + branch, child_lead + indent, _edge_text(graph, dependent, path)))
    return lines


def _edge_text(graph: DependencyGraph, source: str, target: str) -> str:
    """Return the names of needs between tasks; empty if the whole plan depends."""
    edges = [edge for edge in graph.edges if (edge.source, edge.target) == (source, target)]
    names = [edge.name for edge in edges if edge.source_task]
    return f"  (needs {', '.join(dict.fromkeys(names))})" if names and all([edge.source_task for edge in edges]) else ""


def describe_node(graph: DependencyGraph, path: str) -> str:
    """Describe the progress of a plan, and whether it waits for another one."""
    node = graph.nodes[path]
    if node.state == ARCHIVED or node.is_unknown:
        return node.state
    progress = f"{node.state}, {node.total_tasks - node.open_tasks}/{node.total_tasks}"
    return f"{progress}, blocked" if graph.is_blocked(path) else progress


def format_mermaid(graph: DependencyGraph) -> str:
    """Return the graph in the language of Mermaid; arrows lead from a plan to those that wait for it."""
    names = {path: f"p{number}" for number, path in enumerate(graph.nodes, 1)}
    lines = ["flowchart LR"]
    for path in graph.nodes:
        label = "<br/>".join([_mermaid_text(line) for line in _label_lines(graph, path)])
        lines.append(f'  {names[path]}["{label}"]:::{_kind(graph, path)}')
    for edge in _drawn_edges(graph):
        label = f'|"{_mermaid_text(edge.name)}"|' if edge.source_task else ""
        arrow = "-.->" if edge.source_task else "-->"
        lines.append(f"  {names[edge.target]} {arrow}{label} {names[edge.source]}")
    kinds = {_kind(graph, path) for path in graph.nodes}
    lines += [
        f"  classDef {kind} fill:{color},stroke:#57606a,color:#1f2328"
        for kind, color in _COLORS.items()
        if kind != UNKNOWN or kind in kinds
    ]
    return "\n".join(lines) + "\n"


def format_dot(graph: DependencyGraph) -> str:
    """Return the graph in the DOT language; arrows lead from a plan to those that wait for it."""
    names = {path: f"p{number}" for number, path in enumerate(graph.nodes, 1)}
    lines = ["digraph plans {", "  rankdir=LR;", '  node [shape=box, style="rounded,filled", fontname="sans-serif"];']
    for path in graph.nodes:
        label = "\\n".join([_dot_text(line) for line in _label_lines(graph, path)])
        lines.append(f'  {names[path]} [label="{label}", fillcolor="{_COLORS[_kind(graph, path)]}"];')
    for edge in _drawn_edges(graph):
        attributes = [f'label="{_dot_text(edge.name)}"', "style=dashed"] if edge.source_task else []
        suffix = f" [{', '.join(attributes)}]" if attributes else ""
        lines.append(f"  {names[edge.target]} -> {names[edge.source]}{suffix};")
    return "\n".join([*lines, "}"]) + "\n"


def draw_svg(graph: DependencyGraph) -> str:
    """Return the graph as SVG, drawn by graphviz. Raises ExecplanError if it is not installed, or fails."""
    program = which("dot")
    if program is None:
        raise ExecplanError(
            "no-graphviz",
            "the program dot, which is part of graphviz, is not installed",
            hint="install graphviz, or draw the graph elsewhere: execplan graph --format mermaid",
        )
    try:
        completed = subprocess.run(  # noqa: S603 - the program is graphviz, the labels are escaped
            [program, "-Tsvg"], input=format_dot(graph).encode(), capture_output=True, timeout=_TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise _graphviz_error(str(error)) from None
    except OSError as error:
        raise _graphviz_error(f"{program}: {os.strerror(error.errno or 0).lower()}") from None
    if completed.returncode:
        raise _graphviz_error(completed.stderr.decode("utf-8", "replace").strip() or f"exit {completed.returncode}")
    return completed.stdout.decode("utf-8", "replace")


def _graphviz_error(reason: str) -> ExecplanError:
    return ExecplanError(
        "graphviz-failed",
        f"graphviz can't draw the graph: {shorten(reason, 200)}",
        hint="draw the graph elsewhere: execplan graph --format mermaid",
    )


def _drawn_edges(graph: DependencyGraph) -> list[PlanEdge]:
    """Return the edges without repetition."""
    return list({(edge.source, edge.target, edge.source_task and edge.name): edge for edge in graph.edges}.values())


def _label_lines(graph: DependencyGraph, path: str) -> list[str]:
    node: PlanNode = graph.nodes[path]
    title = shorten(node.title, _MAX_LABEL)
    return [escape_unprintable(line) for line in (node.id, title, describe_node(graph, path)) if line]


def _kind(graph: DependencyGraph, path: str) -> str:
    if graph.nodes[path].is_unknown:
        return UNKNOWN
    if graph.nodes[path].is_done:
        return "done"
    return "blocked" if graph.is_blocked(path) else "open"


def _mermaid_text(text: str) -> str:
    """Escape a text for a quoted label; Mermaid has entity codes for characters with a meaning."""
    return "".join([char if char.isalnum() or char in " -_.,:/()+=@!?'" else f"#{ord(char)};" for char in text])


def _dot_text(text: str) -> str:
    """Escape a text for a quoted label, in which graphviz replaces HTML entities."""
    return text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
