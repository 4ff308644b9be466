"""Dependencies on plans of other repositories: known ones block, unknown ones are shown, and cycles are found."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.plan import reader
from execplan.core.plan.plan_dependencies import read_dependencies, split_project_name
from execplan.core.project import project_discovery
from execplan.team.dependencies.dependency_graph import build_graph
from execplan.team.dependencies.dependency_problems import find_deadlock
from execplan.team.dependencies.known_projects import KnownProjects
from execplan.team.dependencies.plan_resolver import PlanResolver
from tests.several_projects import Neighbors, active, tree_state
from tests.team.dependencies.plan_files import plan_text

if TYPE_CHECKING:
    from tests.conftest import Folder

UI, GRAMMAR = "2026-01-01_ui", "2026-01-01_grammar"


@pytest.fixture
def neighbors(tmp_path: Path) -> Neighbors:
    """An application that needs a plan of a library; the user's settings list both."""
    neighbors = Neighbors(tmp_path)
    neighbors.list_in_settings(str(tmp_path / "app"), str(tmp_path / "lib"))
    return neighbors


@pytest.fixture
def app(neighbors: Neighbors) -> Folder:
    """The application."""
    return neighbors.add("app", ui=active("ui", needs="lib:grammar"))


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("lib:grammar", ("lib", "grammar")),
        ("work/lib:2026-01-01_grammar", ("work/lib", "2026-01-01_grammar")),
        ("lib: grammar ", ("lib", "grammar")),
        ("grammar", ("", "grammar")),
        (":grammar", ("", ":grammar")),
        ("lib:", ("", "lib:")),
        ("https://example.org/x", ("", "https://example.org/x")),
    ],
)
def test_a_name_has_a_project_before_a_colon(name: str, parts: tuple[str, str]) -> None:
    assert split_project_name(name) == parts


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("---\ndepends_on: [lib:grammar, other]\n---\n\n# A\n", ["lib:grammar", "other"]),
        ("---\ndepends_on:\n  - 'lib:grammar'\n---\n\n# A\n", ["lib:grammar"]),
        ("# A\n\n## Metadata\n\n- Depends on: lib:grammar, `x:y`\n", ["x:y"]),
        ("# A\n\n## Metadata\n\n- Depends on: lib:grammar, other\n", ["lib:grammar", "other"]),
        ("# A\n\n## Plan dependencies\n\n- lib:plan-1\n- lib:plan-2: for its types\n", ["lib:plan-1", "lib:plan-2"]),
        ("# A\n\n## Plan dependencies\n\n- Requires: lib:plan-1\n- Blocks: other-2\n", ["lib:plan-1"]),
        ("# A\n\n## Plan dependencies\n\n- https://example.org/plan-1\n- Requires:plan-2\n", ["plan-2"]),
        ("# A\n\nDepends on: lib:plan-1. Blocks: lib:plan-2.\n", ["lib:plan-1"]),
    ],
)
def test_each_form_of_metadata_can_name_another_project(text: str, names: list[str]) -> None:
    assert [mention.name for mention in read_dependencies(reader.read(text.encode()))] == names


def test_a_plan_waits_for_a_plan_of_another_repository(app: Folder, neighbors: Neighbors) -> None:
    lib = neighbors.add("lib", grammar=active("grammar"))
    data = app.run("next", "--json").json["data"]
    assert (data["task"], data["unknown_dependencies"]) == (None, [])
    (blocker,) = data["blocked_by"]
    assert (blocker["name"], blocker["plan"], blocker["path"], blocker["reason"], blocker["from_project"]) == (
        "lib:grammar",
        GRAMMAR,
        str(lib.path / f".agent/execplans/{GRAMMAR}.md"),
        "active, 1 of 2 tasks done",
        {"name": "lib", "path": str(lib.path)},
    )
    assert app.run("next").out.splitlines()[-1] == f"next: execplan -C ../lib next {GRAMMAR}"
    assert "blocked by lib:grammar (active, 1 of 2 tasks done)" in app.run("status").out
    assert "blocked by lib:grammar (active, 1 of 2 tasks done)" in app.run("board", "--plain").out
    assert "blocked by lib:grammar (active, 1 of 2 tasks done)" in app.run("prime").out
    before = tree_state(lib.path)
    assert app.run("graph").out.splitlines() == [
        f"lib:{GRAMMAR}  active, 1/2",
        f"└─ {UI}  active, 1/2, blocked",
        "",
        f"critical path (2 open tasks): lib:{GRAMMAR} -> {UI}",
    ]
    assert tree_state(lib.path) == before
    lib.ok("done", "2")
    assert app.ok("next")["task"]["text"] == "Do ui"


def test_an_archived_plan_of_another_repository_blocks_nothing(app: Folder, neighbors: Neighbors) -> None:
    lib = neighbors.add("lib")
    lib.write(f".agent/execplans/archive/{GRAMMAR}.md", active("grammar"))
    assert app.ok("next")["blocked_by"] == []
    assert f"lib:{GRAMMAR}  archived" in app.run("graph").out


def test_a_project_that_is_not_there_is_unknown_and_blocks_nothing(app: Folder) -> None:
    data = app.ok("next")
    assert (data["task"]["text"], data["blocked_by"], data["unknown_dependencies"]) == ("Do ui", [], ["lib:grammar"])
    assert "unknown here: lib:grammar: your settings list no such project, or it can't be read" in app.run("next").out
    for command in (["status"], ["board", "--plain"], ["next", "--project", "."]):
        assert "2. Do ui (unknown here: lib:grammar)" in app.run(*command).out, command
    assert "projects that are unknown on this machine:\n> lib:grammar" in app.run("prime").out
    assert app.run("graph").out == f"lib:grammar  unknown\n└─ {UI}  active, 1/2\n"
    nodes = app.ok("graph")["plans"]
    assert [(node["id"], node["state"], node["done"], node["blocked"]) for node in nodes] == [
        (UI, "active", False, False),
        ("lib:grammar", "unknown", False, False),
    ]
    for form in ("mermaid", "dot"):
        assert "lib:grammar" in app.run("graph", "--format", form).out
    (card,) = [card for column in app.ok("board")["columns"] for card in column["plans"]]
    assert (card["unknown_dependencies"], card["blocked_by"]) == (["lib:grammar"], [])


def test_a_plan_that_is_not_in_a_known_project_is_a_problem(app: Folder, neighbors: Neighbors) -> None:
    neighbors.add("lib", gramma=active("gramma"))
    result = app.run("next", "--json").json
    assert (result["data"]["blocked_by"], result["data"]["unknown_dependencies"]) == ([], [])
    assert result["warnings"] == ["depends on lib:grammar: no such plan"]
    assert "lib:grammar: no such plan" in app.run("graph").err


def test_a_task_waits_for_a_task_of_another_repository(app: Folder, neighbors: Neighbors) -> None:
    lib = neighbors.add("lib", grammar=plan_text("grammar", "Read", "Write"))
    app.plan(plan_text("ui", "Draw (needs lib:grammar#1)", "Click (needs gone:x#2)"), UI)
    data = app.ok("next")
    assert [(task["number"], [blocker["name"] for blocker in task["blocked_by"]]) for task in data["blocked"]] == [
        (1, ["lib:grammar#1"])
    ]
    assert (data["task"]["number"], data["unknown_dependencies"]) == (2, ["gone:x#2"])
    lib.ok("done", "1")
    assert app.ok("next")["task"]["number"] == 1


def test_given_projects_are_known_without_settings(app: Folder, neighbors: Neighbors) -> None:
    neighbors.add("lib", grammar=active("grammar"))
    neighbors.list_in_settings()
    assert app.ok("next")["unknown_dependencies"] == ["lib:grammar"]
    data = app.ok("next", "--project", ".", "--project", "../lib")
    assert [plan["id"] for plan in data["plans"]] == [GRAMMAR]
    assert [(plan["id"], plan["why"]) for plan in data["passed_over"]] == [
        (UI, "blocked by lib:grammar (active, 1 of 2 tasks done)")
    ]
    assert "blocked by lib:grammar" in app.run("board", "--project", "../lib", "--project", ".").out


def test_a_cycle_across_repositories_is_an_error(app: Folder, neighbors: Neighbors) -> None:
    lib = neighbors.add("lib", grammar=active("grammar", needs="app:ui"))
    result = app.run("graph", "--json").json["error"]
    assert (result["code"], result["exit"]) == ("dependency-cycle", 3)
    assert f"lib:{GRAMMAR}" in result["message"]
    assert UI in result["message"]
    assert app.ok("next")["task"] is None  # both wait, and nothing loops
    lib.plan(active("grammar"), GRAMMAR)
    error = lib.run("set", "--meta", "depends_on=app:ui", "--json").json["error"]
    assert (error["code"], error["message"]) == (
        "dependency-cycle",
        f"plans wait for each other: {GRAMMAR} -> app:{UI} -> {GRAMMAR}",
    )


def test_next_shows_a_cycle_across_repositories(app: Folder, neighbors: Neighbors) -> None:
    library = neighbors.add("lib", grammar=active("grammar", needs="app:ui"))
    for folder, cycle in (
        (app, f"{UI} -> lib:{GRAMMAR} -> {UI}"),
        (library, f"{GRAMMAR} -> app:{UI} -> {GRAMMAR}"),
    ):
        result = folder.run("next")
        assert f"plans wait for each other: {cycle}\n" in result.out
        assert "next: execplan graph" in result.out
    together = app.run("next", "--all-projects")
    assert together.out.startswith("all open plans are blocked\npassed over: ")


def test_lint_does_not_depend_on_other_repositories(app: Folder, neighbors: Neighbors) -> None:
    app.plan(plan_text("own", "Draw (needs lib:x#1)", needs="lib:nothing, scaner"), "2026-01-01_own")
    findings = [app.run("lint", "--select", "EP5", "--json").json["data"]["findings"]]
    neighbors.add("lib", grammar=active("grammar", needs="app:ui"))
    findings.append(app.run("lint", "--select", "EP5", "--json").json["data"]["findings"])
    assert findings[0] == findings[1]
    assert [finding["message"] for finding in findings[0]] == ["depends on scaner: no such plan"]


def test_a_name_of_several_projects_is_not_clear(app: Folder, neighbors: Neighbors, tmp_path: Path) -> None:
    for parent in ("work", "play"):
        neighbors.add(f"{parent}/lib", grammar=active("grammar"))
    neighbors.list_in_settings(str(tmp_path / "work/lib"), str(tmp_path / "play/lib"))
    (warning,) = app.run("next", "--json").json["warnings"]
    assert warning == "depends on lib:grammar: matches 2 plans: work/lib:grammar, play/lib:grammar"
    for parent in ("work", "play"):  # the names in the message are clear
        app.plan(active("ui", needs=f"{parent}/lib:grammar"), UI)
        (blocker,) = app.run("next", "--json").json["data"]["blocked_by"]
        assert blocker["path"].startswith(str(tmp_path / parent))


def test_the_own_project_can_be_named(app: Folder, neighbors: Neighbors) -> None:
    app.plan(active("more", needs="app:ui"), "2026-01-01_more")
    app.plan(active("ui"), UI)
    assert [blocker["path"] for blocker in app.run("next", "more", "--json").json["data"]["blocked_by"]] == [
        f".agent/execplans/{UI}.md"
    ]


def test_a_plan_never_names_a_directory_to_read(app: Folder, neighbors: Neighbors, tmp_path: Path) -> None:
    neighbors.add("secret", grammar=active("grammar"))
    for name in ("secret:grammar", f"{tmp_path}/secret:grammar", "../secret:grammar", "../secret/.agent/x.md"):
        app.plan(active("ui", needs=name), UI)
        assert app.ok("next")["blocked_by"] == [], name


EDGES = st.sets(st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.sampled_from("ab"), st.sampled_from("xy")))


@given(EDGES)
def test_the_graph_across_repositories_is_that_of_one_repository(edges: set[tuple[str, str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        for project in "ab":
            folder = Path(directory, project, ".agent/execplans")
            folder.mkdir(parents=True)
            for plan in "xy":
                needs = [
                    f"{other}:plan-{target}"
                    for source, name, other, target in sorted(edges)
                    if (source, name) == (project, plan)
                ]
                (folder / f"plan-{plan}.md").write_text(active(plan, needs=", ".join(needs)))
        projects = [project_discovery.find_read_only(f"{directory}/{name}") for name in "ab"]
        graph = build_graph(PlanResolver(projects[0], KnownProjects(projects, reads_settings=False)))
        successors: dict[tuple[str, str], set[tuple[str, str]]] = {}
        for source, name, other, target in edges:
            successors.setdefault((source, name), set()).add((other, target))
        reached = {("a", "x"), ("a", "y")}
        while new := {point for start in reached for point in successors.get(start, set())} - reached:
            reached |= new
        names = {
            (node.id.removeprefix("b:"), "b" if node.id.startswith("b:") else "a") for node in graph.nodes.values()
        }
        assert names == {(f"plan-{plan}", project) for project, plan in reached}
        assert bool(find_deadlock(graph)) == any([_reaches(successors, point, point) for point in reached])


def _reaches(
    successors: dict[tuple[str, str], set[tuple[str, str]]], start: tuple[str, str], goal: tuple[str, str]
) -> bool:
    reached: set[tuple[str, str]] = set()
    pending = [start]
    while pending:
        for point in successors.get(pending.pop(), set()) - reached:
            reached.add(point)
            pending.append(point)
    return goal in reached
