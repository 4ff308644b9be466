"""`status`, `list`, `next` and `board` show each plan once, in the newest version of all worktrees."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import Folder
from tests.plans import CLEAN
from tests.team.worktrees.scratch import PARSER, PLAN, commit_plan, folder_at, git_fails, open_worktree

if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan

SCANNER = "2026-01-02_scanner"


def row(folder: Folder, name: str = PARSER) -> dict[str, Any]:
    """Return the only row of a plan in `status`, which `list` and `board` show in the same version."""
    plans = folder.ok("status")["plans"]
    (plan,) = [plan for plan in plans if plan["id"] == name]
    (listed,) = [plan for plan in folder.ok("list")["plans"] if plan["id"] == name]
    columns = folder.ok("board")["columns"]
    (card,) = [plan for column in columns for plan in column["plans"] if plan["id"] == name]
    for other in (listed, card):
        assert [other[field] for field in ("digest", "counts", "state", "worktree")] == [
            plan[field] for field in ("digest", "counts", "state", "worktree")
        ]
    assert isinstance(plan, dict)
    return plan


def test_without_worktrees_there_is_no_location(repo: Folder) -> None:
    commit_plan(repo)
    assert row(repo)["worktree"] is None


@pytest.mark.parametrize("is_committed", [True, False])
def test_work_in_the_worktree_is_seen_everywhere(repo: Folder, is_committed: bool) -> None:
    commit_plan(repo)
    commit_plan(repo, name=SCANNER)
    worktree = open_worktree(repo)
    other = open_worktree(repo, "scanner")
    worktree.ok("done", "2", "3", "-p", "parser", "--commit" if is_committed else "--no-commit")
    for folder in (repo, other):
        plan = row(folder)
        assert (plan["state"], plan["counts"]["done"]) == ("complete", 3)
        assert plan["worktree"] == {
            "path": str(worktree.path),
            "branch": "plan/parser",
            "main": "main",
            "ahead": 2,
            "lacking": 0,
            "new": False,
            "text": plan["worktree"]["text"],
        }
    text = repo.run("status").out
    assert f"\n{PARSER}: in ../repo.worktrees/{PARSER} (branch plan/parser, 2 tasks ahead of main)\n" in text
    assert f"{PARSER}: here, 2 tasks ahead of main" in worktree.run("list").out
    assert row(worktree)["worktree"]["path"] is None
    assert row(worktree, SCANNER)["worktree"]["path"] == str(other.path)


def test_a_worktree_without_changes_is_named(repo: Folder) -> None:
    commit_plan(repo)
    open_worktree(repo)
    assert row(repo)["worktree"]["text"] == f"in ../repo.worktrees/{PARSER} (branch plan/parser)"
    repo.ok("done", "2", "-p", "parser", "--commit")
    plan = row(repo)
    assert plan["counts"]["done"] == 2
    assert plan["worktree"]["ahead"] == 0


def test_a_version_that_the_worktree_lacks_is_continued_here(repo: Folder) -> None:
    commit_plan(repo)
    open_worktree(repo)
    repo.ok("add", "Only in the main worktree", "-p", "parser")
    assert row(repo)["worktree"]["text"] == f"here, ../repo.worktrees/{PARSER} has an older version"
    repo.ok("done", "2", "3", "-p", "parser")
    document = repo.run("next", "parser", "--json").json
    assert document["data"]["task"]["text"] == "Only in the main worktree"
    assert document["next"] == [f'cd "$(execplan worktree {PARSER})"'], "one place to work"


def test_a_conflict_is_resolved_where_it_is(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    worktree.ok("done", "2", "3", "-p", "parser")
    repo.git("switch", "-qc", "other")
    repo.ok("set", "Plan of Work", "One text.", "-p", "parser", "--commit")
    repo.git("switch", "-q", "main")
    repo.ok("set", "Plan of Work", "Another text.", "-p", "parser", "--commit")
    assert git_fails(repo, "merge", "other")
    for command in ("status", "next", "prime"):
        assert f"execplan merge {PARSER}" in repo.run(command).out


def test_a_run_belongs_to_the_worktree_of_its_plan(repo: Folder) -> None:
    commit_plan(repo)
    repo.ok("set", "Concrete Steps", "```sh {#make}\ntouch made.txt\n```", "-p", "parser", "--commit")
    worktree = open_worktree(repo)
    for command in ("compile", "approve", "run"):
        assert f"{PARSER} is worked on in ../repo.worktrees/{PARSER}" in repo.run(command, "parser").err
    assert "compiled" not in repo.run("status").out
    worktree.ok("compile", "parser")
    assert "compiled" in repo.run("status").out


def test_advice_is_for_the_worktree(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    worktree.ok("done", "2", "-p", "parser")
    document = repo.run("next", "--json").json
    assert document["data"]["task"]["number"] == 3
    assert document["data"]["do"]["then"].startswith(f"execplan -C ../repo.worktrees/{PARSER} done ")
    assert "(branch plan/parser, 1 task ahead of main)" in repo.run("next", "parser").out
    claimed = repo.ok("next", "parser", "--claim", "agent-1")
    assert claimed["task"]["number"] == 3
    assert worktree.ok("next", "parser")["taken"][-1]["by"] == "agent-1"


def test_prime_is_about_the_worktree(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    worktree.ok("done", "2", "-p", "parser")
    text = repo.run("prime", "--as", "ann").out
    assert "2 of 3 tasks done" in text
    commands = [line.strip() for line in text.split("Continue:\n")[1].splitlines()]
    assert commands[0] == f"execplan -C ../repo.worktrees/{PARSER} next {PARSER} --claim --as ann"
    assert all([command.startswith("execplan -C ") for command in commands])


def test_an_old_checkout_is_no_progress(repo: Folder) -> None:
    """The main worktree has reopened a task: the worktree has more done, but changed nothing."""
    commit_plan(repo)
    repo.git("worktree", "add", "-q", "-b", "old", "../old")
    repo.ok("reopen", "1", "-p", "parser", "--commit")
    plan = row(repo)
    assert (plan["counts"]["done"], plan["worktree"]) == (0, None)


def test_both_have_changed_the_plan(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    worktree.ok("done", "2", "-p", "parser", "--commit")
    repo.ok("done", "2", "3", "-p", "parser", "--commit")
    assert row(repo)["counts"]["done"] == 3
    worktree.ok("decide", "Read bytes", "--why", "Nothing is lost.", "-p", "parser")
    assert row(repo)["counts"]["done"] == 3
    worktree.ok("add", "Ship it", "-p", "parser")
    worktree.ok("done", "3", "4", "-p", "parser")
    plan = row(repo)
    assert plan["counts"]["done"] == 4
    assert plan["worktree"]["ahead"] == 1


def test_a_plan_that_was_archived_here_does_not_come_back(repo: Folder) -> None:
    commit_plan(repo)
    repo.git("worktree", "add", "-q", "-b", "old", "../old")
    repo.ok("archive", "parser", "--as", "abandoned", "--reason", "No longer wanted.", "--commit")
    assert repo.ok("status")["plans"] == []
    old = folder_at(repo, repo.path.parent / "old")
    old.ok("done", "2", "-p", "parser")
    assert repo.ok("status")["plans"] == []
    assert row(old)["worktree"]["path"] == str(repo.path)  # archived on main


def test_a_plan_that_was_removed_here_does_not_come_back(repo: Folder) -> None:
    commit_plan(repo)
    commit_plan(repo, name=SCANNER)
    repo.git("worktree", "add", "-q", "-b", "old", "../old")
    repo.git("rm", "-q", PLAN)
    repo.git("commit", "-qm", "Remove the plan")
    assert [plan["id"] for plan in repo.ok("status")["plans"]] == [SCANNER]


def test_a_plan_that_only_a_worktree_has(repo: Folder) -> None:
    commit_plan(repo)
    repo.git("worktree", "add", "-q", "-b", "side", "../side")
    folder_at(repo, repo.path.parent / "side").plan(CLEAN, SCANNER)
    assert row(repo, SCANNER)["worktree"]["text"] == "in ../side (branch side, not on main)"


def test_archived_in_its_worktree(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    worktree.ok("archive", "parser", "--as", "abandoned", "--reason", "No longer wanted.")
    plan = row(repo)
    assert (plan["state"], plan["worktree"]["path"]) == ("archived", str(worktree.path))
    assert repo.ok("next")["task"] is None


@pytest.mark.parametrize("state", ["detached", "missing", "prunable", "broken plan", "no commit"])
def test_worktrees_in_other_states(repo: Folder, state: str) -> None:
    if state == "no commit":
        repo.plan()
        repo.git("worktree", "add", "-q", "--detach", "../side")
        repo.git("checkout", "-q", "--orphan", "fresh")
        assert row(repo)["worktree"] is None
        return
    commit_plan(repo)
    repo.git("worktree", "add", "-q", "--detach", "../side")
    side = folder_at(repo, repo.path.parent / "side")
    side.ok("done", "2", "-p", "parser", "--commit")
    if state == "detached":
        assert row(repo)["worktree"]["text"] == "in ../side (detached HEAD, 1 task ahead of main)"
    elif state == "broken plan":
        side.write(PLAN, b"\xff\xfe\0")
        assert row(repo)["worktree"] is None
    else:
        shutil.rmtree(side.path)
        if state == "prunable":
            repo.write(".git/worktrees/side/gitdir", "/nowhere/.git\n")
        assert row(repo)["worktree"] is None


def test_nothing_is_imported_without_worktrees(repo: Folder) -> None:
    import subprocess
    import sys

    code = (
        "import sys; sys.argv = ['execplan', 'status']; from execplan.cli.main import main; main(); print(*sys.modules)"
    )

    def modules() -> set[str]:
        command = [sys.executable, "-c", code]
        completed = subprocess.run(command, cwd=repo.path, env=repo.env, capture_output=True, text=True, check=True)
        return set(completed.stdout.split("\n")[-2].split())

    commit_plan(repo)
    unused = {"execplan.team.worktrees.plan_versions", "execplan.core.git.blob_reader"}
    assert not unused & modules()
    open_worktree(repo)
    assert unused <= modules()


def test_the_files_of_plans_that_are_equal_are_not_parsed(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of twenty worktrees with twenty plans each, only the changed plan is parsed, and the one that it is compared to."""
    from execplan.core.plan import reader
    from execplan.core.project import project_discovery
    from execplan.team.worktrees.plan_versions import find_newest_versions

    names = [f"2026-01-01_part-{number:02}" for number in range(20)]
    for name in names:
        repo.plan(CLEAN, name)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Plans")
    for name in names:
        repo.git("worktree", "add", "-q", "-b", name, f"../{name}")
    changed = folder_at(repo, repo.path.parent / names[3])
    changed.ok("done", "2", "-p", names[3])
    parsed: list[int] = []
    read = reader.read

    def count(data: bytes, *titles: object) -> ParsedPlan:
        parsed.append(len(data))
        return read(data)

    monkeypatch.setattr(reader, "read", count)
    project = project_discovery.find(str(repo.path))
    own = {str(repo.path / f".agent/execplans/{name}.md"): CLEAN.encode() for name in names}
    (version,) = find_newest_versions(project, own, includes_new=True)
    assert (version.ref.id, version.location.ahead) == (names[3], 1)
    assert len(parsed) <= 4


def test_work_in_the_plans_own_worktree_counts_more_than_a_worktree_made_by_hand(repo: Folder) -> None:
    commit_plan(repo)
    repo.env["EXECPLAN_AGENT"] = "alice"
    worktree = open_worktree(repo)
    repo.git("worktree", "add", "-q", "../by-hand", "-b", "by-hand")
    folder_at(repo, repo.path.parent / "by-hand").ok("done", "3", "--commit", "--as", "bob")
    assert row(worktree)["worktree"] is None
    for command in ("next", "status", "prime"):
        assert "execplan done t" in worktree.run(command).out, command
        assert "execplan -C" not in worktree.run(command).out, command
    assert row(repo)["worktree"]["path"] == str(worktree.path)
    assert "(done there; merge it)" in repo.run("next").out


def test_a_worktree_in_which_somebody_works_is_not_removed_by_another_agent(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo, "parser", "--as", "alice")
    result = repo.run("worktree", "parser", "--finish", "--as", "bob", "--json")
    assert (result.exit, result.json["error"]["code"]) == (1, "already-claimed")
    assert "is claimed by alice until" in result.json["error"]["candidates"][0]
    assert "execplan next 2026-01-01_parser --release alice --to bob" in result.json["error"]["hint"]
    assert worktree.path.exists()
    (warning,) = repo.run("worktree", "parser", "--finish", "--json").json["warnings"]  # a person
    assert "is claimed by alice until" in warning
    assert not worktree.path.exists()
