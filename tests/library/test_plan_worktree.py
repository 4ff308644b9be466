"""`worktree --finish`: what was done in a plan's worktree is merged, and nothing that is not merged is removed."""

from __future__ import annotations

import os
import shlex
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.conftest import Folder
from tests.plans import CLEAN, with_sections
from tests.team.worktrees.scratch import (
    DONE,
    PARSER,
    PLAN,
    branches,
    commit_plan,
    folder_at,
    git_fails,
    open_worktree,
    refused,
)

ARCHIVED = f".agent/execplans/archive/{PARSER}.md"


def work(worktree: Folder) -> None:
    """Do a task in a worktree, and commit it."""
    worktree.write("src/parser.py", "PARSER = 1\n")
    worktree.git("add", "-A")
    worktree.git("commit", "-qm", "Build the parser")
    worktree.ok("done", "2", "-p", "parser", "--commit")


def is_gone(repo: Folder, worktree: Folder) -> bool:
    """Return whether a worktree, its branch, its record and the directory of all worktrees are gone."""
    return (
        not worktree.path.exists()
        and not worktree.path.parent.exists()
        and branches(repo) == ["main"]
        and repo.ok("worktree")["worktrees"] == []
        and len(repo.git("worktree", "list").splitlines()) == 1
    )


@pytest.mark.parametrize("place", ["inside", "outside"])
def test_the_work_is_merged(repo: Folder, place: str) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    work(worktree)
    result = (worktree if place == "inside" else repo).run("worktree", "--finish")
    assert (result.exit, result.out) == (0, f"{repo.path}\n")
    assert "merged plan/parser into main (2 commits)" in result.err
    return_command = f"cd {repo.path} && " if place == "inside" else ""
    next_command = f"{return_command}execplan next {PARSER}"
    assert result.err.endswith(f"execplan: {PARSER} is not complete, 1 open task: {next_command}\n")
    assert "Build the parser" in repo.git("log", "--format=%s")
    assert repo.ok("show", "parser")["counts"]["done"] == 2
    assert repo.git("status", "--porcelain") == ""
    assert repo.ok("next", "parser")["taken"] == []
    assert is_gone(repo, worktree)


def test_an_edit_of_the_other_copy_leads_into_the_worktree(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    result = repo.run("done", "2", "-p", "parser")
    assert f"{PARSER} has its own worktree, ../repo.worktrees/{PARSER}; this is the copy" in result.err
    assert result.out.endswith(f'next: cd "$(execplan worktree {PARSER})"\n')
    assert repo.run("worktree", PARSER).out == f"{worktree.path}\n"


@pytest.mark.parametrize(
    "command",
    [
        "done 3 --as al",
        "decide Wait --why Later. --as al",
        "set Purpose Text --as al",
    ],
)
def test_a_named_agent_edits_only_the_copy_in_the_worktree(repo: Folder, command: str) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    before = (repo.path / PLAN).read_bytes()
    refused(repo, "own-worktree", *command.split(), "-p", "parser")
    assert (repo.path / PLAN).read_bytes() == before
    assert repo.run(*command.split(), "-p", "parser", "--dry-run").exit == 0
    directory = os.path.relpath(worktree.path, repo.path)
    hint = repo.run(*command.split(), "-p", "parser", "--json").json["error"]["hint"]
    assert f"with -C {directory}; " in hint
    assert repo.run(*shlex.split(hint.rpartition(": execplan ")[2])).exit == 0
    repo.ok("-C", directory, *command.split(), "-p", "parser")
    assert (repo.path / PLAN).read_bytes() == before
    assert (worktree.path / PLAN).read_bytes() != before


def test_a_named_agent_is_led_into_the_worktree_by_a_directory(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    directory = os.path.relpath(worktree.path, repo.path)
    next_command = f"execplan -C {directory} next {PARSER}"
    assert repo.run("show", "parser", "--as", "al").out.endswith(f"next: {next_command} --claim --as al\n")
    assert repo.run("show", "parser", EXECPLAN_SESSION="s-1").out.endswith(f"next: {next_command}\n")
    repo.ok("done", "2", "-p", "parser")  # by a person, in the copy here
    repo.env["EXECPLAN_AGENT"] = "al"
    for command in ("status", "next"):
        assert repo.run(command, "parser").out.endswith(f"next: {next_command} --claim --as al\n"), command


def test_a_complete_plan_is_archived(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    work(worktree)
    worktree.ok("done", "3", "-p", "parser")
    worktree.ok("outcome", "Blocks are read.", "-p", "parser", "--create", "--commit")
    data = repo.ok("worktree", "--finish")
    assert (data["archived"], data["not_archived"]) == (ARCHIVED, [])
    assert (repo.path / ARCHIVED).exists()
    assert not (repo.path / PLAN).exists()
    assert repo.git("status", "--porcelain") == ""
    assert is_gone(repo, worktree)
    assert repo.run("worktree", "parser", "--finish").err.endswith(
        "it is archived; see the open plans: execplan status\n"
    )
    repo.ok("restore", "parser")
    assert repo.run("worktree", "parser", "--finish").err.endswith(f"it is complete: execplan archive {PARSER}\n")


def test_an_archived_plan_leads_to_the_end_of_its_worktree(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    worktree.ok("done", "2", "3", "-p", "parser")
    worktree.ok("outcome", "Blocks are read.", "-p", "parser", "--create")
    assert worktree.run("archive", "parser").out.endswith(f"next: execplan commit {PARSER}\n")
    assert worktree.run("commit", PARSER).out.endswith("next: execplan worktree --finish\n")
    for command in ("status", "next", "list"):
        assert worktree.run(command).out.endswith("next: execplan worktree --finish\n")
    assert "execplan worktree --finish\n" in worktree.run("prime").out
    assert repo.run("next").out == (
        f"no open plans; still with a worktree: {PARSER}\nnext: execplan worktree {PARSER} --finish\n"
    )
    command = f"execplan -C ../repo.worktrees/{PARSER} worktree --finish"
    assert repo.run("status").out.endswith(f"next: {command}\n")
    assert f"  {command}\n" in repo.run("prime").out
    result = repo.run(*command.split()[1:])
    assert (result.exit, result.out) == (0, f"{repo.path}\n")
    assert "was removed" not in result.err
    assert is_gone(repo, worktree)
    assert (repo.path / ARCHIVED).exists()


def test_a_plan_archived_in_the_main_worktree_leads_to_the_end_of_its_own(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    repo.ok("archive", "parser", "--as", "abandoned", "--reason", "Not needed.")
    command = f"execplan worktree {PARSER} --finish"
    assert repo.run("commit", "--all").out.endswith(f"next: {command}\n")
    for name in ("status", "next"):
        assert repo.run(name).out.endswith(f"next: {command}\n")
    repo.ok(*command.split()[1:])
    assert is_gone(repo, worktree)
    assert (repo.path / ARCHIVED).exists()


def test_a_complete_plan_without_an_outcome_is_not_archived(repo: Folder) -> None:
    commit_plan(repo, DONE.replace("## Outcomes & Retrospective", "## Notes"))
    worktree = open_worktree(repo)
    result = repo.run("worktree", "--finish")
    assert result.exit == 0
    assert "is complete, but not archived: Outcomes & Retrospective is empty" in result.err
    assert (repo.path / PLAN).exists()
    assert is_gone(repo, worktree)


def test_no_archive(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    worktree.ok("done", "2", "3", "-p", "parser")
    worktree.ok("outcome", "Blocks are read.", "-p", "parser", "--create", "--commit")
    assert repo.ok("worktree", "--finish", "--no-archive")["archived"] is None
    assert (repo.path / PLAN).exists()


def test_a_plan_that_was_archived_in_the_worktree(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    worktree.ok("archive", "parser", "--as", "abandoned", "--reason", "No longer wanted.", "--commit")
    assert repo.ok("worktree", "parser", "--finish")["archived"] is None
    assert (repo.path / ARCHIVED).exists()
    assert is_gone(repo, worktree)


def test_the_index_no_longer_lists_the_archived_plan(repo: Folder) -> None:
    repo.plan()
    repo.ok("index", "--write")
    commit_plan(repo)
    worktree = open_worktree(repo)
    work(worktree)
    worktree.ok("done", "3", "--commit")
    assert worktree.run("outcome", "Blocks are read.", "--create", "--commit").out.endswith(
        "next: execplan worktree --finish --commit\n"
    )
    worktree.ok("index", "--write", "--commit")
    repo.ok("worktree", "--finish")
    assert "2026-01-01_parser.md" not in (repo.path / ".agent/execplans/README.md").read_text()
    assert repo.run("lint", "--select", "EP512").exit == 0
    assert is_gone(repo, worktree)


@pytest.mark.parametrize("flag", ["--skip-worktree", "--assume-unchanged"])
def test_changes_that_git_was_told_to_ignore(repo: Folder, flag: str) -> None:
    repo.write("local.ini", "port = 1\n")
    commit_plan(repo)
    worktree = open_worktree(repo)
    work(worktree)
    worktree.git("update-index", flag, "local.ini")
    worktree.write("local.ini", "port = 2\n")
    assert "local.ini" in refused(repo, "uncommitted-changes", "worktree", "--finish").err
    worktree.write("local.ini", "port = 1\n")
    repo.ok("worktree", "--finish")
    assert is_gone(repo, worktree)


def test_changes_that_are_not_committed(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    worktree.ok("done", "2", "-p", "parser")
    worktree.write("src/parser.py", "PARSER = 1\n")
    result = refused(repo, "uncommitted-changes", "worktree", "--finish")
    assert result.exit == 1
    assert PLAN in result.err
    assert "src/parser.py" in result.err
    assert worktree.path.exists()
    (worktree.path / "src/parser.py").unlink()
    assert repo.ok("worktree", "--finish", "--commit")["commits"] == 1
    assert repo.ok("show", "parser")["counts"]["done"] == 2


def test_both_branches_have_changed_the_plan(repo: Folder) -> None:
    """The merge driver works without being installed, and the first parents are those of the target."""
    commit_plan(repo)
    worktree = open_worktree(repo)
    worktree.ok("done", "2", "-p", "parser")
    worktree.ok("add", "Handle tabs", "-p", "parser", "--commit")
    repo.ok("done", "3", "-p", "parser")
    repo.ok("add", "Handle CRLF", "-p", "parser", "--commit")
    before = repo.git("rev-parse", "HEAD").strip()
    repo.ok("worktree", "--finish")
    text = (repo.path / PLAN).read_text()
    assert [text.count(words) for words in ("Handle tabs", "Handle CRLF", "- [ ]")] == [1, 1, 2]
    assert repo.git("rev-parse", "HEAD^1").strip() == before
    assert repo.git("status", "--porcelain") == ""
    assert not (repo.path / ".gitattributes").exists()


def test_the_users_own_attributes_count(repo: Folder) -> None:
    attributes = repo.path.parent / "attributes"
    attributes.write_text("*.txt merge=union\n")
    repo.git("config", "core.attributesFile", str(attributes))
    repo.write("names.txt", "one\n")
    commit_plan(repo)
    worktree = open_worktree(repo)
    for folder, name in ((worktree, "two"), (repo, "three")):
        folder.write("names.txt", f"one\n{name}\n")
        folder.git("commit", "-qam", name)
    repo.ok("worktree", "--finish")
    assert sorted((repo.path / "names.txt").read_text().split()) == ["one", "three", "two"]


def test_a_conflict_is_left_in_the_worktree(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    for folder, name in ((worktree, "theirs"), (repo, "ours")):
        folder.write("README.md", f"# {name}\n")
        folder.git("commit", "-qam", name)
    for _ in range(2):
        result = refused(repo, "merge-conflicts", "worktree", "--finish")
        assert result.exit == 1
        assert "README.md" in result.err
        assert "merge --abort" in result.err
        assert repo.git("status", "--porcelain") == ""
    at = f"git -C {worktree.path}"
    commands = f"{at} add README.md && {at} commit --no-edit && execplan worktree {PARSER} --finish"
    readme = os.path.relpath(worktree.path / "README.md", repo.path)
    assert f"hint: edit {readme}, then: {commands}; or give up the merge: {at} merge --abort" in result.err
    worktree.write("README.md", "# both\n")
    worktree.git("add", "README.md")
    worktree.git("commit", "-q", "--no-edit")
    repo.ok("worktree", "--finish")
    assert (repo.path / "README.md").read_text() == "# both\n"
    assert is_gone(repo, worktree)


def test_a_task_that_stays_open_after_the_merge_is_reported(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    worktree.ok("done", "2", "-p", "parser", "--commit")
    repo.ok("reword", "2", "Read whole files", "-p", "parser", "--commit")
    result = repo.run("worktree", "--finish")
    assert "was checked off on one side and reworded" in result.err


def test_a_conflict_in_the_plan(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    for folder, text in ((worktree, "First the reader."), (repo, "First the scanner.")):
        folder.ok("set", "Plan of Work", text, "-p", "parser", "--commit")
    result = refused(worktree, "merge-conflicts", "worktree", "--finish")
    hint = result.err.partition("\nhint: ")[2]
    commands = (
        f"execplan merge {PARSER} && git add {PLAN} && git commit --no-edit && execplan worktree {PARSER} --finish"
    )
    assert hint.startswith(f"resolve the conflicts, then finish it: {commands}; or give up the merge: ")
    assert repo.ok("show", "parser")["state"] == "active"


def test_files_of_the_target_that_have_changes(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    work(worktree)
    repo.write("src/parser.py", "mine\n")
    result = refused(repo, "merge-blocked", "worktree", "--finish")
    assert result.exit == 1
    assert "src/parser.py" in result.err
    assert (repo.path / "src/parser.py").read_text() == "mine\n"
    repo.write("src/other.py", "also mine\n")
    (repo.path / "src/parser.py").unlink()
    repo.ok("worktree", "--finish")
    assert (repo.path / "src/other.py").read_text() == "also mine\n"
    assert is_gone(repo, worktree)


def test_a_hook_stops_the_merge(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    work(worktree)
    repo.write("more.txt", "more\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "More")
    hook = repo.write(".git/hooks/pre-merge-commit", "#!/bin/sh\ncase $PWD in */repo) echo too late; exit 1;; esac\n")
    hook.chmod(0o755)
    result = refused(repo, "merge-failed", "worktree", "--finish")
    assert result.exit == 6
    assert "too late" in result.err
    assert not (repo.path / ".git/MERGE_HEAD").exists()
    assert repo.git("status", "--porcelain") == ""
    hook.unlink()
    repo.ok("worktree", "--finish")
    assert is_gone(repo, worktree)


@pytest.mark.parametrize("place", ["plan", "target"])
@pytest.mark.parametrize("lock_stays", [False, True])
def test_the_index_is_locked_during_the_merge(repo: Folder, place: str, lock_stays: bool) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    work(worktree)
    repo.write("main.txt", "main\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Work on main")
    if place == "target":
        worktree.git("merge", "-q", "--no-edit", "main")
    locked = worktree if place == "plan" else repo
    lock = Path(locked.git("rev-parse", "--absolute-git-dir").strip()) / "index.lock"
    lock.touch()
    if lock_stays:
        assert refused(repo, "git-busy", "worktree", "--finish", "--lock-timeout", "0").exit == 5
        assert not (lock.parent / "MERGE_HEAD").exists()
        lock.unlink()
        repo.ok("worktree", "--finish")
    else:
        with ThreadPoolExecutor() as pool:
            finish = pool.submit(repo.run, "worktree", "--finish")
            time.sleep(1)
            lock.unlink()
            assert finish.result().exit == 0
    assert (repo.path / "main.txt").exists()
    assert (repo.path / "src/parser.py").exists()
    assert is_gone(repo, worktree)


def test_a_merge_that_has_changed_nothing(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    work(worktree)
    repo.write("main.txt", "main\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Work on main")
    git = Path(worktree.git("rev-parse", "--absolute-git-dir").strip())
    (git / "index.lock").touch()
    assert git_fails(worktree, "merge", "main")
    (git / "index.lock").unlink()
    assert (git / "MERGE_HEAD").exists()
    assert "merge --abort" in refused(repo, "under-way", "worktree", "--finish").err
    worktree.git("merge", "--abort")
    repo.ok("worktree", "--finish")
    assert (repo.path / "main.txt").exists()


def test_the_target_is_in_a_merge(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    work(worktree)
    repo.git("switch", "-qc", "side")
    repo.write("x.txt", "x\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "x")
    repo.git("switch", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "--no-commit", "side")
    assert refused(repo, "under-way", "worktree", "--finish").exit == 5
    assert worktree.path.exists()


@pytest.mark.parametrize("problem", ["locked", "other branch", "detached", "rebase", "branch not checked out"])
def test_a_worktree_that_can_not_be_finished(repo: Folder, problem: str) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    work(worktree)
    code = "wrong-branch"
    if problem == "locked":
        code = "worktree-locked"
        repo.git("worktree", "lock", "--reason", "on a stick", str(worktree.path))
    elif problem == "other branch":
        worktree.git("switch", "-qc", "other")
    elif problem == "detached":
        worktree.git("checkout", "-q", "--detach")
    elif problem == "rebase":
        code = "under-way"
        worktree.git("-c", "sequence.editor=sed -i 1s/pick/edit/", "rebase", "-qi", "HEAD~2")
    else:
        code = "branch-not-checked-out"
        repo.git("switch", "-qc", "other")
    result = refused(repo, code, "worktree", "parser", "--finish")
    assert ("main" if code == "branch-not-checked-out" else str(worktree.path)) in result.err
    assert worktree.path.exists()
    assert "plan/parser" in branches(repo)


def test_the_target_branch_was_deleted(repo: Folder) -> None:
    commit_plan(repo)
    repo.git("switch", "-qc", "feature")
    worktree = open_worktree(repo)
    work(worktree)
    repo.git("switch", "-q", "main")
    assert "git switch feature; or merge" in refused(repo, "branch-not-checked-out", "worktree", "--finish").err
    repo.git("branch", "-qD", "feature")
    result = refused(repo, "branch-not-checked-out", "worktree", "--finish")
    assert "the branch feature, into which the plan's branch is merged, does not exist" in result.err
    assert f"execplan worktree {PARSER} --finish --into BRANCH" in result.err
    assert "git switch" not in result.err
    repo.ok("worktree", PARSER, "--finish", "--into", "main")
    assert is_gone(repo, worktree)


def test_a_worktree_with_a_submodule(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    module = folder_at(repo, repo.path.parent / "module")
    module.path.mkdir()
    module.git("init", "-q")
    module.git("commit", "-q", "--allow-empty", "-m", "Module")
    worktree.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(module.path), "lib")
    worktree.git("commit", "-qm", "Add a module")
    hint = refused(repo, "git-failed", "worktree", "--finish").err.splitlines()[-1]
    git, finish = hint.removeprefix("hint: ").split("try again: ")[1].split("; ")
    repo.git(*git.split()[1:])
    repo.ok(*finish.split()[1:])
    assert is_gone(repo, worktree)


@pytest.mark.parametrize("tag", ["plan/parser", "main"])
def test_a_tag_with_the_name_of_a_branch(repo: Folder, tag: str) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    repo.git("tag", tag)
    work(worktree)
    assert repo.ok("worktree", "--finish")["commits"] == 2
    assert repo.ok("show", "parser")["counts"]["done"] == 2
    assert not worktree.path.exists()
    assert repo.ok("worktree")["worktrees"] == []


def test_a_plan_that_was_renamed_in_its_worktree(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    renamed = worktree.ok("rename", "parser", "Build the line parser", "--commit")["path"]
    assert worktree.ok("next")["path"] == renamed
    assert repo.ok("worktree")["worktrees"][0]["plan"] == renamed
    repo.ok("worktree", "--finish")
    assert repo.ok("next", "line-parser")["taken"] == []
    assert is_gone(repo, worktree)


def test_into_its_own_branch(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    work(worktree)
    assert repo.run("worktree", "--finish", "--into", "plan/parser").exit == 2
    assert worktree.path.exists()


def test_a_branch_that_was_deleted_is_not_called_merged(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    work(worktree)
    repo.git("worktree", "remove", str(worktree.path))
    repo.git("branch", "-qD", "plan/parser")
    result = repo.run("worktree", "--finish")
    assert result.exit == 0
    assert "nothing to merge" in result.err
    assert "merged plan/parser" not in result.err
    assert repo.ok("worktree")["worktrees"] == []


def test_into_another_branch(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    work(worktree)
    repo.git("switch", "-qc", "release")
    assert repo.ok("worktree", "--finish", "--into", "release")["into"] == "release"
    assert (repo.path / "src/parser.py").exists()
    assert branches(repo) == ["main", "release"]


def test_a_worktree_from_a_worktree(repo: Folder) -> None:
    commit_plan(repo)
    commit_plan(repo, name="2026-01-02_scanner")
    first = open_worktree(repo, "parser")
    second = open_worktree(first, "scanner")
    work(first)
    second.ok("done", "3", "-p", "scanner", "--commit")
    assert second.ok("worktree", "--finish")["into"] == "plan/parser"
    repo.ok("worktree", "--finish")
    assert repo.ok("show", "scanner")["counts"]["done"] == 2
    assert is_gone(repo, first)


def test_a_removed_directory(repo: Folder) -> None:
    import shutil

    commit_plan(repo)
    worktree = open_worktree(repo)
    work(worktree)
    shutil.rmtree(worktree.path)
    assert refused(repo, "worktree-missing", "worktree", "--finish").exit == 3
    repo.git("merge", "-q", "plan/parser")
    assert repo.ok("worktree", "--finish")["commits"] == 0
    assert branches(repo) == ["main"]
    assert repo.ok("worktree")["worktrees"] == []


def test_an_unfinished_run(repo: Folder) -> None:
    step = "## Concrete Steps\n\n```python {#make confirm type=create_file target=src/made.py}\nX = 1\n```\n"
    commit_plan(repo, with_sections(step))
    worktree = open_worktree(repo)
    assert worktree.run("approve", "parser").exit == 0
    assert worktree.run("run", "parser").exit == 8
    assert refused(repo, "open-run", "worktree", "--finish").exit == 1
    assert worktree.path.exists()


def test_a_run_can_be_rolled_back_after_the_merge(repo: Folder) -> None:
    step = "## Concrete Steps\n\n```python {#make type=modify_file target=src/made.py lines=1-1}\nX = 2\n```\n"
    repo.write("src/made.py", "X = 1\n")
    commit_plan(repo, with_sections(step))
    worktree = open_worktree(repo)
    worktree.ok("approve", "--digest", worktree.ok("evaluate")["digest"])
    worktree.ok("run")
    worktree.git("add", "-A")
    worktree.git("commit", "-qm", "Run the plan")
    repo.ok("worktree", "--finish")
    assert (repo.path / "src/made.py").read_text() == "X = 2\n"
    assert repo.run("rollback", "parser").exit == 0
    assert (repo.path / "src/made.py").read_text() == "X = 1\n"


def test_which_worktree_is_meant(repo: Folder) -> None:
    commit_plan(repo)
    commit_plan(repo, name="2026-01-02_scanner")
    assert refused(repo, "no-worktree", "worktree", "--finish").exit == 3
    assert refused(repo, "no-worktree", "worktree", "parser", "--finish").exit == 3
    assert refused(repo, "no-such-plan", "worktree", "writer", "--finish").exit == 3
    open_worktree(repo, "parser")
    open_worktree(repo, "scanner")
    result = refused(repo, "ambiguous-worktree", "worktree", "--finish")
    assert PARSER in result.err
    assert repo.ok("worktree", "scanner", "--finish")["id"] == "2026-01-02_scanner"


@pytest.mark.exhaustive
def test_twenty_agents(repo: Folder) -> None:
    """Each takes a plan, works on it and on a list that all of them edit; nothing is lost."""
    names = [f"2026-01-01_part-{number:02}" for number in range(20)]
    for name in names:
        repo.plan(CLEAN, name)
    repo.plan(CLEAN, "2026-01-01_shared")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Plans")

    def act(name: str) -> list[int]:
        options = ("--as", name, "--lock-timeout", "300")
        opened = repo.run("worktree", name, "-q", *options)
        assert opened.exit == 0, opened
        worktree = folder_at(repo, opened.out.strip())
        worktree.write(f"src/{name}.py", "X = 1\n")
        worktree.git("add", "-A")
        worktree.git("commit", "-qm", name)
        edits = [
            worktree.run("add", f"Task of {name}", "-p", "2026-01-01_shared", "--commit"),
            worktree.run("done", "2", "3", "-p", name, "--as", name),
            worktree.run("outcome", "It works.", "-p", name, "--create", "--commit"),
        ]
        finished = worktree.run("worktree", "--finish", "-q", *options)
        return [opened.exit, *[edit.exit for edit in edits], finished.exit]

    with ThreadPoolExecutor(20) as pool:
        assert [set(exits) for exits in pool.map(act, names)] == [{0}] * 20
    shared = (repo.path / ".agent/execplans/2026-01-01_shared.md").read_text()
    for name in names:
        assert shared.count(f"Task of {name}") == 1
        assert (repo.path / f"src/{name}.py").exists()
        assert (repo.path / f".agent/execplans/archive/{name}.md").exists()
        assert not (repo.path / f".agent/execplans/{name}.md").exists()
    assert repo.git("status", "--porcelain") == ""
    assert branches(repo) == ["main"]
    assert len(repo.git("worktree", "list").splitlines()) == 1


def test_interrupted_during_a_merge(repo: Folder) -> None:
    """Git ends the merge that it has begun, and the next call goes on from there."""
    commit_plan(repo)
    worktree = open_worktree(repo)
    work(worktree)
    repo.ok("add", "Handle CRLF", "--commit")
    started = repo.path.parent / "started"
    hook = repo.write(".git/hooks/pre-merge-commit", f"#!/bin/sh\ntouch {started}\nsleep 1\n")
    hook.chmod(0o755)
    process = repo.start("worktree", "--finish")
    while not started.exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    hook.unlink()
    assert worktree.git("log", "-1", "--format=%s") == "Merge main into plan/parser\n"
    assert worktree.git("status", "--porcelain") == ""
    repo.ok("worktree", "--finish")
    assert is_gone(repo, worktree)


GIT_WRAPPER = """\
#!/bin/sh
count=$(($(cat "$COUNT_FILE") + 1))
echo $count > "$COUNT_FILE"
[ $count = "$KILL_BEFORE" ] && kill -9 $PPID && exit 1
PATH=$REAL_PATH git "$@"
status=$?
[ $count = "$KILL_AFTER" ] && kill -9 $PPID
exit $status
"""
"""A git that counts its calls, and kills execplan before or after one of them."""


class KilledCommand:
    """A command that is killed at one of its calls of git."""

    def __init__(self, repo: Folder) -> None:
        self.repo = repo
        self.counter = repo.path.parent / "count"
        wrapper = repo.path.parent / "bin" / "git"
        wrapper.parent.mkdir(exist_ok=True)
        wrapper.write_text(GIT_WRAPPER)
        wrapper.chmod(0o755)

    def run(self, *arguments: str, before: int = 0, after: int = 0) -> int:
        """Run a command, and return its exit status; that of a killed one is negative."""
        self.counter.write_text("0\n")
        path = self.repo.env["PATH"]
        result = self.repo.run(
            *arguments,
            PATH=f"{self.repo.path.parent / 'bin'}:{path}",
            REAL_PATH=path,
            COUNT_FILE=str(self.counter),
            KILL_BEFORE=str(before),
            KILL_AFTER=str(after),
        )
        return result.exit

    @property
    def count(self) -> int:
        """Number of calls of git by the last command."""
        return int(self.counter.read_text())


def _diverge(repo: Folder) -> Folder:
    """Create a worktree with a complete plan, while the target branch has moved on."""
    commit_plan(repo)
    worktree = open_worktree(repo)
    work(worktree)
    worktree.ok("done", "3", "-p", "parser")
    worktree.ok("outcome", "Blocks are read.", "-p", "parser", "--create", "--commit")
    repo.ok("add", "Handle CRLF", "-p", "parser", "--commit")
    repo.ok("done", "4", "-p", "parser", "--commit")
    return worktree


def _is_finished(repo: Folder, worktree: Folder) -> bool:
    text = (repo.path / ARCHIVED).read_text()
    return (
        text.count("Handle CRLF") == 1
        and "- [ ]" not in text
        and (repo.path / "src/parser.py").exists()
        and repo.git("status", "--porcelain") == ""
        and is_gone(repo, worktree)
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize(("moment", "first"), [("before", 1), ("after", 2)])
def test_finish_is_killed_at_a_call_of_git(tmp_path: Path, moment: str, first: int) -> None:
    import shutil

    origin = Folder(tmp_path / "origin" / "repo")
    origin.path.mkdir(parents=True)
    origin.git("init", "-q", "-b", "main")
    origin.plan()
    worktree = _diverge(origin)
    saved = tmp_path / "saved"
    shutil.copytree(origin.path.parent, saved, symlinks=True)
    command = KilledCommand(origin)
    assert command.run("worktree", "--finish") == 0
    assert _is_finished(origin, worktree)
    count = command.count
    assert count > 10
    for number in range(first, count + 1, 2):  # a kill after a call is nearly the same as one before the next
        shutil.rmtree(origin.path.parent)
        shutil.copytree(saved, origin.path.parent, symlinks=True)
        command = KilledCommand(origin)
        status = command.run(
            "worktree", "--finish", before=number * (moment == "before"), after=number * (moment == "after")
        )
        assert status == -signal.SIGKILL, number
        if origin.ok("worktree")["worktrees"]:
            result = origin.run("worktree", "--finish")
            assert result.exit == 0, (number, result)
        assert _is_finished(origin, worktree), number


@pytest.mark.parametrize("moment", ["before", "after"])
def test_creation_is_killed_at_a_call_of_git(repo: Folder, moment: str) -> None:
    commit_plan(repo)
    command = KilledCommand(repo)
    number = 0
    while True:
        number += 1
        killed = command.run(
            "worktree", "parser", before=number * (moment == "before"), after=number * (moment == "after")
        )
        if killed == 0:
            break
        assert killed == -signal.SIGKILL
        worktree = open_worktree(repo)
        assert (worktree.path / PLAN).read_text() == CLEAN
        assert worktree.ok("worktree", "--finish")["commits"] == 0
        assert is_gone(repo, worktree)
    assert number > 5


def test_other_changes_are_committed_before_the_worktree_is_finished(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    worktree.write("src/parser.py", "PARSER = 1\n")
    worktree.ok("done", "2", "3", "-p", "parser")
    result = worktree.run("outcome", "Blocks are read.", "-p", "parser", "--create")
    finish = "execplan worktree --finish --commit"
    assert result.out.endswith(f"next: commit your other changes (src/parser.py), then: {finish}\n")
    worktree.git("add", "src")
    worktree.git("commit", "-qm", "Build the parser")
    assert worktree.run("next").out.endswith(f"next: {finish}\n")
    assert worktree.run(*finish.split()[1:]).exit == 0


def test_in_the_worktree_of_an_archived_plan_no_other_plan_is_suggested(repo: Folder) -> None:
    commit_plan(repo, name="2026-02-02_scanner")
    commit_plan(repo)
    worktree = open_worktree(repo)
    worktree.ok("done", "2", "3", "-p", "parser")
    worktree.ok("outcome", "Blocks are read.", "-p", "parser", "--create")
    worktree.ok("archive", "parser")
    for command in ("next", "status", "show"):
        assert worktree.run(command).out.endswith(f"next: execplan commit {PARSER}\n")
    worktree.ok("commit", "parser")
    for command in ("next", "status", "show"):
        assert worktree.run(command).out.endswith("next: execplan worktree --finish\n")
    assert "execplan worktree --finish\n" in worktree.run("prime").out


def test_after_an_edit_of_the_other_copy_all_commands_lead_to_the_worktree(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    repo.ok("add", "Another task", "-p", "parser")
    for command in ("status", "next"):
        assert repo.run(command).out.endswith(f'next: cd "$(execplan worktree {PARSER})"\n')
        assert "here, lacks changes of main; commit the plan there, then: git merge main\n" in worktree.run(command).out
    repo.ok("commit", "parser")
    worktree.git("merge", "-q", "main")
    assert "lacks" not in worktree.run("status").out
