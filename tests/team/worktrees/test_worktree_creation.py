"""`worktree PLAN`: a worktree and a branch for a plan, or what stands in the way of one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from execplan.team.worktrees import worktree_branch, worktree_creation
from tests.conftest import Folder
from tests.in_process_repository import InProcessRepository
from tests.plans import CLEAN
from tests.team.worktrees.scratch import PARSER, PLAN, branches, commit_plan, folder_at, open_worktree, refused


def test_the_directory_is_all_that_is_printed(repo: Folder) -> None:
    commit_plan(repo)
    result = repo.run("worktree", "parser")
    directory = repo.path.parent / "repo.worktrees" / PARSER
    assert result.out == f"{directory}\n"
    assert "branch plan/parser, from main; Ann has claimed task" in result.err
    assert (directory / PLAN).read_text() == CLEAN
    assert folder_at(repo, directory).git("branch", "--show-current") == "plan/parser\n"
    assert repo.git("status", "--porcelain") == ""


def test_the_plan_is_claimed(repo: Folder) -> None:
    commit_plan(repo)
    data = repo.ok("worktree", "parser", "--as", "agent-1")
    taken = repo.ok("next", "parser")["taken"]
    assert [(claim["id"], claim["by"]) for claim in taken] == [(data["task"], "agent-1")]


def test_blocked_tasks_are_not_claimed(repo: Folder) -> None:
    repo.plan(CLEAN, "2026-01-02_scanner")
    repo.plan(CLEAN.replace("Build the parser.", "Build it (needs scanner#2).", 1), PARSER)
    repo.plan("---\ndepends_on: scanner\n---\n\n" + CLEAN, "2026-01-03_site")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Plans")
    expected = next(task for task in repo.ok("show", "2026-01-01_parser")["tasks"] if task["number"] == 3)
    assert repo.ok("worktree", PARSER)["task"] == expected["id"]
    result = repo.run("worktree", "site")
    assert result.exit == 0
    assert (
        "warning: no task of 2026-01-03_site was claimed: blocked by scanner (active, 1 of 3 tasks done)" in result.err
    )
    assert repo.ok("next", "site")["taken"] == []


def test_again_it_is_the_same_directory(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    again = repo.ok("worktree", "parser")
    assert (again["path"], again["created"]) == (str(worktree.path), False)
    assert worktree.ok("worktree", "parser")["path"] == str(worktree.path)
    assert len(repo.git("worktree", "list").splitlines()) == 2


def test_someone_else_is_warned(repo: Folder) -> None:
    commit_plan(repo)
    open_worktree(repo, "parser", "--as", "agent-1")
    result = repo.run("worktree", "parser", "--as", "agent-2")
    assert result.exit == 0
    assert f"agent-1 created this worktree of {PARSER}" in result.err


def test_a_moved_worktree_is_found(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    elsewhere = repo.path.parent / "else where"
    repo.git("worktree", "move", str(worktree.path), str(elsewhere))
    assert repo.ok("worktree", "parser")["path"] == str(elsewhere)


def test_a_plan_that_is_not_committed(repo: Folder) -> None:
    repo.plan()
    result = refused(repo, "uncommitted-plan", "worktree", "parser")
    assert result.exit == 1
    assert PLAN in result.err
    assert "--commit" in result.err
    assert branches(repo) == ["main"]
    worktree = open_worktree(repo, "parser", "--commit")
    assert (worktree.path / PLAN).read_text() == CLEAN


def test_settings_that_are_not_committed(repo: Folder) -> None:
    """A worktree without them would not find the plan, or use other settings without a word."""
    repo.write("plans/parser.md", CLEAN)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "A plan")
    assert repo.run("init").exit == 0
    result = refused(repo, "uncommitted-plan", "worktree", "parser")
    assert ".agent/execplan.toml are not committed" in result.err
    assert result.err.endswith("hint: commit them, too: execplan worktree parser --commit\n")
    assert branches(repo) == ["main"]
    worktree = open_worktree(repo, "parser", "--commit")
    assert repo.git("status", "--porcelain") == ""
    assert worktree.ok("done", "2", "3", "--commit")["path"] == "plans/parser.md"
    repo.ok("worktree", "--finish")
    assert repo.ok("show", "parser")["counts"]["done"] == 3


CONFLICT = """\
<<<<<<< a
- [ ] Build it by hand.
||||||| base
- [ ] Build the parser.
=======
- [ ] Build it with a library.
>>>>>>> b"""


def test_conflict_markers_are_resolved_first(repo: Folder) -> None:
    commit_plan(repo)
    text = (repo.path / PLAN).read_text("utf-8")
    (repo.path / PLAN).write_text(text.replace("- [ ] Build the parser.", CONFLICT))
    assert "execplan merge 2026-01-01_parser" in repo.run("worktree", "parser").err
    merged = repo.run("-C", ".agent", "merge", "parser")
    assert "the conflict markers of .agent/execplans/2026-01-01_parser.md, then: execplan -C .agent merge" in merged.out


@pytest.mark.parametrize("commits", [(), ("--commit",)])
def test_settings_do_not_matter_for_an_existing_worktree(repo: Folder, commits: tuple[str, ...]) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo)
    repo.write(".agent/execplan.toml", "author = 'Ann'\n")
    assert open_worktree(repo, "parser", *commits).path == worktree.path
    assert repo.git("status", "--porcelain") == "?? .agent/execplan.toml\n"


def test_a_plan_that_git_ignores(repo: Folder) -> None:
    repo.write(".gitignore", ".agent/\n")
    repo.plan()
    assert refused(repo, "uncommitted-plan", "worktree", "parser").exit == 1


def test_an_archived_plan(repo: Folder) -> None:
    repo.write(f".agent/execplans/archive/{PARSER}.md", CLEAN)
    assert refused(repo, "archived-plan", "worktree", "parser").exit == 1


def test_a_detached_head(repo: Folder) -> None:
    commit_plan(repo)
    repo.git("checkout", "-q", "--detach")
    result = refused(repo, "detached-head", "worktree", "parser")
    assert result.exit == 6
    assert "git switch" in result.err


def test_a_branch_that_exists_is_used_only_if_it_is_named(repo: Folder) -> None:
    commit_plan(repo)
    repo.git("branch", "plan/parser")
    repo.git("switch", "-qc", "other")
    repo.write("more.txt", "more\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "More")
    result = refused(repo, "branch-exists", "worktree", "parser")
    assert result.exit == 3
    worktree = open_worktree(repo, "parser", "--branch", "plan/parser")
    assert not (worktree.path / "more.txt").exists()


def test_the_branch_that_is_checked_out(repo: Folder) -> None:
    commit_plan(repo)
    assert refused(repo, "branch-exists", "worktree", "parser", "--branch", "main").exit == 3


def test_a_directory_that_exists(repo: Folder) -> None:
    commit_plan(repo)
    directory = repo.path.parent / "repo.worktrees" / PARSER
    directory.mkdir(parents=True)
    (directory / "notes.txt").write_text("mine\n")
    result = refused(repo, "directory-exists", "worktree", "parser")
    assert result.exit == 3
    assert "--directory" in result.err
    assert branches(repo) == ["main"]
    (directory / "notes.txt").unlink()
    assert open_worktree(repo).path == directory  # an empty directory is used


def test_a_directory_with_a_line_break(repo: Folder) -> None:
    commit_plan(repo)
    assert "line break" in refused(repo, "usage", "worktree", "parser", "--directory", "../a\nb").err
    assert branches(repo) == ["main"]
    assert not (repo.path.parent / "a\nb").exists()
    assert repo.ok("next", "parser")["taken"] == []


def test_nothing_is_left_of_a_worktree_that_git_can_not_create(repo: Folder) -> None:
    commit_plan(repo)
    blocker = repo.path.parent / "file"
    blocker.write_text("in the way\n")
    assert repo.run("worktree", "parser", "--directory", str(blocker / "x")).exit == 6
    assert branches(repo) == ["main"]
    assert repo.ok("worktree")["worktrees"] == []
    other = repo.path.parent / "other"
    assert repo.ok("worktree", "parser", "--directory", str(other))["path"] == str(other)


def test_a_branch_that_someone_makes_at_the_same_time_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = InProcessRepository(tmp_path / "desk", monkeypatch)
    desk.plan(CLEAN)
    desk.git("add", "-A")
    desk.git("commit", "-q", "-m", "Plan")
    desk.git("checkout", "-q", "-b", "plan/parser")
    desk.git("commit", "-q", "--allow-empty", "-m", "Work of someone else")
    work = desk.git("rev-parse", "HEAD")
    desk.git("checkout", "-q", "main")
    for module in (worktree_branch, worktree_creation):
        monkeypatch.setattr(module, "has_branch", lambda *_: False)  # as it was a moment ago
    assert desk.type("worktree", "parser").exit != 0
    assert desk.git("rev-parse", "plan/parser") == work


def test_a_branch_that_another_plan_gets_at_the_same_time_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = InProcessRepository(tmp_path / "desk", monkeypatch)
    for name in ("2026-01-01_parser", "2026-02-02_parser"):
        desk.plan(CLEAN, name)
    desk.git("add", "-A")
    desk.git("commit", "-q", "-m", "Plans")
    assert desk.type("worktree", "2026-01-01_parser").exit == 0
    monkeypatch.setattr(worktree_creation, "has_branch", lambda *_: False)  # as it was a moment ago
    monkeypatch.setattr(worktree_creation, "choose_branch", lambda *_: ("plan/parser", None))
    result = desk.type("worktree", "2026-02-02_parser")
    assert result.exit == 3
    assert "belongs to the worktree of 2026-01-01_parser" in result.err
    assert desk.git("rev-parse", "plan/parser") == desk.git("rev-parse", "HEAD")
    assert desk.type("worktree").out.count("2026-") == 2  # the first plan and its directory


def test_a_directory_that_can_not_be_created_for_an_existing_branch(repo: Folder) -> None:
    commit_plan(repo)
    repo.git("branch", "older")
    blocker = repo.path.parent / "file"
    blocker.write_text("in the way\n")
    assert repo.run("worktree", "parser", "--branch", "older", "--directory", str(blocker / "x")).exit == 6
    assert "older" in branches(repo)
    open_worktree(repo, "parser", "--branch", "older", "--directory", "../other")


def test_another_directory(repo: Folder) -> None:
    commit_plan(repo)
    worktree = open_worktree(repo, "parser", "--directory", "../with space")
    assert worktree.path == repo.path.parent / "with space"
    assert (worktree.path / PLAN).exists()


def test_settings(repo: Folder) -> None:
    repo.write(
        ".agent/execplan.toml", 'worktrees = "../{repository}-work/plans"\nworktree_branch = "work/{id}/{slug}"\n'
    )
    commit_plan(repo)
    worktree = open_worktree(repo)
    assert worktree.path == repo.path.parent / "repo-work" / "plans" / PARSER
    assert f"work/{PARSER}/parser" in branches(repo)


def test_names_that_branches_can_not_have(repo: Folder) -> None:
    repo.write(".agent/execplan.toml", 'name = "{slug}"\n')
    commit_plan(repo, name="a plan: ..~^ of @{mine}.lock")
    worktree = open_worktree(repo, "a plan: ..~^ of @{mine}.lock.md")
    assert worktree.path.name == "a plan: ..~^ of @{mine}.lock"
    assert "plan/a-plan-.-of-mine" in branches(repo)


@pytest.mark.parametrize("place", ["inside", "submodule", "bare", "nested"])
def test_unusual_repositories(repo: Folder, place: str) -> None:
    if place == "inside":
        repo.write(".agent/execplan.toml", 'worktrees = ".worktrees"\n')
        repo.write(".gitignore", "/.worktrees/\n")
        commit_plan(repo)
        assert open_worktree(repo).path == repo.path / ".worktrees" / PARSER
        assert repo.git("status", "--porcelain") == ""
        return
    if place == "nested":
        repo.write("packages/a/.agent/execplan.toml", "")
        repo.write(f"packages/a/{PLAN}", CLEAN)
        repo.git("add", "-A")
        repo.git("commit", "-qm", "A plan")
        worktree = open_worktree(folder_at(repo, repo.path / "packages" / "a"))
        assert (worktree.path / PLAN).exists()
        return
    commit_plan(repo)
    if place == "bare":
        repo.git("clone", "-q", "--bare", ".", "../bare.git")
        folder_at(repo, repo.path.parent / "bare.git").git("worktree", "add", "-q", "../checkout", "main")
        worktree = open_worktree(folder_at(repo, repo.path.parent / "checkout"))
        assert worktree.path == repo.path.parent / "bare.worktrees" / PARSER
        assert worktree.run("worktree", "--finish", "-q").out == f"{repo.path.parent / 'checkout'}\n"
        return
    outer = folder_at(repo, repo.path.parent / "outer")
    outer.path.mkdir()
    outer.git("init", "-q", "-b", "main")
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repo.path), "sub")
    worktree = open_worktree(folder_at(repo, outer.path / "sub"))
    assert worktree.path == outer.path / "sub.worktrees" / PARSER
    assert worktree.run("worktree", "--finish", "-q").out == f"{outer.path / 'sub'}\n"


def test_a_sparse_checkout(repo: Folder) -> None:
    repo.write("src/a.py", "A = 1\n")
    commit_plan(repo)
    repo.git("sparse-checkout", "set", ".agent")
    worktree = open_worktree(repo)
    assert (worktree.path / PLAN).exists()
    assert not (worktree.path / "src").exists()


def test_a_hook_that_fails_after_the_checkout(repo: Folder) -> None:
    commit_plan(repo)
    repo.write("hooks/post-checkout", "#!/bin/sh\necho failed >&2; exit 1\n").chmod(0o755)
    repo.git("config", "core.hooksPath", str(repo.path / "hooks"))
    assert (open_worktree(repo).path / PLAN).exists()


def test_called_by_a_git_hook(repo: Folder) -> None:
    """Git's variables for its hooks don't lead the commands into the wrong worktree."""
    commit_plan(repo)
    git_dir, index = str(repo.path / ".git"), str(repo.path / ".git" / "index")
    result = repo.run("worktree", "parser", "-q", GIT_DIR=git_dir, GIT_INDEX_FILE=index)
    assert result.exit == 0
    worktree = folder_at(repo, result.out.strip())
    worktree.ok("done", "2", "--commit")
    assert worktree.run("worktree", "--finish", "-q", GIT_DIR=git_dir, GIT_INDEX_FILE=index).exit == 0
    assert "- [x] (2026-01-01 00:00Z) Build the parser." in (repo.path / PLAN).read_text()


def test_a_removed_worktree_is_created_again(repo: Folder) -> None:
    import shutil

    commit_plan(repo)
    worktree = open_worktree(repo)
    worktree.ok("done", "2", "--commit")
    shutil.rmtree(worktree.path)
    assert ", missing)" in repo.run("worktree").out
    assert open_worktree(repo).path == worktree.path
    assert worktree.ok("show", "parser")["counts"]["done"] == 2
    assert len(repo.git("worktree", "list").splitlines()) == 2
    finished = repo.run("worktree", "parser", "--finish")
    assert "and its branch" in finished.err
    assert "git keeps the branch" not in finished.err
    assert branches(repo) == ["main"]


def test_the_same_plan_many_times_at_once(repo: Folder) -> None:
    commit_plan(repo)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: repo.run("worktree", "parser", "--lock-timeout", "60"), range(8)))
    assert {(result.exit, result.out) for result in results} == {
        (0, f"{repo.path.parent / 'repo.worktrees' / PARSER}\n")
    }
    assert len(repo.git("worktree", "list").splitlines()) == 2


def test_the_list(repo: Folder) -> None:
    commit_plan(repo)
    assert repo.run("worktree").out == "no plan has a worktree\n"
    worktree = open_worktree(repo, "parser", "--as", "agent-1")
    (row,) = repo.ok("worktree")["worktrees"]
    assert row == {
        "id": PARSER,
        "plan": PLAN,
        "branch": "plan/parser",
        "into": "main",
        "path": str(worktree.path),
        "by": "agent-1",
        "notes": [],
    }
    repo.git("worktree", "lock", str(worktree.path))
    assert repo.ok("worktree")["worktrees"][0]["notes"] == ["locked"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--finish", "--branch", "x"],
        ["--finish", "--directory", "x"],
        ["parser", "--into", "main"],
        ["parser", "--no-archive"],
        ["--commit"],
        ["--branch", "x"],
    ],
)
def test_options_that_can_not_be_combined(repo: Folder, arguments: list[str]) -> None:
    commit_plan(repo)
    assert refused(repo, "usage", "worktree", *arguments).exit == 2


def test_without_git(plain: Folder) -> None:
    plain.plan()
    assert refused(plain, "no-repository", "worktree").exit == 6
    assert list(Path(plain.path).iterdir()) == [plain.path / ".agent"]
