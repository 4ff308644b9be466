"""Tasks that somebody has taken."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conftest import CLOCK, Folder
from tests.plans import CLEAN, with_sections

THREE = with_sections("## Progress\n\n- [x] Read lines.\n- [ ] One\n- [ ] Two\n- [ ] Three\n")


def claimed(repo: Folder, name: str, *options: str) -> str | None:
    """The words of the task that a name gets."""
    task: dict[str, Any] | None = repo.ok("next", "--claim", name, *options)["task"]
    return task["text"] if task is not None else None


def test_a_second_agent_gets_the_next_one(repo: Folder) -> None:
    repo.plan(THREE)
    assert [claimed(repo, name) for name in ("ann", "bob", "ann", "eve", "dan")] == ["One", "Two", "One", "Three", None]
    data = repo.ok("next")
    assert data["task"] is None
    assert [(task["text"], task["by"]) for task in data["taken"]] == [("One", "ann"), ("Two", "bob"), ("Three", "eve")]
    assert repo.run("next").out.splitlines()[0] == "all open tasks are claimed"
    assert "1. by" not in repo.run("status").out
    assert "2. by ann, 3. by bob, 4. by eve" in repo.run("status").out


def test_without_a_name_the_first_free_one_is_shown(repo: Folder) -> None:
    repo.plan(THREE)
    claimed(repo, "ann")
    assert repo.ok("next")["task"]["text"] == "Two"
    out = repo.run("next").out
    assert "claimed by ann until 2026-01-01 02:00Z: 2. One" in out
    assert repo.ok("status")["plans"][0]["taken"][0]["by"] == "ann"


def test_a_claim_ends_with_the_task_and_with_its_time(repo: Folder) -> None:
    repo.plan(THREE)
    claimed(repo, "ann")
    repo.ok("done", "2")
    assert claimed(repo, "bob", "--for", "30m") == "Two"
    assert claimed(repo, "ann") == "Three"
    repo.env["SOURCE_DATE_EPOCH"] = str(CLOCK + 31 * 60)
    assert claimed(repo, "eve") == "Two"
    repo.env["SOURCE_DATE_EPOCH"] = str(CLOCK + 119 * 60)
    assert claimed(repo, "dan") is None
    repo.env["SOURCE_DATE_EPOCH"] = str(CLOCK + 121 * 60)
    assert claimed(repo, "dan") == "Three"


def test_show_says_who_has_claimed_a_task(repo: Folder) -> None:
    repo.plan()
    repo.ok("next", "--claim", "bob")
    assert "  2. [ ] Build the parser.  [tmkadfq]  claimed by bob until 2026-01-01 02:00Z\n  3. [ ] Write" in (
        repo.run("show").out
    )
    done, claimed, free = repo.ok("show")["tasks"]
    assert (claimed["by"], claimed["until"]) == ("bob", "2026-01-01 02:00Z")
    assert "by" not in done | free
    repo.ok("done", "2")
    assert "claimed" not in repo.run("show").out


def test_release(repo: Folder) -> None:
    repo.plan(THREE)
    claimed(repo, "ann")
    assert claimed(repo, "bob") == "Two"
    repo.ok("next", "--release", "ann")
    assert claimed(repo, "eve") == "One"
    assert "has no claims in" in repo.run("next", "--release", "ann").out
    assert "bob has no claim on this task in" in repo.run("next", "--release", "bob", "--task", "Three").out


def test_a_release_names_open_tasks_and_suggests_no_claim(repo: Folder) -> None:
    repo.plan(THREE)
    repo.ok("next", "--claim", "--as", "ann")
    repo.ok("split", "2", "--done", "a", "--remaining", "b", "--as", "ann")
    lines = repo.run("next", "--release", "--as", "ann").out.splitlines()
    assert [line.partition("  [")[0] for line in lines] == ["released: 3. b"]


def test_all_worktrees_see_it(repo: Folder) -> None:
    repo.plan(THREE)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    other = repo.path.parent / "other"
    repo.git("worktree", "add", "-q", str(other))
    assert claimed(repo, "ann") == "One"
    data = json.loads(repo.run("next", "--claim", "bob", "--json", cwd=other).out)["data"]
    assert data["task"]["text"] == "Two"
    assert claimed(repo, "eve") == "Three"
    assert (repo.path / ".git/execplan/claims.json").exists()
    assert not (repo.path / ".git/worktrees/other/execplan/claims.json").exists()


def test_another_plan_is_another_matter(repo: Folder) -> None:
    repo.plan(THREE)
    repo.plan(THREE, "2026-01-01_scanner")
    assert repo.ok("next", "parser", "--claim", "ann")["task"]["text"] == "One"
    assert repo.ok("next", "scanner", "--claim", "bob")["task"]["text"] == "One"


def test_without_git(plain: Folder) -> None:
    plain.plan(THREE)
    assert claimed(plain, "ann") == "One"
    assert claimed(plain, "bob") == "Two"


def test_many_at_once_get_one_each(repo: Folder) -> None:
    repo.plan(with_sections("## Progress\n\n" + "".join(f"- [ ] Task {number}\n" for number in range(20))))
    results = repo.run_at_once([("next", "--claim", f"agent-{number}", "--json") for number in range(20)])
    got = [result.json["data"]["task"]["text"] for result in results]
    assert sorted(got) == sorted(f"Task {number}" for number in range(20))


@pytest.mark.parametrize("time", ["2", "h", "0h", "-1h", "1w", "31d", "١h", "1.5h"])
def test_times_that_are_none(repo: Folder, time: str) -> None:
    repo.plan(THREE)
    assert repo.run("next", "--claim", "ann", f"--for={time}").exit == 2


def test_flags_that_do_not_go_together(repo: Folder) -> None:
    repo.plan(THREE)
    assert repo.run("next", "--claim", "ann", "--release", "bob").exit == 2
    assert repo.run("next", "--for", "2h").exit == 2
    assert repo.run("next", "--claim", " ").exit == 2
    assert "execplan next --claim --task 'to do'\n" in repo.run("next", "--task", "to do").err


@pytest.mark.parametrize("content", ["", "{", "[1]", "[[1, 2]]", '{"a": 1}'])
def test_a_damaged_file_is_told(repo: Folder, content: str) -> None:
    repo.plan(THREE)
    repo.write(".git/execplan/claims.json", content)
    result = repo.run("next", "--json")
    assert result.exit == 3
    assert result.json["error"]["code"] == "claims-damaged"


def test_nothing_of_an_archived_plan_is_handed_out(repo: Folder) -> None:
    repo.plan(THREE)
    repo.ok("archive", "--force", "--reason", "Enough.")
    for arguments in (["next", "parser"], ["next", "parser", "--claim", "ann"]):
        assert repo.ok(*arguments)["task"] is None
        assert "is archived" in repo.run(*arguments).out
    assert not (repo.path / ".git/execplan/claims.json").exists()


def test_claims_follow_a_plan_and_end_in_the_archive(repo: Folder) -> None:
    repo.plan()
    repo.plan(CLEAN, "2026-01-02_scanner")
    task = repo.ok("next", "parser", "--claim", "ann")["task"]["id"]
    repo.ok("next", "scanner", "--claim", "ann")
    repo.ok("rename", "parser", "Build the reader")
    assert repo.ok("next", "reader", "--claim", "bob")["task"]["id"] != task
    assert repo.ok("next", "reader", "--claim", "ann")["task"]["id"] == task
    repo.ok("archive", "reader", "--force", "--reason", "Enough.")
    claims = (repo.path / ".git/execplan/claims.json").read_text()
    assert "reader" not in claims
    assert "scanner" in claims
    assert repo.run("doctor").exit == 0


def test_without_git_a_home_below_knows_what_was_taken_from_above(plain: Folder) -> None:
    plain.ok("init")
    plain.ok("init", "sub")
    plain.write(".agent/execplan.toml", 'homes = ["sub"]\n')
    plain.write("sub/.agent/execplans/2026-01-01_parser.md", THREE)
    assert claimed(plain, "ann") == "One"
    assert plain.ok("-C", "sub", "next", "--claim", "bob")["task"]["text"] == "Two"
    plain.ok("rename", "parser", "Build the reader")
    assert plain.ok("-C", "sub", "next", "--claim", "bob")["task"]["text"] == "Two"
    assert plain.run("doctor").exit == 0


def claimants_by_text(repo: Folder) -> dict[str, str]:
    """Who has claimed which task, by the task's text."""
    return {task["text"]: task["by"] for task in repo.ok("next")["taken"]}


def test_what_is_done_to_a_task_of_somebody_else_is_reported(repo: Folder) -> None:
    path = repo.plan(THREE)
    repo.env["EXECPLAN_AGENT"] = "bob"
    assert claimed(repo, "ann") == "One"
    expected = "task 2 is claimed by ann until 2026-01-01 02:00Z, but you act as bob"
    for arguments in (
        ("done", "2"),
        ("reopen", "2"),
        ("reword", "2", "Uno"),
        ("split", "2", "--done", "Half", "--remaining", "Rest"),
    ):
        before = path.read_bytes()
        assert repo.run(*arguments, "--json", "--dry-run").json["warnings"] == [expected], arguments
        assert path.read_bytes() == before
        assert repo.run(*arguments, "--json", "--dry-run", "--as", "ann").json["warnings"] == [], arguments
        if arguments[0] in ("done", "reopen"):
            result = repo.run(*arguments)
            assert (result.exit, result.err) == (0, f"execplan: warning: {expected}\n")
    assert repo.run("done", "3", "--json").json["warnings"] == []
    assert repo.run("add", "Four", "--json").json["warnings"] == []


def test_enforced_claims_stop_the_edit(repo: Folder) -> None:
    path = repo.plan(THREE)
    repo.write(".agent/execplan.toml", 'claims = "enforce"\n')
    assert claimed(repo, "ann") == "One"
    before = path.read_bytes()
    for arguments in (
        ("done", "2"),
        ("reword", "2", "Uno"),
        ("split", "2", "--done", "Half", "--remaining", "Rest"),
        ("set", "Progress", "- [x] Read lines.\n- [ ] Two\n"),
        ("done", "2", "--dry-run"),
    ):
        error = repo.run(*arguments, "--as", "bob", "--json").json["error"]
        assert (error["code"], error["exit"]) == ("claimed-task", 7), arguments
        assert error["message"].endswith("task 2 is claimed by ann until 2026-01-01 02:00Z, but you act as bob")
        assert "execplan next 2026-01-01_parser --release ann --to bob" in error["hint"]
    assert path.read_bytes() == before
    repo.ok("done", "2", "--as", "ann")
    repo.ok("reopen", "2", "--as", "ann")
    repo.ok("next", "--release", "ann", "--to", "bob")
    repo.ok("done", "2", "--as", "bob")
    repo.ok("reopen", "2", "--as", "ann")
    repo.ok("done", "2", "--as", "ann")


@pytest.mark.parametrize("has_worktree", [False, True])
def test_a_reopened_task_is_free(repo: Folder, has_worktree: bool) -> None:
    repo.plan(THREE)
    if has_worktree:
        repo.git("add", "-A")
        repo.git("commit", "-qm", "Plan")
        repo.git("worktree", "add", "-q", "../elsewhere")
    assert claimed(repo, "bob") == "One"
    repo.ok("done", "2", "--as", "bob")
    for arguments in (("reword", "2", "Uno"), ("reopen", "2")):
        assert "claimed by" not in repo.run(*arguments, "--as", "ann").err
    assert "claimed" not in repo.run("status", "--as", "ann").out
    assert claimed(repo, "ann") == "Uno"
    assert claimed(repo, "bob") == "Two"


def test_only_the_holder_finishes_a_claimed_task(repo: Folder) -> None:
    repo.plan(THREE)
    for task in ("2", "3"):
        repo.ok("next", "--claim", "bob", "--task", task)
    for command in ("done", "reopen"):
        repo.ok(command, "2", "--as", "bob")
    repo.ok("done", "3", "--as", "ann")
    repo.ok("undo", "--as", "ann")
    assert claimants_by_text(repo) == {"One": "bob", "Two": "bob"}


def test_the_setting_knows_two_values(repo: Folder) -> None:
    repo.plan(THREE)
    repo.write(".agent/execplan.toml", 'claims = "never"\n')
    assert repo.run("next", "--json").json["error"]["code"] == "bad-setting"


def test_a_claim_follows_its_task(repo: Folder) -> None:
    repo.plan(THREE)
    claimed(repo, "ann")
    claimed(repo, "bob")
    repo.ok("reword", "2", "Uno", "--as", "ann")
    assert claimants_by_text(repo) == {"Uno": "ann", "Two": "bob"}
    repo.ok("split", "2", "--done", "Un", "--remaining", "O", "--as", "ann")
    assert claimants_by_text(repo) == {"O": "ann", "Two": "bob"}
    repo.ok("reopen", "2", "--as", "ann")
    assert claimants_by_text(repo) == {"Un": "ann", "O": "ann", "Two": "bob"}
    repo.ok("add", "First", "--before", "1")
    assert claimants_by_text(repo) == {"Un": "ann", "O": "ann", "Two": "bob"}


def test_a_claim_follows_the_right_one_of_equal_tasks(repo: Folder) -> None:
    repo.plan(with_sections("## Progress\n\n- [ ] Same\n- [ ] Same\n- [ ] Other\n"))
    repo.ok("next", "--claim", "ann", "--task", "1")
    repo.ok("next", "--claim", "bob", "--task", "2")
    repo.ok("reword", "1", "First", "--as", "ann")
    assert claimants_by_text(repo) == {"First": "ann", "Same": "bob"}
    repo.ok("next", "--release", "bob")
    assert claimants_by_text(repo) == {"First": "ann"}


def test_a_claim_follows_an_edit_by_hand_in_the_editor_and_its_undo(repo: Folder) -> None:
    repo.plan(THREE)
    claimed(repo, "ann")
    repo.env["EXECPLAN_AGENT"] = "ann"
    repo.env["EDITOR"] = "sed -i 's/One/Uno/'"
    repo.ok("edit")
    assert claimants_by_text(repo) == {"Uno": "ann"}
    repo.ok("undo")
    assert claimants_by_text(repo) == {"One": "ann"}


def test_a_task_is_named(repo: Folder) -> None:
    repo.plan(THREE)
    data = repo.ok("next", "--claim", "ann", "--task", "Three")
    assert (data["task"]["text"], data["task"]["by"]) == ("Three", "ann")
    assert claimed(repo, "bob") == "One"
    assert repo.ok("next", "--claim", "ann", "--task", "3")["task"]["text"] == "Two"
    assert claimants_by_text(repo) == {"One": "bob", "Two": "ann", "Three": "ann"}
    for task, code in (("2", "already-claimed"), ("1", "task-done"), ("9", "no-such-task")):
        assert repo.run("next", "--claim", "ann", "--task", task, "--json").json["error"]["code"] == code
    repo.ok("next", "--release", "ann", "--task", "Three")
    assert claimants_by_text(repo) == {"One": "bob", "Two": "ann"}


def test_who_acts_claims_and_releases(repo: Folder) -> None:
    repo.plan(THREE)
    data = repo.ok("next", "--claim", "--as", "agent-1")
    assert (data["task"]["by"], repo.ok("next", "--as", "agent-1")["task"]["text"]) == ("agent-1", "One")
    assert repo.ok("next", "--as", "agent-2")["task"]["text"] == "Two"
    repo.env["EXECPLAN_AGENT"] = "agent-2"
    assert repo.ok("next", "--claim")["task"]["text"] == "Two"
    repo.ok("next", "--release")
    assert claimants_by_text(repo) == {"One": "agent-1"}


def test_a_claim_is_handed_over_in_one_step(repo: Folder) -> None:
    repo.plan(THREE)
    claimed(repo, "ann", "--for", "30m")
    repo.ok("next", "--claim", "ann", "--task", "Three")
    data = repo.ok("next", "--release", "ann", "--to", "bob")
    assert [(task["text"], task["by"], task["until"][11:]) for task in data["taken"]] == [
        ("One", "bob", "00:30Z"),
        ("Three", "bob", "02:00Z"),
    ]
    repo.ok("next", "--release", "bob", "--to", "eve", "--task", "Three", "--for", "1d")
    assert claimants_by_text(repo) == {"One": "bob", "Three": "eve"}
    assert repo.ok("next")["taken"][1]["until"] == "2026-01-02 00:00Z"
    result = repo.run("next", "--release", "dan", "--to", "eve", "--json")
    assert (result.exit, result.json["error"]["code"]) == (1, "nothing-claimed")


def test_a_clock_that_was_ahead(repo: Folder) -> None:
    repo.plan(THREE)
    repo.env["SOURCE_DATE_EPOCH"] = str(CLOCK + 70 * 365 * 86400)
    claimed(repo, "ann")
    repo.env["SOURCE_DATE_EPOCH"] = str(CLOCK)
    assert repo.ok("next")["taken"][0]["until"] == "2026-01-01 02:00Z"
    repo.env["SOURCE_DATE_EPOCH"] = str(CLOCK + 119 * 60)
    assert repo.ok("status")["plans"][0]["taken"][0]["until"] == "2026-01-01 02:00Z"
    repo.env["SOURCE_DATE_EPOCH"] = str(CLOCK + 121 * 60)
    assert claimants_by_text(repo) == {}


def test_a_claim_of_an_older_version(repo: Folder) -> None:
    repo.plan(THREE)
    claimed(repo, "ann")
    path = repo.path / ".git/execplan/claims.json"
    path.write_text(json.dumps([row[:4] for row in json.loads(path.read_text())]))
    assert repo.ok("next")["taken"][0]["until"] == "2026-01-01 02:00Z"


def test_edits_wait_for_each_other_and_claims_are_kept(repo: Folder) -> None:
    """While tasks are reworded others claim: no claim is lost and none is given twice."""
    repo.plan(with_sections("## Progress\n\n" + "".join(f"- [ ] Task {number}\n" for number in range(8))))
    calls = []
    for number in range(8):
        calls += [("next", "--claim", f"agent-{number}"), ("reword", f"Task {number}", f"New {number}")]
    assert [result.exit for result in repo.run_at_once(calls)] == [0] * 16
    tasks = repo.ok("next")["taken"]
    assert len({task["by"] for task in tasks}) == len(tasks) == 8
    assert {task["text"] for task in tasks} == {f"New {number}" for number in range(8)}


def test_a_worktree_made_by_hand_shows_claims_on_plans_of_both(repo: Folder) -> None:
    """Also if the other one has changed another plan, or has renamed or reworded what is claimed."""
    repo.plan(THREE)
    repo.plan(THREE, "2026-01-02_scanner")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plans")
    other = repo.path.parent / "other"
    repo.git("worktree", "add", "-q", str(other))
    assert repo.run("next", "parser", "--claim", "ann", cwd=other).exit == 0
    assert repo.run("done", "3", "-p", "scanner", "--as", "ann", cwd=other).exit == 0
    assert repo.run("next", "scanner", "--claim", "ann", cwd=other).exit == 0
    for directory in (repo.path, other):
        status = repo.run("status", "--as", "bob", cwd=directory).out
        assert status.count("claimed: 2. by ann") == 2, status
        plans = repo.run("next", "--json", "--as", "bob", cwd=directory).json["error"]["candidates"]
        assert [[claim["by"] for claim in plan["taken"]] for plan in plans] == [["ann"], ["ann"]]
    assert repo.run("reword", "2", "Uno", "-p", "parser", "--as", "ann", cwd=other).exit == 0
    assert repo.run("rename", "parser", "Read plans", "--as", "ann", cwd=other).exit == 0
    assert "claimed by ann" in repo.run("next", "parser", "--as", "bob").out
    assert "claimed by ann" in repo.run("next", "read-plans", "--as", "bob", cwd=other).out
