"""`next`, `status` and the board pass over what waits for other plans, and say what it waits for."""

from __future__ import annotations

import pytest

from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_discovery
from execplan.views.board.board_loader import load_board
from tests.conftest import Folder
from tests.team.dependencies.plan_files import plan_text

SCANNER, PARSER = "2026-01-01_scanner", "2026-01-02_parser"


def test_a_plan_waits_until_the_other_is_complete(repo: Folder) -> None:
    repo.plan(plan_text("Build the scanner", "Read lines"), SCANNER)
    repo.plan(plan_text("Build the parser", "Read blocks", needs="scanner"), PARSER)
    blocked = repo.run("next", "parser", "--json").json["data"]
    assert blocked["task"] is None
    assert [(blocker["name"], blocker["plan"], blocker["task"]) for blocker in blocked["blocked_by"]] == [
        ("scanner", SCANNER, None)
    ]
    assert blocked["blocked_by"][0]["reason"] == "active, 0 of 1 tasks done"
    assert "all open tasks are blocked" in repo.run("next", "parser").out
    assert repo.run("next", "parser", "--json").json["next"] == [f"execplan next {SCANNER}"]
    assert repo.run("done", "1", "-p", "scanner").exit == 0
    free = repo.run("next", "parser", "--json").json["data"]
    assert (free["task"]["text"], free["blocked_by"]) == ("Read blocks", [])


def test_of_a_plan_without_open_tasks_none_is_blocked(repo: Folder) -> None:
    repo.plan(plan_text("Build the scanner", "Read lines"), SCANNER)
    repo.plan(plan_text("Build the parser", "Read blocks", needs="scanner").replace("- [ ]", "- [x]"), PARSER)
    text = repo.run("next", "parser").out
    assert text.startswith(f"no open tasks\n{PARSER} is blocked by scanner")


def test_an_archived_plan_blocks_nothing(repo: Folder) -> None:
    repo.write(f".agent/execplans/archive/{SCANNER}.md", plan_text("Build the scanner", "Read lines"))
    repo.plan(plan_text("Build the parser", "Read blocks (needs scanner#1)", needs="scanner"), PARSER)
    data = repo.run("next", "--json").json["data"]
    assert (data["task"]["number"], data["blocked"], data["blocked_by"]) == (1, [], [])


def test_without_a_name_a_plan_that_waits_is_passed_over(repo: Folder) -> None:
    repo.plan(plan_text("Build the scanner", "Read lines"), SCANNER)
    repo.plan(plan_text("Build the parser", "Read blocks", needs="scanner"), PARSER)
    result = repo.run("next")
    assert result.out.split("\n")[:2] == [
        f"1. Read lines  [{_task_id(repo, SCANNER)}] in {SCANNER}",
        f"passed over: {PARSER}, blocked by scanner (active, 0 of 1 tasks done)",
    ]
    assert repo.run("next", "--json").json["data"]["passed_over"] == [PARSER]


def test_blocked_plans_are_no_choice(repo: Folder) -> None:
    repo.plan(plan_text("Build the scanner", "Read lines"), SCANNER)
    repo.plan(plan_text("Build the parser", "Read blocks", needs="scanner"), PARSER)
    repo.plan(plan_text("Write the manual", "Write it"), "2026-01-03_manual")
    result = repo.run("next")
    assert result.exit == 3
    assert "no plan specified; 2 are open; 1 blocked plan is left out" in result.err
    assert PARSER not in result.err


def test_of_plans_that_wait_for_each_other_the_cycle_is_shown(repo: Folder) -> None:
    repo.plan(plan_text("Build the scanner", "Read lines", needs="parser"), SCANNER)
    repo.plan(plan_text("Build the parser", "Read blocks", needs="scanner"), PARSER)
    repo.plan(plan_text("Write the manual", "Write it", needs="parser"), "2026-01-03_manual")
    result = repo.run("next", "parser")
    assert f"plans wait for each other: {PARSER} -> {SCANNER} -> {PARSER}\n" in result.out
    assert repo.run("next", "parser", "--json").json["next"] == ["execplan lint --select EP510"]
    for command in (["graph", PARSER], ["next"]):  # no open plan can be continued
        result = repo.run(*command)
        assert (result.exit, "; to see its line: execplan lint --select EP510\n" in result.err) == (3, True)
    assert "depends_on" in repo.run("lint", "--select", "EP510").out
    assert repo.run("next", "manual", "--json").json["next"] == [f"execplan next {PARSER}"]


def test_a_plan_without_a_free_task_is_passed_over(repo: Folder) -> None:
    repo.plan(plan_text("Build the scanner", "Read lines"), SCANNER)
    repo.plan(plan_text("Build the parser", "Read blocks (needs scanner#1)"), PARSER)
    result = repo.run("next")
    assert f"in {SCANNER}\npassed over: {PARSER}, task 1 waits for scanner#1" in result.out


def test_the_next_tasks_of_a_choice_are_not_blocked(repo: Folder) -> None:
    repo.plan(plan_text("Build the scanner", "Read lines"), SCANNER)
    repo.plan(plan_text("Build the parser", "Read blocks (needs scanner#1)", "Read lists", "Read text"), PARSER)
    repo.ok("next", "parser", "--claim", "bob")
    result = repo.run("next", "--json")
    assert result.exit == 3
    assert [plan["next"]["text"] for plan in result.json["error"]["candidates"]] == ["Read lines", "Read text"]


def _task_id(repo: Folder, plan: str) -> str:
    tasks = repo.run("show", plan, "--json").json["data"]["tasks"]
    return str(tasks[0]["id"])


def test_a_task_waits_for_a_task(repo: Folder) -> None:
    repo.plan(plan_text("Build the scanner", "Read lines", "Read tabs"), SCANNER)
    task_id = _task_id(repo, SCANNER)
    repo.plan(
        plan_text("Build the parser", f"Blocks (needs scanner#{task_id})", "Lists", "Quotes; needs scanner#2"), PARSER
    )
    data = repo.run("next", "parser", "--json").json["data"]
    assert data["task"]["text"] == "Lists"
    assert [task["number"] for task in data["blocked"]] == [1, 3]
    assert data["blocked"][0]["blocked_by"][0]["task"] == task_id
    assert repo.run("done", "1", "-p", "scanner").exit == 0
    assert repo.run("next", "parser", "--json").json["data"]["task"]["number"] == 1


def test_a_task_waits_for_a_task_of_a_broken_plan(repo: Folder) -> None:
    repo.write(f".agent/execplans/{SCANNER}.md", b"\xff\xfe\x00")
    repo.plan(plan_text("Build the parser", "Blocks (needs scanner#1)", "Lists"), PARSER)
    result = repo.run("next", "parser", "--json")
    data = result.json["data"]
    assert data["task"]["text"] == "Lists"
    assert [(blocker["task"], blocker["reason"]) for blocker in data["blocked"][0]["blocked_by"]] == [(None, "broken")]
    assert not [warning for warning in result.json["warnings"] if "no such task" in warning]
    assert "no such task" not in repo.run("lint", PARSER, "--select", "EP509,EP510").out
    assert f"{SCANNER}  broken" in repo.run("graph", "parser").out


def test_a_claim_passes_over_blocked_tasks(repo: Folder) -> None:
    repo.plan(plan_text("Build the scanner", "Read lines"), SCANNER)
    repo.plan(plan_text("Build the parser", "Blocks (needs scanner#1)", "Lists"), PARSER)
    claimed = [repo.run("next", "parser", "--claim", name, "--json").json["data"] for name in ("ann", "bob")]
    assert claimed[0]["task"]["text"] == "Lists"
    assert claimed[1]["task"] is None
    forced = repo.run("next", "parser", "--claim", "bob", "--task", "1")
    assert "claimed by you" in forced.out
    assert "the claimed task is blocked" in forced.err


def test_a_claim_on_a_plan_that_waits_claims_nothing(repo: Folder) -> None:
    repo.plan(plan_text("Build the scanner", "Read lines"), SCANNER)
    repo.plan(plan_text("Build the parser", "Blocks", needs="scanner"), PARSER)
    assert repo.run("next", "parser", "--claim", "ann", "--json").json["data"]["taken"] == []


def test_an_unknown_dependency_blocks_nothing_and_is_reported(repo: Folder) -> None:
    repo.plan(plan_text("Build the parser", "Blocks (needs nowhere#1)", needs="scaner"), PARSER)
    result = repo.run("next")
    assert "1. Blocks" in result.out
    assert "depends on scaner: no such plan" in result.err
    assert "task 1 needs nowhere#1: no such plan" in result.err


def test_a_plan_that_depends_on_a_task_is_reported_everywhere(repo: Folder) -> None:
    repo.plan(plan_text("Build the scanner", "Read lines"), SCANNER)
    repo.plan(plan_text("Build the parser", "Blocks", needs=f"{SCANNER}#1"), PARSER)
    problem = f"{SCANNER}#1: no such plan; a plan waits for whole plans, a task waits for a task"
    assert f"depends on {problem}" in repo.run("next", "parser").err
    assert problem in repo.run("graph").err
    result = repo.run("lint", "--select", "EP509")
    assert (result.exit, f"EP509 depends on {problem}" in result.out) == (0, True)
    repo.plan(plan_text("Build the parser", f"Blocks (needs {SCANNER}#1)"), PARSER)
    assert "EP509" not in repo.run("lint", "--select", "EP509").out


def test_status_prime_and_the_board_say_the_same(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.plan(plan_text("Build the scanner", "Read lines"), SCANNER)
    repo.plan(plan_text("Build the parser", "Blocks", needs="scanner"), PARSER)
    why = "blocked by scanner (active, 0 of 1 tasks done)"
    assert why in repo.run("status").out
    plans = {plan["id"]: plan for plan in repo.run("status", "--json").json["data"]["plans"]}
    assert plans[PARSER]["next"] is None
    assert plans[PARSER]["blocked_by"][0]["plan"] == SCANNER
    assert why in repo.run("prime", "parser").out
    monkeypatch.chdir(repo.path)
    for _ in range(2):  # the second time from the cache
        cards = {card.id: card for card in load_board(project_discovery.require(".")).cards}
        assert (cards[PARSER].next_text, cards[PARSER].next_task, cards[PARSER].blocked_by) == (why, None, ("scanner",))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("scanner", SCANNER),
        (SCANNER, SCANNER),
        (f"{SCANNER}.md", SCANNER),
        (f".agent/execplans/{SCANNER}.md", SCANNER),
        (f"docs/old/{SCANNER}.md", SCANNER),
        ("EP-7", SCANNER),
        ("parse", PARSER),
        ("2026", None),
        ("nothing", None),
        ("x", None),
        ("", None),
        ("../../etc/passwd", None),
    ],
)
def test_names(repo: Folder, name: str, expected: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    from execplan.team.dependencies.plan_resolver import PlanResolver

    repo.plan("---\nid: EP-7\n---\n\n" + plan_text("Build the scanner", "A"), SCANNER)
    repo.plan(plan_text("Build the parser", "A"), PARSER)
    monkeypatch.chdir(repo.path)
    resolution = PlanResolver(project_discovery.require(".")).resolve(name)
    ref: PlanRef | None = resolution.entry.ref if resolution.entry is not None else None
    assert (ref.id if ref is not None else None) == expected
    assert bool(resolution.problem) == (expected is None)
