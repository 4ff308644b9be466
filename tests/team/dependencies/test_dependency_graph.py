"""The graph of plans: what waits for what, deadlocks, the critical path, and drawings."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.project import project_discovery
from execplan.team.dependencies.cycle_search import find_components, find_cycle, find_cycle_through
from execplan.team.dependencies.dependency_graph import DependencyGraph, PlanEdge, PlanNode, build_graph
from execplan.team.dependencies.dependency_problems import find_deadlock
from execplan.team.dependencies.graph_text import format_dot, format_mermaid, format_tree
from execplan.team.dependencies.plan_resolver import PlanResolver
from tests.conftest import Folder
from tests.needs import need
from tests.team.dependencies.plan_files import plan_text

EDGES = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=16)


def make_graph(edges: list[tuple[int, int]], sizes: dict[int, int] | None = None) -> DependencyGraph:
    """A graph of plans with numbers; an edge leads from a plan to what it needs."""
    numbers = sorted({number for edge in edges for number in edge} | set(sizes or {}))
    nodes = {
        f"p{number}.md": PlanNode(
            f"p{number}", f"p{number}.md", f"Plan {number}", "active", (sizes or {}).get(number, 1), 9, is_done=False
        )
        for number in numbers
    }
    plan_edges = [PlanEdge(f"p{a}.md", f"p{b}.md", f"p{b}", 1, "", "", is_done=False) for a, b in edges]
    return DependencyGraph(nodes, tuple(plan_edges), ())


def needed(graph: DependencyGraph, path: str) -> list[str]:
    """The plans that a plan depends on."""
    return [edge.target for edge in graph.edges if edge.source == path]


@given(EDGES)
def test_a_cycle_is_found_exactly_if_there_is_one(edges: list[tuple[int, int]]) -> None:
    successors: dict[int, list[int]] = {}
    for source, target in edges:
        successors.setdefault(source, []).append(target)
    cycle = find_cycle(successors)
    if cycle:
        assert cycle[0] == cycle[-1]
        assert all(target in successors[source] for source, target in pairwise(cycle))
        assert len(set(cycle)) == len(cycle) - 1
    else:  # then the points can be removed one by one
        remaining = {point for edge in edges for point in edge}
        while remaining:
            free = {point for point in remaining if not set(successors.get(point, ())) & remaining}
            assert free
            remaining -= free


@given(EDGES)
def test_components_are_the_points_that_reach_each_other(edges: list[tuple[int, int]]) -> None:
    successors: dict[int, list[int]] = {number: [b for a, b in edges if a == number] for number in range(8)}

    def reached(number: int) -> set[int]:
        points: set[int] = set()
        pending = list(successors[number])
        while pending:
            point = pending.pop()
            if point not in points:
                points.add(point)
                pending += successors[point]
        return points

    components = find_components(successors)
    members = {number for component in components for number in component}
    assert members == {number for number in range(8) if number in reached(number)}
    for component in components:
        assert all(
            component <= reached(number) and {n for n in reached(number) if number in reached(n)} == component
            for number in component
        )
    for number in range(8):
        cycle = find_cycle_through(successors, number)
        assert bool(cycle) == (number in members)
        assert all(target in successors[source] for source, target in pairwise(cycle))
        assert not cycle or cycle[0] == cycle[-1] == number


def _longest(edges: list[tuple[int, int]], sizes: dict[int, int], number: int) -> int:
    return sizes.get(number, 1) + max([_longest(edges, sizes, b) for a, b in edges if a == number], default=0)


@given(EDGES, st.dictionaries(st.integers(0, 7), st.integers(1, 5)))
def test_the_critical_path_is_the_longest(edges: list[tuple[int, int]], sizes: dict[int, int]) -> None:
    edges = [(max(edge), min(edge)) for edge in edges if edge[0] != edge[1]]  # no cycles
    graph = make_graph(edges, sizes)
    path = graph.critical_path()
    if not edges:
        assert path == ()
        return
    assert all(target in needed(graph, source) for target, source in pairwise(path))
    connected = {number for edge in edges for number in edge}
    assert sum(graph.nodes[node].open_tasks for node in path) == max(
        _longest(edges, sizes, number) for number in connected
    )


@pytest.mark.parametrize(
    ("needs_of_c", "others"),
    [
        ("needs plan-c#1", []),  # a task of the same plan
        ("needs plan-d#1", ["Lists (needs plan-c#1)"]),  # two plans need tasks of each other
    ],
)
def test_needs_of_tasks_in_a_cycle_leave_the_others_in_the_critical_path(
    repo: Folder, needs_of_c: str, others: list[str]
) -> None:
    repo.plan(plan_text("A", "Lines", "Tabs"), "plan-a")
    repo.plan(plan_text("B", "Blocks (needs plan-a#1)"), "plan-b")
    repo.plan(plan_text("C", "Site (needs plan-b#1)", f"Pages ({needs_of_c})"), "plan-c")
    repo.plan(plan_text("D", "Images", *others), "plan-d")
    assert repo.ok("graph")["critical_path"] == ["plan-a", "plan-b", "plan-c"]


@given(EDGES)
def test_the_tree_has_each_plan_once(edges: list[tuple[int, int]]) -> None:
    edges = [(max(edge), min(edge)) for edge in edges if edge[0] != edge[1]]
    graph = make_graph(edges)
    complete_lines = [line for line in format_tree(graph) if not line.endswith("(see above)")]
    assert len(complete_lines) == len(graph.nodes)
    assert len(format_tree(graph)) == max(
        len(set(edges)) + len([path for path in graph.nodes if not needed(graph, path)]), len(graph.nodes)
    )


def test_a_long_chain_is_drawn() -> None:
    graph = make_graph([(number + 1, number) for number in range(3000)])
    assert len(format_tree(graph)) == 3001
    assert len(graph.critical_path()) == 3001


@pytest.mark.parametrize(
    ("plans", "cycle"),
    [
        ({"a": ("A", ["x"], "b"), "b": ("B", ["x"], "a")}, ["a", "b", "a"]),
        ({"a": ("A", ["x"], "a")}, ["a", "a"]),
        ({"a": ("A", ["w (needs b#1)"], ""), "b": ("B", ["y (needs a#1)"], "")}, ["a#", "b#", "a#"]),
        ({"a": ("A", ["w (needs b#1)", "z"], ""), "b": ("B", ["y", "w (needs a#2)"], "")}, []),
        ({"a": ("A", ["x"], "b"), "b": ("B", ["y (needs a#1)"], "")}, ["a", "b", "b#", "a#", "a"]),
        ({"a": ("A", ["x x"], "b"), "b": ("B", ["x y (needs a#1)"], "")}, []),
        ({"a": ("A", ["x"], "b"), "b": ("B", ["x"], "c"), "c": ("C", ["x"], "")}, []),
    ],
    ids=["plans", "itself", "tasks", "other tasks", "a plan and a task", "done tasks", "chain"],
)
def test_deadlocks(
    repo: Folder, monkeypatch: pytest.MonkeyPatch, plans: dict[str, tuple[str, list[str], str]], cycle: list[str]
) -> None:
    for name, (title, tasks, needs) in plans.items():
        repo.plan(plan_text(title, *tasks, needs=needs), name)
    monkeypatch.chdir(repo.path)
    found_cycle = find_deadlock(build_graph(PlanResolver(project_discovery.require("."))))
    names = [re.sub("#.*", "#", name) for name in found_cycle]
    assert names == cycle or (cycle and len(names) == len(cycle) and set(names) == set(cycle) and names[0] == names[-1])
    result = repo.run("graph")
    assert result.exit == (3 if cycle else 0)
    assert ("EP510" in repo.run("lint", "--select", "EP510").out) == bool(cycle)


def test_a_cycle_of_other_plans_hides_no_plan(repo: Folder) -> None:
    repo.plan(plan_text("A", "x", needs="plan-b"), "plan-a")
    repo.plan(plan_text("B", "x", needs="plan-a"), "plan-b")
    repo.plan(plan_text("C", "x", needs="plan-d"), "plan-c")
    repo.plan(plan_text("D", "x"), "plan-d")
    result = repo.run("graph", "plan-c")
    assert (result.exit, "plan-d  active, 0/1\n└─ plan-c" in result.out) == (0, True), result
    assert "unknown plan" in repo.run("graph", "nosuch").err
    for name in ("plan-a", ""):
        assert "plan-a -> plan-b -> plan-a" in repo.run("graph", *name.split()).err


def test_labels_can_break_no_drawing() -> None:
    title = 'A "quoted" \\ title; ] }\n --> <script>alert(1)</script> %% #quot; \x1b[31m'
    graph = make_graph([(2, 1)])
    graph.nodes["p1.md"] = graph.nodes["p1.md"]._replace(title=title)
    mermaid, dot = format_mermaid(graph), format_dot(graph)
    assert len(mermaid.splitlines()) == 1 + 2 + 1 + 3
    assert "<script>" not in mermaid
    assert "\x1b" not in mermaid + dot
    labels = re.findall(r'label="((?:[^"\\]|\\.)*)"', dot)
    assert len(labels) == 2


def test_svg_is_drawn_by_graphviz(repo: Folder) -> None:
    need("dot")
    repo.plan(plan_text('Build the "scanner" \\N <b> &copy;', "x"), "a")
    repo.plan(plan_text("Build the parser", "y", needs="a"), "b")
    result = repo.run("graph", "--format", "svg")
    assert result.exit == 0
    assert "<svg" in result.out
    assert "&lt;b&gt; &amp;copy;" in result.out


def test_svg_without_graphviz_is_an_error_with_a_way_out(repo: Folder) -> None:
    repo.plan()
    repo.env["PATH"] = "/nonexistent"
    result = repo.run("graph", "--format", "svg")
    assert result.exit == 6
    assert "--format mermaid" in result.err


def test_archived_plans_are_drawn_if_others_need_them(repo: Folder) -> None:
    repo.write(".agent/execplans/archive/2026-01-01_scanner.md", plan_text("Build the scanner", "x Lines"))
    repo.write(".agent/execplans/archive/2026-01-01_old.md", plan_text("Old", "x Lines"))
    repo.plan(plan_text("Build the parser", "Blocks", needs="scanner"), "2026-01-02_parser")
    assert repo.run("graph").out == "2026-01-01_scanner  archived\n└─ 2026-01-02_parser  active, 0/1\n"
    assert "1 plan without dependencies" in repo.run("graph", "--all").out


def test_a_complete_plan_is_not_blocked(repo: Folder) -> None:
    repo.plan(plan_text("Build the scanner", "Lines"), "2026-01-01_scanner")
    repo.plan(plan_text("Build the parser", "x Blocks", needs="scanner"), "2026-01-02_parser")
    assert repo.run("graph").out == "2026-01-01_scanner  active, 0/1\n└─ 2026-01-02_parser  complete, 1/1\n"


def test_broken_plans_are_drawn(repo: Folder) -> None:
    repo.plan(b"# A\xff", "2026-01-01_scanner")
    repo.plan(plan_text("Build the parser", "Blocks", needs="scanner"), "2026-01-02_parser")
    result = repo.run("graph")
    assert result.exit == 0
    assert "2026-01-01_scanner  broken" in result.out


def test_a_dependency_that_would_close_a_cycle_is_reported_with_the_complete_cycle(repo: Folder) -> None:
    for name, needs in (("aa", "bb"), ("bb", "cc"), ("cc", "")):
        repo.plan(plan_text(name, "Do it.", needs=needs), f"2026-01-01_{name}")
    error = repo.run("set", "cc", "--meta", "depends_on=aa", "--json").json["error"]
    cycle = " -> ".join([f"2026-01-01_{name}" for name in ("cc", "aa", "bb", "cc")])
    assert (error["code"], error["message"]) == ("dependency-cycle", f"plans wait for each other: {cycle}")
