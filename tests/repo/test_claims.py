"""Tasks that somebody has taken."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conftest import CLOCK, Folder
from tests.plans import CLEAN, with_sections

THREE = with_sections("## Progress\n\n- [x] Read lines.\n- [ ] One\n- [ ] Two\n- [ ] Three\n")


def claimed(repo: Folder, name: str, *more: str) -> str | None:
    """The words of the task that a name gets."""
    task: dict[str, Any] | None = repo.ok("next", "--claim", name, *more)["task"]
    return task["text"] if task is not None else None


def test_a_second_agent_gets_the_next_one(repo: Folder) -> None:
    repo.plan(THREE)
    assert [claimed(repo, name) for name in ("ann", "bob", "ann", "eve", "dan")] == ["One", "Two", "One", "Three", None]
    data = repo.ok("next")
    assert data["task"] is None
    assert [(each["text"], each["by"]) for each in data["taken"]] == [("One", "ann"), ("Two", "bob"), ("Three", "eve")]
    assert repo.run("next").out.splitlines()[0] == "all that is open is taken"
    assert "1. by" not in repo.run("status").out
    assert "2. by ann, 3. by bob, 4. by eve" in repo.run("status").out


def test_without_a_name_the_first_free_one_is_shown(repo: Folder) -> None:
    repo.plan(THREE)
    claimed(repo, "ann")
    assert repo.ok("next")["task"]["text"] == "Two"
    out = repo.run("next").out
    assert "taken by ann until 2026-01-01 02:00Z: 2. One" in out
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


def test_release(repo: Folder) -> None:
    repo.plan(THREE)
    claimed(repo, "ann")
    assert claimed(repo, "bob") == "Two"
    repo.ok("next", "--release", "ann")
    assert claimed(repo, "eve") == "One"
    assert "nothing of this plan" in repo.run("next", "--release", "ann").out


def test_all_worktrees_see_it(repo: Folder) -> None:
    repo.plan(THREE)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    other = repo.path.parent / "other"
    repo.git("worktree", "add", "-q", str(other))
    assert claimed(repo, "ann") == "One"
    seen = json.loads(repo.run("next", "--claim", "bob", "--json", cwd=other).out)["data"]
    assert seen["task"]["text"] == "Two"
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
    running = [repo.start("next", "--claim", f"agent-{number}", "--json") for number in range(20)]
    got = [json.loads(each.communicate()[0])["data"]["task"]["text"] for each in running]
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
