"""Bad inputs 47 to 51: what a repository can be like when something is to be committed."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.bad_inputs.test_git import commit_plan, install_hook, staged
from tests.conftest import Folder
from tests.plans import CLEAN

pytestmark = pytest.mark.exhaustive

TICKED = CLEAN.replace("- [ ] Build", "- [x] (2026-01-01 00:00Z) Build")
NAME = ".agent/execplans/2026-01-01_parser.md"


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("script", [f"echo hooked >>{NAME}", f"echo hooked >>{NAME}; git add {NAME}"])
def test_47_a_hook_rewrites_the_plan(repo: Folder, script: str) -> None:
    """What the hook made of it is what is told, and that a hook did."""
    path = commit_plan(repo)
    install_hook(repo, "pre-commit", script)
    for call in (("done", "2"), ("add", "Ship it.")):
        result = repo.run(*call, "--commit", "--json")
        assert result.exit == 0
        assert path.read_text().endswith("hooked\n")
        assert result.json["data"]["digest"] == digest(path)
        assert any(
            "a git hook or another program has changed" in warning and NAME in warning
            for warning in result.json["warnings"]
        )
    path.write_text(CLEAN)
    data = repo.ok("commit")
    assert data["digest"] == digest(path)


def test_47_a_hook_rewrites_an_archived_plan(repo: Folder) -> None:
    commit_plan(repo)
    install_hook(repo, "pre-commit", f"echo hooked >>{NAME.replace('execplans/', 'execplans/archive/')}")
    result = repo.run("archive", "--force", "--reason", "Enough.", "--commit", "--json")
    data = result.json["data"]
    assert data["digest"] == digest(repo.path / data["path"])
    assert any("a git hook or another program has changed" in warning for warning in result.json["warnings"])


def test_48_detached_head(repo: Folder) -> None:
    """The commit is made, and that it is on no branch is told."""
    commit_plan(repo)
    repo.git("checkout", "-q", "--detach")
    result = repo.run("done", "2", "--commit")
    assert result.exit == 0
    assert "HEAD is detached" in result.err
    assert repo.git("log", "-1", "--format=%s").startswith("plan(2026-01-01_parser): done 2")


def conflict(repo: Folder) -> Path:
    """Two branches that changed the same line of another file."""
    path = commit_plan(repo)
    for branch in ("one", "two"):
        repo.git("checkout", "-q", "-b", branch, "main")
        repo.write("README.md", f"# {branch}\n")
        repo.git("commit", "-q", "-a", "-m", branch)
    return path


@pytest.mark.parametrize("command", ["merge one", "rebase one", "cherry-pick one", "revert main~1"])
def test_49_something_is_under_way(repo: Folder, command: str) -> None:
    """Edits are made, and not committed; the user's merge is as it was."""
    path = conflict(repo)
    if command.startswith("revert"):
        command = "revert one"
        repo.git("checkout", "-q", "one")
        repo.write("README.md", "# three\n")
        repo.git("commit", "-q", "-a", "-m", "three")
        command = "revert HEAD~1"
    run = repo.run("lint", path.as_posix())
    assert run.exit == 0
    import subprocess

    completed = subprocess.run(["git", *command.split()], cwd=repo.path, env=repo.env, capture_output=True, check=False)
    assert completed.returncode, command
    before = staged(repo)
    result = repo.run("done", "2", "--commit", "--json")
    assert result.exit == 5
    assert result.json["error"]["code"] == "under-way"
    assert path.read_text() == TICKED
    assert repo.run("commit").exit == 5
    assert staged(repo) == before
    assert repo.ok("done", "3")["changed"] is True


def test_50_a_subfolder_is_a_place_to_work(repo: Folder) -> None:
    path = commit_plan(repo)
    (repo.path / "src/deep").mkdir(parents=True)
    result = repo.run("done", "2", "--commit", cwd=repo.path / "src/deep")
    assert result.exit == 0
    assert path.read_text() == TICKED
    assert repo.run("show", "--json", cwd=repo.path / "src/deep").json["data"]["path"] == NAME


def test_50_a_worktree_has_its_own_plans(repo: Folder) -> None:
    path = commit_plan(repo)
    worktree = Folder(repo.path.parent / "other")
    repo.git("worktree", "add", "-q", str(worktree.path))
    assert worktree.ok("done", "2", "--commit")["path"] == NAME
    assert path.read_text() == CLEAN
    assert (worktree.path / NAME).read_text() == TICKED
    assert worktree.git("log", "--format=%s", "-1").startswith("plan(")
    assert repo.git("log", "--format=%s", "-1") == "Plan\n"
    assert worktree.ok("undo")["changed"] is True
    assert (repo.path / ".git/worktrees/other/execplan/journal").is_dir()


def test_50_a_submodule_is_a_repository_of_its_own(repo: Folder, tmp_path: Path) -> None:
    commit_plan(repo)
    outer = Folder(tmp_path / "outer")
    outer.path.mkdir()
    outer.git("init", "-q")
    outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repo.path), "inner")
    outer.git("commit", "-q", "-m", "Outer")
    inner = Folder(outer.path / "inner")
    assert inner.ok("done", "2", "--commit")["path"] == NAME
    assert inner.git("log", "-1", "--format=%s").startswith("plan(")
    assert outer.git("log", "-1", "--format=%s") == "Outer\n"
    assert outer.run("list").exit == 6


def test_51_nobody_says_who_commits(repo: Folder) -> None:
    path = commit_plan(repo)
    for name in list(repo.env):
        if name.startswith(("GIT_AUTHOR", "GIT_COMMITTER")):
            del repo.env[name]
    repo.git("config", "user.useConfigOnly", "true")
    result = repo.run("done", "2", "--commit")
    assert result.exit == 6
    assert "git config user.name" in result.err.partition("hint: ")[2]
    assert "git commit failed" in result.err
    assert path.read_text() == TICKED


def test_51_a_key_that_can_not_sign(repo: Folder) -> None:
    path = commit_plan(repo)
    repo.git("config", "commit.gpgSign", "true")
    repo.git("config", "gpg.program", "false")
    result = repo.run("done", "2", "--commit")
    assert result.exit == 6
    assert "gpg failed to sign the data" in result.err
    assert "signing key" in result.err.partition("hint: ")[2]
    assert path.read_text() == TICKED
    assert repo.git("diff", "--cached", "--name-only") == ""


def test_51_a_repository_of_somebody_else(repo: Folder) -> None:
    path = commit_plan(repo)
    result = repo.run("done", "2", "--commit", GIT_TEST_ASSUME_DIFFERENT_OWNER="1")
    assert result.exit == 6
    assert "dubious ownership" in result.err
    assert "safe.directory" in result.err.partition("hint: ")[2]
    assert path.read_text() == TICKED


def test_51_before_the_first_commit(plain: Folder) -> None:
    plain.git("init", "-q")
    plain.plan()
    plain.write("mine.txt", "x\n")
    plain.git("add", "mine.txt")
    plain.ok("done", "2", "--commit")
    assert plain.git("show", "--format=", "--name-only").split() == [NAME]
    assert plain.git("diff", "--cached", "--name-only") == "mine.txt\n"
