"""Which plan a name means: exact names first, nothing by a single character, and a bounded search for other projects."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from execplan.core.project import directory_tree, plan_names, project_discovery
from tests.cli.test_contract import CALLS
from tests.conftest import Folder
from tests.plans import CLEAN

PARSER, TESTS = "2026-01-01_parser", "2026-01-02_parser-tests"


@pytest.fixture
def two_plans(repo: Folder) -> Folder:
    """Two plans; the slug of one begins with that of the other."""
    repo.plan(CLEAN, PARSER)
    repo.plan(CLEAN.replace("Build the parser", "Test the parser", 1), TESTS)
    return repo


@pytest.mark.parametrize("name", ["parser", "Parser", PARSER, PARSER.upper(), "Build the parser", f"{PARSER}.md"])
def test_an_exact_name_wins_over_a_longer_one(two_plans: Folder, name: str) -> None:
    assert two_plans.ok("show", name)["id"] == PARSER
    assert two_plans.ok("done", "2", "-p", name)["path"].endswith(f"{PARSER}.md")


def test_an_archived_plan_with_the_exact_slug_is_not_mistaken_for_an_open_one_with_a_longer_slug(
    two_plans: Folder,
) -> None:
    two_plans.ok("archive", PARSER, "--force", "--reason", "Given up.")
    assert two_plans.ok("show", "parser")["state"] == "archived"
    assert two_plans.run("done", "2", "-p", "parser").exit != 0
    assert two_plans.ok("show", "parser-tests")["id"] == TESTS
    assert two_plans.ok("show", "tests")["id"] == TESTS


@pytest.mark.parametrize(
    ("form", "name", "slug"),
    [
        ("{date}_{slug}", "2026-01-01_parser", "parser"),
        ("{slug}", "2026-01-01-parser", "parser"),
        ("{number:04}-{slug}", "0007-parser", "parser"),
        ("plan-{slug}", "plan-parser", "parser"),
        ("work.{day}.{slug}", "work.20260101.parser", "parser"),
    ],
)
def test_slugs(form: str, name: str, slug: str) -> None:
    assert slug in plan_names.extract_slugs(form, name)


@pytest.mark.parametrize("name", ["p", "-", "_", "-_", "2", ".", "é"])
def test_one_character_selects_no_plan(repo: Folder, name: str) -> None:
    path = repo.plan()
    for call in (
        ["archive", name, "--force", "--reason", "x"],
        ["rename", name, "New title"],
        ["done", "2", "-p", name],
    ):
        assert repo.run(*call).exit in (2, 3), call
    assert path.read_text() == CLEAN
    assert repo.run("show", name).exit in (2, 3)


def test_a_whole_slug_or_title_of_one_character_is_a_name(repo: Folder) -> None:
    repo.plan(CLEAN.replace("# Build the parser", "# Q"), "2026-01-01_x")
    assert repo.ok("show", "x")["id"] == "2026-01-01_x"
    assert repo.ok("show", "q")["id"] == "2026-01-01_x"


@pytest.mark.parametrize("task", ["p", "-", "."])
def test_one_character_selects_no_task(repo: Folder, task: str) -> None:
    path = repo.plan(CLEAN.replace("Write the tests", "Write it"))
    assert repo.run("done", task).exit == 3
    assert "[x] (2026" not in path.read_text()


@pytest.mark.parametrize(
    "call",
    [
        ["show", "-"],
        ["summarize", "-"],
        ["archive", "-", "--dry-run", "--force", "--reason", "x"],
        ["rename", "-", "New title"],
        ["done", "2", "-p", "-"],
        ["compile", "-"],
        ["stats", "-"],
        ["merge", "-"],
        ["prime", "-"],
        ["archive", PARSER, "--as", "superseded", "--by", "-"],
    ],
    ids=" ".join,
)
def test_a_dash_is_never_a_plan(two_plans: Folder, call: list[str]) -> None:
    before = _files(two_plans.path)
    result = two_plans.run(*call, "--json", stdin=CLEAN.encode())
    assert result.exit == 2
    assert result.json["error"]["message"].startswith("'-' means standard input")
    assert _files(two_plans.path) == before


def test_a_dash_in_the_variable_is_never_a_plan(repo: Folder) -> None:
    repo.plan()
    result = repo.run("show", EXECPLAN_PLAN="-")
    assert result.exit == 2
    assert "EXECPLAN_PLAN is set to '-'" in result.err


@pytest.mark.parametrize(
    ("name", "near"),
    [("parsr", PARSER), ("scaner", "2026-01-03_scan-the-lines"), ("Scan the lins", "2026-01-03_scan-the-lines")],
)
def test_a_misspelled_name_gets_a_suggestion(two_plans: Folder, name: str, near: str) -> None:
    two_plans.plan(CLEAN.replace("Build the parser", "A scanner for lines", 1), "2026-01-03_scan-the-lines")
    error = two_plans.run("show", name, "--json").json["error"]
    assert error["code"] == "no-such-plan"
    assert error["candidates"][0] == near
    assert f"did you mean {near}?" in error["hint"]


def test_a_name_like_no_other_gets_no_suggestion(two_plans: Folder) -> None:
    error = two_plans.run("show", "xylophone", "--json").json["error"]
    assert (error["candidates"], error["hint"]) == ([], "list all plans: execplan list --all")


def test_the_variable_counts_where_all_plans_are_meant_without_it(two_plans: Folder) -> None:
    two_plans.env["EXECPLAN_PLAN"] = "parser-tests"
    assert [plan["id"] for plan in two_plans.ok("status")["plans"]] == [TESTS]
    assert [plan["id"] for plan in two_plans.ok("status", "parser")["plans"]] == [PARSER]
    two_plans.write(f".agent/execplans/{PARSER}.md", CLEAN.replace("- [ ] Build", "- [ ]Build"))
    assert two_plans.ok("lint")["plans"] == 1
    assert two_plans.run("lint").out == "1 plan, no findings\n"
    assert {finding["path"] for finding in two_plans.ok("lint")["findings"]} <= {f".agent/execplans/{TESTS}.md"}
    assert two_plans.ok("lint", f".agent/execplans/{TESTS}.md", f".agent/execplans/{PARSER}.md")["plans"] == 2
    assert two_plans.ok("stats")["plans"] == 0
    assert two_plans.ok("runs")["runs"] == []


@pytest.mark.parametrize("verb", ["status", "show", "next", "lint", "stats", "runs", "done", "commit", "audit"])
def test_a_stale_variable_is_named(two_plans: Folder, verb: str) -> None:
    result = two_plans.run(*CALLS[verb], EXECPLAN_PLAN="gone")
    assert result.exit == 3
    assert result.err.startswith("execplan: EXECPLAN_PLAN is set to 'gone': unknown plan 'gone'\n")
    assert "unset it" in result.err


def test_a_variable_that_means_several_is_named(two_plans: Folder) -> None:
    result = two_plans.run("show", EXECPLAN_PLAN="2026-01")
    assert result.exit == 3
    assert result.err.startswith("execplan: EXECPLAN_PLAN is set to '2026-01': '2026-01' matches 2 plans\n")


def test_an_archived_plan_is_meant_rather_than_a_document(repo: Folder) -> None:
    """Commands after the archive name the plan by what names it before."""
    repo.plan(CLEAN, PARSER)
    repo.plan("# Parser design\n\nOne sentence.\n", "parser-design")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Plans")
    repo.ok("archive", "parse", "--as", "abandoned", "--reason", "No longer wanted.")
    assert repo.ok("commit")["commit"]
    assert repo.ok("show", "parse")["id"] == PARSER
    assert repo.ok("restore", "parse")["changed"] is True
    assert repo.ok("show", "parse")["state"] == "active"


def test_a_document_makes_no_name_ambiguous(repo: Folder) -> None:
    repo.plan(CLEAN, "2026-01-01_dash-plan")
    repo.plan("# Design\n\nText only.\n", "2026-01-01_dash-design")
    repo.ok("done", "2", "-p", "dash")
    assert repo.ok("show", "dash-design")["state"] == "document"


def test_only_archived_plans(repo: Folder) -> None:
    assert repo.run("list").out == "no plans yet\nnext: execplan new 'Title'\n"
    repo.plan()
    repo.ok("archive", "--force", "--reason", "Given up.")
    for command in ("list", "next"):
        assert repo.run(command).out == "no open plans, 1 archived\nnext: execplan commit --all\n"
    assert repo.run("status").out.startswith("1 archived\n")


@pytest.mark.parametrize("name", [PARSER, f".agent/execplans/{PARSER}.md"])
def test_a_plan_that_was_renamed_without_a_commit_is_not_edited_under_its_old_name(
    two_plans: Folder, name: str
) -> None:
    two_plans.git("add", "-A")
    two_plans.git("commit", "-q", "-m", "Plans")
    two_plans.ok("rename", PARSER, "Read files")
    assert two_plans.run("done", "2", "-p", name).err == (
        f"execplan: '{PARSER}' is a former name; the plan was renamed to 2026-01-01_read-files\n"
        "hint: use the new name: 2026-01-01_read-files\n"
    )
    assert "renamed to" in two_plans.run("done", "2", "-p", "01-01_pars").err
    assert not (two_plans.path / f".agent/execplans/{PARSER}.md").exists()


def test_several_plans_are_described(two_plans: Folder) -> None:
    two_plans.ok("next", "parser", "--claim", "agent-1")
    text = (
        "  2026-01-01_parser  Build the parser\n"
        "      active, 1 of 3 tasks done; changed 2025-12-30; next tn9pppc: Write the tests.; "
        "tmkadfq claimed by agent-1 until 2026-01-01 02:00Z\n"
        "  2026-01-02_parser-tests  Test the parser\n"
        "      active, 1 of 3 tasks done; changed 2025-12-30; next tmkadfq: Build the parser.\n"
    )
    for call in (["next"], ["show"], ["done", "2"], ["show", "2026-01"]):
        assert text in two_plans.run(*call).err, call
    first = two_plans.run("done", "2", "--json").json["error"]["candidates"][0]
    assert first == {
        "id": PARSER,
        "path": f".agent/execplans/{PARSER}.md",
        "title": "Build the parser",
        "state": "active",
        "counts": {"open": 2, "done": 1, "other": 0, "total": 3},
        "changed": "2025-12-30",
        "next": {"id": "tn9pppc", "text": "Write the tests."},
        "taken": [{"id": "tmkadfq", "text": "Build the parser.", "by": "agent-1", "until": "2026-01-01 02:00Z"}],
    }
    context = two_plans.ok("prime", "--hook", "claude")
    assert context["candidates"][0] == first
    assert "> 2026-01-01_parser Build the parser\n>   active, 1 of 3 tasks done; " in context["text"]
    assert "tmkadfq claimed by agent-1" in context["text"]


def test_ten_of_many_plans_are_described(repo: Folder) -> None:
    for number in range(12):
        repo.plan(CLEAN, f"2026-01-01_p{number:02}")
    result = repo.run("next")
    assert result.err.count("tasks done") == 10
    assert "and 2 more: 2026-01-01_p10, 2026-01-01_p11\n" in result.err
    assert len(repo.run("next", "--json").json["error"]["candidates"]) == 12


def test_of_very_many_plans_the_error_names_only_some(repo: Folder) -> None:
    for number in range(40):
        repo.plan(CLEAN, f"2026-01-01_p{number:02}")
    error = repo.run("next").err
    assert "and 30 more: execplan list --all\n" in error
    assert "2026-01-01_p39" not in error
    assert len(repo.run("next", "--json").json["error"]["candidates"]) == 40


def test_a_broken_plan_is_described_too(two_plans: Folder) -> None:
    two_plans.plan(b"\xff\xfe", "2026-01-04_bad")
    broken = two_plans.run("show", "2026-01", "--json").json["error"]["candidates"][-1]
    assert (broken["id"], broken["state"], broken["counts"], broken["next"]) == ("2026-01-04_bad", "broken", None, None)


def test_the_search_for_other_projects_is_bounded(tmp_path: Path) -> None:
    """Counted is what is listed, whatever is around: here 40 times 40 directories and a project among the first of them."""
    for outer in range(40):
        for inner in range(40):
            (tmp_path / f"d{outer:02}" / f"e{inner:02}").mkdir(parents=True)
    (tmp_path / "d05" / ".agent" / "execplans").mkdir(parents=True)
    listed: list[str] = []
    watching = True

    def record_listing(event: str, arguments: tuple[object, ...]) -> None:
        if watching and event in ("os.scandir", "os.listdir") and str(arguments[0]).startswith(str(tmp_path)):
            listed.append(str(arguments[0]))

    sys.addaudithook(record_listing)
    nearby = directory_tree.find_nearby_projects(str(tmp_path), 4, 100)
    assert nearby == [str(tmp_path / "d05")]
    assert len(listed) == 100
    listed.clear()
    assert directory_tree.find_nearby_projects(str(tmp_path), 1, 10_000) == nearby
    assert len(listed) == 41
    listed.clear()
    with pytest.raises(Exception, match="in directories below") as error:
        project_discovery.require(str(tmp_path))
    assert getattr(error.value, "code", "") == "no-home"
    assert len(listed) <= 500
    watching = False


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*.md")}
