"""The hints after a merge or a similar operation of git with conflicts: followed to the letter, they commit no markers."""

from __future__ import annotations

import shlex

import pytest

from tests.conftest import Folder
from tests.core.git_merge.branches import PLAN, commit, fork, git
from tests.plans import CLEAN
from tests.team.worktrees.scratch import DONE

WORK = "Write the scanner, then the reader."
OURS, THEIRS, AGREED = (CLEAN.replace(WORK, line) for line in ("Scan first.", "Read first.", "Both at once."))
PLAN_ID = PLAN.rpartition("/")[2].removesuffix(".md")
NOTES = f".agent/execplans/artifacts/{PLAN_ID}/notes.txt"
OPERATIONS = ["merge", "rebase", "cherry-pick", "revert", "am", "stash pop"]


def start(repo: Folder, operation: str) -> None:
    """Start an operation of git that leaves a conflict in the prose of the plan."""
    repo.env["GIT_EDITOR"] = "true"
    if operation == "stash pop":
        commit(repo, CLEAN)
        repo.write(PLAN, THEIRS)
        repo.git("stash", "-q")
        commit(repo, OURS)
    else:
        fork(repo, OURS, THEIRS)
    arguments: tuple[str, ...] = {"rebase": ("main",), "revert": ("HEAD~1",), "stash pop": ()}.get(operation, ("side",))
    if operation == "am":
        arguments = ("-3", repo.git("format-patch", "-1", "side", "-o", "../patches").strip())
    if operation == "rebase":
        repo.git("checkout", "-q", "side")
    if operation == "revert":
        commit(repo, AGREED)
    assert git(repo, *operation.split(), *arguments).returncode in (1, 128)
    assert has_markers(repo)


def has_markers(repo: Folder, name: str = PLAN) -> bool:
    """Return whether a file has conflict markers."""
    return "<<<<<<<" in (repo.path / name).read_text()


def hint(folder: Folder, *arguments: str) -> str:
    """Run a command that fails, and return its hint."""
    text: str = folder.run(*arguments, "--json").json["error"]["hint"]
    return text


def follow(folder: Folder, chain: str) -> bool:
    """Run the commands of a hint as a shell does, and return whether all have succeeded."""
    for command in chain.split(" && "):
        program, *arguments = shlex.split(command)
        assert program in ("execplan", "git"), command
        if folder.run(*arguments).exit if program == "execplan" else git(folder, *arguments).returncode:
            return False
    return True


def committed(repo: Folder, name: str = PLAN) -> str:
    """Return the text of a file in the last commit."""
    return repo.git("show", f"HEAD:{name}")


@pytest.mark.parametrize("operation", OPERATIONS)
def test_no_hint_commits_conflict_markers(repo: Folder, operation: str) -> None:
    start(repo, operation)
    head = repo.git("rev-parse", "HEAD")
    chain = hint(repo, "commit", "parser").rpartition(": ")[2]
    assert chain.startswith(f"execplan merge {PLAN_ID} && git add {PLAN} && ")
    assert not follow(repo, chain), "what is left is to be edited by hand"
    assert repo.git("rev-parse", "HEAD") == head
    repo.write(PLAN, AGREED.replace("Both", "All"))
    chain = hint(repo, "commit", "parser").rpartition(": ")[2]
    assert chain.startswith(f"git add {PLAN} && ")
    assert follow(repo, chain)
    assert "All at once." in committed(repo)
    assert repo.git("status", "--porcelain") == ""
    assert repo.run("merge").out == "nothing to merge: no plan has conflict markers\n"


@pytest.mark.parametrize("operation", OPERATIONS)
def test_merge_names_what_marks_the_plan_as_resolved(repo: Folder, operation: str) -> None:
    start(repo, operation)
    repo.write(PLAN, AGREED.replace("Both", "All"))
    commands = repo.run("merge", "--json").json["next"]
    assert commands[0] == f"git add {PLAN}"
    assert follow(repo, " && ".join(commands))
    assert "All at once." in committed(repo)


@pytest.mark.parametrize("names", [("parser",), ("parser", "other"), ("--all",)])
def test_a_plan_with_markers_is_never_committed(repo: Folder, names: tuple[str, ...]) -> None:
    repo.ok("new", "Other plan", "--commit")
    start(repo, "stash pop")
    repo.git("restore", "--staged", PLAN)
    head = repo.git("rev-parse", "HEAD")
    error = repo.run("commit", *names, "--json").json["error"]
    assert error["code"] == "merge-conflicts"
    assert (
        error["hint"]
        == f"resolve the conflicts, then commit the plan: execplan merge {PLAN_ID} && execplan commit {PLAN_ID}"
    )
    assert repo.git("rev-parse", "HEAD") == head


def test_another_plan_is_committed_after_stash_pop(repo: Folder) -> None:
    repo.ok("new", "Other plan", "--commit")
    start(repo, "stash pop")
    repo.ok("decide", "Wait", "--why", "It is better.", "-p", "other")
    assert repo.ok("commit", "other")["commit"]


def conflict_in_artifact(repo: Folder, ours: str | bytes = "ours\n", theirs: str | bytes = "theirs\n") -> None:
    """Merge two branches that changed an artifact of a complete plan in different ways."""
    commit(repo, DONE)
    repo.ok("outcome", "Blocks are read.", "--create", "--commit")
    for branch, content in (("main", "base\n"), ("side", theirs), ("main", ours)):
        if branch not in repo.git("branch", "--show-current"):
            repo.git("switch", "-q", *(["-c"] if branch == "side" else []), branch)
        repo.write(NOTES, content)
        repo.git("add", "-A")
        repo.git("commit", "-qm", branch)
    assert git(repo, "merge", "side").returncode == 1


def test_a_plan_is_not_moved_while_an_artifact_is_in_conflict(repo: Folder) -> None:
    conflict_in_artifact(repo)
    for call in (("archive", "parser"), ("rename", "parser", "Scanner"), ("archive", "parser", "--dry-run")):
        error = repo.run(*call, "--json").json["error"]
        assert error["code"] == "merge-conflicts"
        assert error["message"] == f"{NOTES} contains git conflict markers; nothing was moved"
        assert error["hint"] == f"edit {NOTES}, then: git add {NOTES} && git commit --no-edit"
    assert has_markers(repo, NOTES)
    status = repo.run("status")
    assert f"warning: a merge is in progress: {NOTES} contains git conflict markers" in status.err
    assert status.out.endswith(f"next: execplan merge {PLAN_ID}\n")
    assert repo.run("merge").out.endswith(
        f"next: edit {NOTES}, then: git add {NOTES}; then finish: git commit --no-edit\n"
    )
    assert f"error: {NOTES} contains git conflict markers" in repo.run("doctor").out
    repo.write(NOTES, "both\n")
    assert follow(repo, hint(repo, "archive", "parser").rpartition(": ")[2])
    assert repo.ok("archive", "parser", "--commit")["changed"]
    assert committed(repo, NOTES.replace("/artifacts/", "/archive/artifacts/")) == "both\n"


@pytest.mark.parametrize("ours", [True, False])
def test_a_binary_artifact_is_a_choice(repo: Folder, ours: bool) -> None:
    conflict_in_artifact(repo, b"\0ours", b"\0theirs")
    text = hint(repo, "commit", "parser")
    first, _, second = text.partition("; keep what is here: ")[2].partition("; or take that of the other side: ")
    second, _, finish = second.partition("; then: ")
    assert follow(repo, first if ours else second)
    assert follow(repo, finish)
    assert committed(repo, NOTES) == ("\0ours" if ours else "\0theirs")


@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize("deleted_here", [True, False])
def test_a_plan_deleted_on_one_side_is_a_choice(repo: Folder, deleted_here: bool, keeps: bool) -> None:
    commit(repo, CLEAN)
    repo.git("checkout", "-qb", "side")
    repo.git("rm", "-q", PLAN)
    repo.git("commit", "-qm", "Delete")
    repo.git("checkout", "-q", "main")
    commit(repo, OURS)
    if deleted_here:
        repo.git("checkout", "-q", "side")
    assert git(repo, "merge", "main" if deleted_here else "side").returncode == 1
    sides = "deleted in HEAD and changed on" if deleted_here else "changed in HEAD and deleted on"
    reason = f"{PLAN} was {sides} the other side"
    ways = f"{reason}; keep it: git add {PLAN}; or delete it: git rm {PLAN}; then: git commit --no-edit"
    assert hint(repo, "commit", "parser") == ways
    merge = repo.run("merge", "--json").json
    assert merge["next"] == [f"git add {PLAN}", f"git rm {PLAN}"]
    assert reason in merge["data"]["do"]["what"]
    assert reason in repo.run("status").err
    assert reason in repo.run("next").err
    assert reason.removeprefix(PLAN) in repo.run("doctor").out
    assert follow(repo, f"{merge['next'][not keeps]} && git commit --no-edit")
    assert (repo.path / PLAN).exists() is keeps
    assert repo.git("status", "--porcelain") == ""


@pytest.mark.parametrize("ours", [True, False])
def test_a_plan_renamed_on_both_sides_gets_one_name(repo: Folder, ours: bool) -> None:
    commit(repo, CLEAN)
    repo.write(NOTES, "notes\n")
    commit(repo, CLEAN)
    names = {"side": "2026-01-01_name-a", "main": "2026-01-01_name-b"}
    for branch, name in names.items():
        repo.git("checkout", "-q", *(["-b"] if branch == "side" else []), branch)
        repo.ok("rename", "parser", name.removeprefix("2026-01-01_"), "--commit")
    assert git(repo, "merge", "side").returncode == 1
    text = hint(repo, "merge")
    assert "added under one name" not in repo.run("merge", "name-b", "--dry-run").err
    assert repo.run("doctor").out.count("git still has it") == 0
    first, _, second = text.partition("; or keep the other name: ")
    name = names["main" if ours else "side"]
    for _ in range(2):
        chain = first.partition(": ")[2] if ours else second
        if follow(repo, chain):
            break
        path = repo.path / f".agent/execplans/{name}.md"
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(["# Parser\n", *lines[5:]]))
        assert not has_markers(repo, f".agent/execplans/{name}.md")
    assert repo.run("merge", "--json").json["next"] == ["git commit --no-edit"]
    repo.git("commit", "-q", "--no-edit")
    assert repo.git("status", "--porcelain") == ""
    assert [plan["id"] for plan in repo.ok("list")["plans"]] == [name]
    assert repo.git("ls-files", ".agent").split() == [
        f".agent/execplans/{name}.md",
        f".agent/execplans/artifacts/{name}/notes.txt",
    ]


def test_the_hint_of_a_call_with_a_directory(repo: Folder) -> None:
    """The commands run where they are read."""
    commit(repo, CLEAN)
    repo.git("checkout", "-qb", "side")
    repo.git("rm", "-q", PLAN)
    repo.git("commit", "-qm", "Delete")
    repo.git("checkout", "-q", "main")
    commit(repo, OURS)
    assert git(repo, "merge", "side").returncode == 1
    parent = Folder(repo.path.parent)
    parent.env = repo.env
    text = hint(parent, "-C", "repo", "commit", "parser")
    assert f"git -C repo add {PLAN}; or delete it: git -C repo rm {PLAN}; then: git -C repo commit --no-edit" in text


@pytest.mark.parametrize("operation", ["merge", "rebase", "cherry-pick"])
def test_once_all_conflicts_are_resolved_git_continues(repo: Folder, operation: str) -> None:
    start(repo, operation)
    repo.git("checkout", "-q", "--ours", PLAN)
    repo.git("add", PLAN)
    for command in ("status", "next", "board"):
        last = repo.run(command).out.splitlines()[-1]
        continues = {"merge": "git commit --no-edit"}.get(operation, f"git -c core.editor=true {operation} --continue")
        assert command == "board" or last == f"next: {continues}"
    repo.ok("done", "2", "-p", PLAN_ID)
    if operation == "rebase":
        assert follow(repo, hint(repo, "commit", PLAN_ID).partition(": ")[2])


def test_while_another_plan_is_in_conflict_that_one_comes_first(repo: Folder) -> None:
    repo.plan(CLEAN.replace("parser", "scanner"), "2026-01-02_scanner")
    repo.git("add", "-A")
    start(repo, "merge")
    for command in (("status",), ("next", "scanner"), ("show", "scanner")):
        assert repo.run(*command).out.splitlines()[-1] == f"next: execplan merge {PLAN_ID}"


def test_a_merge_that_removes_the_only_plan_is_finished_first(repo: Folder) -> None:
    repo.ok("init")
    repo.git("add", "-A")
    start(repo, "merge")
    repo.git("rm", "-qf", PLAN)
    for command in ("status", "next", "list", "board"):
        assert repo.run(command).out.splitlines()[-1] == "next: git commit --no-edit"
