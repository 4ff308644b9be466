"""`board`, `search`, `stats`, `next` and `site` with `--project` and `--all-projects`, as a user runs them."""

from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from execplan.core.plan_facts.facts_loader import MIN_INDEXED_PLANS
from tests.in_process_repository import LOW
from tests.plans import CLEAN
from tests.several_projects import SCANNER, Neighbors, active, tree_state

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Folder, Result

COMMANDS = (
    ["board", "--plain"],
    ["board", "--all", "--json"],
    ["search", "Do"],
    ["stats"],
    ["stats", "--chart", "weekly"],
    ["stats", "--cost"],
    ["next"],
)


@pytest.fixture
def neighbors(tmp_path: Path) -> Neighbors:
    """Three repositories with a plan of the same ID each."""
    neighbors = Neighbors(tmp_path)
    for name in ("app", "lib", "tool"):
        neighbors.add(name, scanner=active(f"{name} scanner"))
    return neighbors


@pytest.fixture
def app(neighbors: Neighbors) -> Folder:
    """The repository in which commands run."""
    return _folder(neighbors, "app")


def _folder(neighbors: Neighbors, name: str) -> Folder:
    from tests.conftest import Folder

    folder = Folder(neighbors.directory / name)
    folder.env |= {"HOME": str(neighbors.home), "XDG_STATE_HOME": str(neighbors.home / "state")}
    return folder


def _lines(result: Result) -> list[list[str]]:
    return [line.split() for line in result.out.splitlines()]


def test_options_name_exactly_the_projects_to_read(app: Folder, neighbors: Neighbors) -> None:
    def projects(*arguments: str) -> list[str]:
        plans = app.ok("next", *arguments)["plans"]
        assert {plan["id"] for plan in plans} == {SCANNER}
        return [plan["from_project"]["name"] for plan in plans]

    assert projects("--project", "../lib", "--project", "../tool/.agent") == ["lib", "tool"]
    assert projects("--project", "../lib", "--project", ".") == ["lib", "app"]
    neighbors.list_in_settings(str(neighbors.directory / "lib"))
    assert projects("--all-projects") == ["app", "lib"]
    assert "plans" not in app.ok("next")  # the list in the settings applies only with --all-projects


def test_the_same_id_is_shown_with_its_project(app: Folder, neighbors: Neighbors) -> None:
    board = app.run("board", "--project", ".", "--project", "../lib")
    assert [line[3:7] for line in _lines(board)[3:5]] == [
        ["warnings", "app", SCANNER, "2."],
        ["warnings", "lib", SCANNER, "2."],
    ] or [line[-6:-3] for line in _lines(board)[3:5]] == [["app", SCANNER, "2."], ["lib", SCANNER, "2."]]
    cards = [
        card
        for column in app.ok("board", "--project", ".", "--project", "../lib")["columns"]
        for card in column["plans"]
    ]
    assert [(card["from_project"]["path"], card["path"]) for card in cards] == [
        (str(app.path), f".agent/execplans/{SCANNER}.md"),
        (str(neighbors.directory / "lib"), str(neighbors.directory / f"lib/.agent/execplans/{SCANNER}.md")),
    ]


def test_suggested_commands_run_in_the_other_project(app: Folder, neighbors: Neighbors) -> None:
    assert app.run("board", "--project", "../lib").out.splitlines()[-1] == f"next: execplan -C ../lib show {SCANNER}"
    neighbors.add("empty")
    empty_board = app.run("board", "--project", "../empty", "--json").json
    assert empty_board["next"] == ["execplan -C ../empty new 'Title'"]
    document = app.run("next", "--project", "../lib", "--json").json
    command = document["data"]["do"]["then"]
    assert command.startswith("execplan -C ../lib done ")
    before = tree_state(app.path)
    assert app.run(*command.split()[1:]).exit == 0
    assert tree_state(app.path) == before
    assert _folder(neighbors, "lib").ok("show")["counts"]["open"] == 0


def test_search_ranks_the_plans_of_all_projects(app: Folder) -> None:
    data = app.ok("search", "scanner", "--project", ".", "--project", "../lib", "--project", "../tool", "--limit", "2")
    assert (len(data["plans"]), data["plan_count"]) == (2, 3)
    lines = app.run("search", "lib scanner", "--project", ".", "--project", "../lib").out.splitlines()
    assert lines
    assert all([line.startswith(str(app.path.parent / "lib/.agent")) for line in lines])
    hint = app.run("search", "scan", "--project", "../lib", "--json").json["next"]
    assert hint == ["execplan search 'scan*' --project ../lib"]


def test_a_section_needs_to_be_in_one_project_only(app: Folder) -> None:
    app.write(".agent/execplans/extra.md", f"{active('Extra')}\n## Risks\n\nA strange scanner.\n")
    data = app.ok("search", "in:risks scanner", "--project", "../lib", "--project", ".")
    assert [plan["id"] for plan in data["plans"]] == ["extra"]
    assert app.run("search", "in:nowhere scanner", "--project", "../lib", "--project", ".").exit == 2
    assert app.run("search", "before:x", "--project", "../lib").exit == 2


def test_one_project_that_is_missing_does_not_hide_the_others(app: Folder) -> None:
    for command in COMMANDS:
        result = app.run(*command, "--project", "../gone", "--project", "../lib")
        assert result.exit == 1, command
        assert "../gone can't be read: no such file or directory" in result.err + result.out, command
        alone = app.run(*command, "--project", "../gone")
        assert alone.exit == 3, command


def test_a_broken_plan_of_another_project_is_reported(app: Folder, neighbors: Neighbors) -> None:
    broken = _folder(neighbors, "lib").plan(b"\xff", "broken")
    result = app.run("next", "--project", "../lib")
    assert (result.exit, f"broken of lib is broken: see execplan lint {broken}" in result.err) == (1, True)
    assert app.run("next", "--project", "../lib", "--json").json["data"]["broken"][0]["path"] == str(broken)
    result = app.run("board", "--project", "../lib", "--json")
    assert (result.exit, result.json["next"]) == (1, [f"execplan lint {broken}"])


def test_plans_that_can_not_be_listed_do_not_hide_other_projects(app: Folder, neighbors: Neighbors) -> None:
    _folder(neighbors, "lib").write(".agent/execplans/archive", "no directory")
    for command in (("stats",), ("stats", "--cost"), ("board", "--plain", "--all"), ("search", "scanner")):
        result = app.run(*command, "--project", ".", "--project", "../lib")
        assert (result.exit, "warning: lib: " in result.err) == (1, True), (command, result)


def test_a_current_project_that_can_not_be_read_does_not_hide_the_others(app: Folder, neighbors: Neighbors) -> None:
    neighbors.list_in_settings(str(neighbors.directory / "lib"))
    app.write(".agent/execplan.toml", "no TOML\n")
    result = app.run("next", "--all-projects")
    assert (result.exit, "execplan.toml" in result.err, f"lib  {SCANNER}" in result.out) == (1, True, True)
    assert app.run("next", "--project", "../lib").exit == 0
    assert app.run("next", "--all-projects", cwd=neighbors.directory).exit == 0


def test_options_that_exclude_each_other(app: Folder) -> None:
    for arguments in (
        ["board", "--project", ".", "--all-projects"],
        ["board", "--project", ""],
        ["next", "scanner", "--project", "."],
        ["next", "--claim", "--project", "../lib"],
        ["next", "--release", "--all-projects"],
        ["stats", "scanner", "--project", "."],
    ):
        assert app.run(*arguments).exit in (2, 3), arguments
    assert app.run("board", "--all-projects").exit == 3


def test_hostile_names_are_escaped(app: Folder, neighbors: Neighbors) -> None:
    name = "evil\x1b[31m\nname \u202e"
    neighbors.add(name, scanner=active("evil scanner"))
    for command in COMMANDS:
        result = app.run(*command, "--project", f"../{name}", "--project", f"../{name}/gone")
        assert result.exit == 1, (command, result)
        text = result.out + result.err
        assert "\x1b" not in text
        assert "\u202e" not in text, command
        assert not any([line.startswith("name") for line in text.splitlines()]), command
    document = app.run("next", "--project", f"../{name}", "--json").json
    assert document["data"]["plans"][0]["from_project"]["name"] == name
    command = document["data"]["do"]["then"]
    assert (
        subprocess.run(
            ["sh", "-c", f"set -- {command}; printf '%s' \"$3\""], capture_output=True, check=True
        ).stdout.decode()
        == f"../{name}"
    )


def _add_many_plans(folder: Folder) -> None:
    """Add so many plans that their facts are kept in an index."""
    for number in range(MIN_INDEXED_PLANS):
        folder.write(f".agent/execplans/archive/2025-01-01_old-{number}.md", "# Old\n\n## Progress\n\n- [x] A.\n")


def test_nothing_is_written_in_another_project(app: Folder, neighbors: Neighbors) -> None:
    lib = _folder(neighbors, "lib")
    _add_many_plans(lib)
    lib.plan(LOW, "2026-01-02_steps")
    lib.ok("compile", "steps")
    lib.ok("next", "scanner", "--claim", "bob")
    state = lib.path / ".git/execplan"
    claims = json.loads((state / "claims.json").read_text())
    claims[0][3] += 10_000_000  # from a clock that was ahead, which a command of this project would correct
    (state / "claims.json").write_text(json.dumps(claims))
    (state / "move.json").write_text("{}")  # an interrupted move, which a command of this project would finish
    lib.write("part/.agent/execplans/x.md", active("part"))
    lib.write(".agent/execplan.toml", 'homes = ["part"]\n')
    lib.git("worktree", "add", "-q", "../lib-2")
    neighbors.list_in_settings(str(lib.path))
    before = [tree_state(path) for path in (lib.path, neighbors.directory / "lib-2")]
    for command in (*COMMANDS, ["site", "--out", "../site"], ["graph"], ["status"]):
        for options in ([], ["--json"]):
            selected = ["--project", "../lib", "--project", "."] if command[0] not in ("graph", "status") else []
            result = app.run(*command, *selected, *options)
            assert result.exit == 0, (command, result)
            assert [tree_state(path) for path in (lib.path, neighbors.directory / "lib-2")] == before, command


def test_caches_are_used_and_never_trusted_over_the_files(app: Folder, neighbors: Neighbors) -> None:
    lib = _folder(neighbors, "lib")
    _add_many_plans(lib)
    first = app.run("board", "--all", "--project", "../lib").out
    assert (neighbors.home / ".cache/execplan/projects").is_dir()
    assert app.run("board", "--all", "--project", "../lib").out == first
    lib.plan(active("quite different"), SCANNER)
    assert "quite different" in app.run("board", "--all", "--project", "../lib").out
    assert "quite different" in app.run("search", "different", "--project", "../lib").out
    for path in (neighbors.home / ".cache").rglob("*"):
        if path.is_file():
            path.write_bytes(b"damaged")
    assert "quite different" in app.run("board", "--all", "--project", "../lib").out
    assert "quite different" in app.run("search", "different", "--project", "../lib").out


def test_a_cache_that_cannot_be_written_does_not_matter(app: Folder, neighbors: Neighbors) -> None:
    (neighbors.home / ".cache").write_text("no directory\n")
    for command in COMMANDS:
        assert app.run(*command, "--project", "../lib").exit == 0, command


def test_twenty_readers_at_once(app: Folder, neighbors: Neighbors) -> None:
    def read(number: int) -> set[str]:
        command = (["search", "scanner"], ["next"])[number % 2]
        plans = app.ok(*command, "--project", "../lib", "--project", "../tool", "--project", ".")["plans"]
        return {plan["from_project"]["name"] for plan in plans}

    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(read, range(20))) == [{"app", "lib", "tool"}] * 20


def test_statistics_are_sums_with_a_row_for_each_project(app: Folder, neighbors: Neighbors) -> None:
    lib = _folder(neighbors, "lib")
    lib.plan(CLEAN.replace("In the root of", "```sh {#say}\ntrue\n```\n\nIn the root of"), "2026-01-02_run")
    lib.ok("approve", "run", "--digest", lib.ok("evaluate", "run")["digest"][:8])
    lib.ok("run", "run")
    data = app.ok("stats", "--project", ".", "--project", "../lib", "--project", "../tool")
    assert data["runs"] == {"completed": 1}
    assert [(part["name"], part["plans"], sum(part["runs"].values())) for part in data["projects"]] == [
        ("app", 0, 0),
        ("lib", 1, 1),
        ("tool", 0, 0),
    ]
    rows = _lines(app.run("stats", "--project", ".", "--project", "../lib"))
    assert rows[-3:] == [
        ["project", "plans", "runs", "steps", "approvals", "success"],
        ["app", "0", "0", "0", "0", "-"],
        ["lib", "1", "1", "1", "1", "100%"],
    ]
    chart = app.ok("stats", "--chart", "runs", "--project", ".", "--project", "../lib")
    assert sum(chart["series"][0]["values"]) == 1


def test_charts_count_plans_with_the_same_id_apart(app: Folder) -> None:
    def total(*projects: str) -> float:
        options = [option for project in projects for option in ("--project", project)]
        series = app.ok("stats", "--chart", "burn-up", *options)["series"]
        return max([float(value) for entry in series for value in entry["values"]])

    assert total(".", "../lib", "../tool") == 3 * total(".")
