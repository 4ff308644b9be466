"""A commit that changes what a plan is about is asked for the plan: the rule, the git hook, the real pre-commit program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.agents.integrations.test_githooks import commit
from tests.agents.integrations.test_precommit_program import program_environment
from tests.conftest import Folder
from tests.plans import CLEAN

PLAN = ".agent/execplans/2026-01-01_parser.md"
SETTINGS = ".agent/execplan.toml"


@pytest.fixture
def followed(repo: Folder) -> Folder:
    """A repository whose settings ask for plans, with a plan about `src/reader.py` that is worked on."""
    repo.plan()
    repo.write(SETTINGS, "follow = true\nfollow_files = 3\n")
    repo.write("src/reader.py", "one\n")
    repo.write("src/other.py", "one\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    return repo


def stage(folder: Folder, *names: str) -> None:
    """Change files and stage them."""
    for name in names:
        folder.write(name, "another\n")
    folder.git("add", "-A")


def requested_plans(folder: Folder) -> list[tuple[str, str]]:
    """Where a plan is asked for, and why."""
    result = folder.run("lint", "--staged", "--json")
    findings = [finding for finding in result.json["data"]["findings"] if finding["code"] == "EP508"]
    assert result.exit == (1 if findings else 0)
    return [(finding["path"], finding["message"]) for finding in findings]


def test_what_is_asked(followed: Folder) -> None:
    assert requested_plans(followed) == []
    stage(followed, "src/other.py")
    assert requested_plans(followed) == []
    stage(followed, "src/reader.py")
    expected_message = "src/reader.py is in its scope, but the commit changes no plan: record the work with "
    assert requested_plans(followed) == [(PLAN, expected_message + "execplan done, note or revise, and stage the plan")]
    followed.ok("done", "2")
    assert len(requested_plans(followed)) == 1  # it is not staged
    followed.git("add", PLAN)
    assert requested_plans(followed) == []


def test_a_removed_or_renamed_file_is_a_change_too(followed: Folder) -> None:
    followed.git("mv", "src/reader.py", "src/scanner.py")
    assert len(requested_plans(followed)) == 1
    followed.git("reset", "-q", "--hard")
    followed.git("rm", "-q", "src/reader.py")
    assert len(requested_plans(followed)) == 1


def test_many_files_need_a_plan(followed: Folder) -> None:
    stage(followed, "a", "b", "c")
    assert requested_plans(followed) == []
    stage(followed, "d")
    ((path, why),) = requested_plans(followed)
    assert (path, why[:52]) == ("a", "the commit changes 4 files but no plan (more than 3,")
    followed.write(SETTINGS, "follow = true\nfollow_files = 0\n")
    assert requested_plans(followed) == []


def test_a_change_that_calls_for_a_plan_is_asked_for_one(followed: Folder) -> None:
    followed.write(SETTINGS, "follow = true\nfollow_files = 0\n")
    for number in range(4):
        followed.write(f"part{number}/login.py", "x\n" * 90)
    followed.write("db/migrations/2.sql", "DROP TABLE a;\n")
    followed.git("add", "-A")
    ((path, why),) = requested_plans(followed)
    assert path == SETTINGS  # the first of the files
    assert why.startswith("the commit needs a plan but changes none (risk: db/migrations/2.sql (migration) changes")
    assert "create one with execplan new" in why
    followed.write(SETTINGS, "follow = true\nfollow_files = 3\n")
    ((path, why),) = requested_plans(followed)
    assert "more than 3, follow_files" in why
    followed.write(SETTINGS, "follow = true\nfollow_files = 0\ntriage = { plan = 0 }\n")
    assert requested_plans(followed) == []
    followed.write(SETTINGS, "follow = true\nfollow_files = 0\n")
    followed.ok("done", "2")
    followed.git("add", "-A")
    assert requested_plans(followed) == []


def test_plans_that_are_finished_or_archived_ask_for_nothing(followed: Folder) -> None:
    followed.plan(CLEAN.replace("- [ ]", "- [x] (2026-01-01 00:00Z)"))
    followed.write(".agent/execplans/archive/2025-12-01_old.md", CLEAN)
    followed.git("add", "-A")
    followed.git("commit", "-q", "-m", "Done")
    stage(followed, "src/reader.py")
    assert requested_plans(followed) == []


def test_artifacts_and_archives_are_no_change_that_needs_a_plan(followed: Folder) -> None:
    stage(followed, *[f".agent/execplans/artifacts/2026-01-01_parser/{number}.log" for number in range(9)])
    assert requested_plans(followed) == []


def test_it_is_off_where_nobody_wants_it(followed: Folder) -> None:
    stage(followed, "src/reader.py")
    assert followed.run("lint", "--staged", "--select", "EP301").exit == 0
    assert followed.run("lint", "--staged", "--ignore", "EP508").exit == 0
    assert followed.run("lint", "--staged", "--select", "EP508").exit == 1
    assert followed.run("lint", "--select", "EP508").exit == 0  # no commit is judged
    followed.write(SETTINGS, "[lint]\nignore = ['EP508']\n")
    assert followed.run("lint", "--staged").exit == 0
    followed.write(SETTINGS, "follow = true\n[lint]\nignore = ['EP508']\n")
    assert followed.run("lint", "--staged").exit == 0
    (followed.path / SETTINGS).unlink()
    assert followed.run("lint", "--staged").exit == 0


def test_merges_and_reverts_are_left_alone(followed: Folder) -> None:
    followed.git("checkout", "-q", "-b", "work")
    stage(followed, "src/reader.py")
    followed.git("commit", "-q", "-m", "Work")
    followed.git("checkout", "-q", "main")
    followed.git("merge", "-q", "--no-commit", "--no-ff", "work")
    assert requested_plans(followed) == []
    followed.git("merge", "--abort")
    stage(followed, "src/reader.py")
    assert len(requested_plans(followed)) == 1


def test_a_project_below_the_root_names_paths_from_itself(followed: Folder) -> None:
    followed.write("packages/app/.agent/execplans/2026-01-03_app.md", CLEAN)
    followed.write("packages/app/src/reader.py", "one\n")
    followed.write(SETTINGS, 'follow = true\nhomes = ["packages/app"]\n')
    followed.git("add", "-A")
    followed.git("commit", "-q", "-m", "App")
    stage(followed, "packages/app/src/reader.py")
    assert [path for path, _ in requested_plans(followed)] == ["packages/app/.agent/execplans/2026-01-03_app.md"]


def test_before_the_first_commit_and_without_plans(plain: Folder) -> None:
    plain.git("init", "-q")
    plain.write(SETTINGS, "follow = true\nfollow_files = 1\n")
    stage(plain, "a")
    assert [path for path, _ in requested_plans(plain)] == [SETTINGS]


@pytest.mark.parametrize("worktree", [False, True])
def test_the_git_hook_asks_only_where_the_settings_say_so(followed: Folder, *, worktree: bool) -> None:
    folder = followed
    followed.ok("install", "git-hooks")
    if worktree:
        followed.git("worktree", "add", "-q", "../other")
        folder = Folder(followed.path.parent / "other")
    stage(folder, "src/reader.py")
    blocked = commit(folder)
    assert blocked.returncode == 1
    assert b"EP508 src/reader.py is in its scope" in blocked.stderr
    assert b"--no-verify" in blocked.stderr
    folder.ok("done", "2")
    folder.git("add", "-A")
    assert commit(folder).returncode == 0
    stage(folder, "src/reader.py")
    folder.write("src/reader.py", "more\n")
    folder.git("add", "-A")
    assert commit(folder, "--no-verify").returncode == 0
    folder.write(SETTINGS, "")
    folder.write("src/reader.py", "and more\n")
    folder.git("add", "-A")
    assert commit(folder).returncode == 0


def follows(repo: Folder, env: dict[str, str]) -> None:
    """Have the pre-commit program install its git hook; a commit without its plan is stopped then, one with it is not."""

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=repo.path, env=env, capture_output=True, check=False, timeout=600, text=True)

    installed = run(sys.executable, "-m", "pre_commit", "install", "--install-hooks")
    assert installed.returncode == 0, installed
    stage(repo, "src/reader.py")
    blocked = run("git", "commit", "-m", "Without")
    assert blocked.returncode == 1, blocked
    assert "EP508 src/reader.py is in its scope" in blocked.stderr
    repo.ok("done", "2")
    repo.git("add", "-A")
    passed = run("git", "commit", "-m", "With")
    assert passed.returncode == 0, passed


@pytest.mark.exhaustive
def test_the_hook_of_this_repository_in_the_pre_commit_program(followed: Folder, itself: dict[str, str]) -> None:
    hook = {**itself, "hooks": [{"id": "execplan-follow"}]}
    followed.write(SETTINGS, "")
    followed.write(".pre-commit-config.yaml", yaml.safe_dump({"repos": [hook]}))
    followed.git("add", "-A")
    followed.git("commit", "-q", "-m", "The hook")
    env = program_environment(followed, Path(itself["repo"]).parent)
    env.pop("PYTHONPATH", None)
    follows(followed, env)


def test_install_pre_commit_adds_the_hook_where_the_settings_say_so(followed: Folder) -> None:
    followed.ok("install", "pre-commit")
    path = followed.path / ".pre-commit-config.yaml"
    with_it = path.read_bytes()
    assert [hook["id"] for hook in yaml.safe_load(with_it)["repos"][0]["hooks"]] == ["execplan-lint", "execplan-follow"]
    followed.git("add", "-A")
    followed.git("commit", "-q", "-m", "The hook")
    follows(followed, program_environment(followed))
    followed.write(SETTINGS, "")
    followed.ok("install", "pre-commit")
    assert b"execplan-follow" not in path.read_bytes()
    followed.write(SETTINGS, "follow = true\n")
    followed.ok("install", "pre-commit")
    assert path.read_bytes() == with_it
    followed.ok("uninstall", "pre-commit")
    assert not path.exists()
