"""`install git-hooks` and `lint --staged`: real commits, real hooks of several kinds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agents.integrations.file_tree import tree
from tests.conftest import Folder
from tests.plans import CLEAN

HOOK = ".git/hooks/pre-commit"
BROKEN = CLEAN.replace("## Decision Log", "## Decisions of old")
SAYS = 'echo "theirs $# $(cat)" >> ../said; '
"""What the hooks of these tests do: tell how they were called."""


def hook(repo: Folder, content: str | bytes, mode: int = 0o755) -> Path:
    """Put a hook there."""
    path = repo.write(HOOK, content)
    path.chmod(mode)
    return path


def commit(repo: Folder, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Commit what is staged, as a person does."""
    run = ["git", "commit", "-qm", "Change", *arguments]
    return subprocess.run(run, cwd=repo.path, env=repo.env, capture_output=True, check=False, timeout=60)


def hook_output(repo: Folder) -> str:
    """What the hooks of these tests told, and forget it."""
    path = repo.path.parent / "said"
    text = path.read_text() if path.exists() else ""
    path.unlink(missing_ok=True)
    return text


def blocks_bad_plans(repo: Folder) -> str:
    """See that a plan with errors is kept from a commit and a good one is not; what other hooks told."""
    repo.plan(BROKEN)
    repo.git("add", "-A")
    blocked = commit(repo)
    assert blocked.returncode == 1
    assert b"2026-01-01_parser.md:" in blocked.stderr
    assert b"--no-verify" in blocked.stderr
    assert hook_output(repo) == ""
    repo.plan(CLEAN)
    repo.git("add", "-A")
    passed = commit(repo)
    assert (passed.returncode, passed.stderr) == (0, b"")
    return hook_output(repo)


HOOKS = {
    "none": (None, 0, ""),
    "sh": (f"#!/bin/sh\n{SAYS}exit 0\n", 0o755, "theirs 0 \n"),
    "bash with flags, exec, no end": (f"#!/usr/bin/env -S bash -eu\n{SAYS}exec true", 0o700, "theirs 0 \n"),
    "shebang only": ("#!/bin/sh", 0o755, ""),
    "no shebang": (SAYS, 0o755, "theirs 0 \n"),
    "python": ("#!/usr/bin/env python3\nopen('../said', 'a').write('python\\n')\n", 0o755, "python\n"),
    "empty": ("", 0o755, ""),
    "not run": (f"#!/bin/sh\n{SAYS}exit 1\n", 0o644, ""),
    "latin-1": (f"#!/bin/sh\n{SAYS}# \xe4\n".encode("latin-1"), 0o755, "theirs 0 \n"),
}


@pytest.mark.parametrize("kind", HOOKS)
def test_beside_existing_hooks_there_and_back(repo: Folder, kind: str) -> None:
    content, mode, expected_output = HOOKS[kind]
    if content is not None:
        hook(repo, content, mode)
    before = tree(repo.path / ".git/hooks")
    repo.ok("install", "git-hooks")
    assert os.access(repo.path / HOOK, os.X_OK)
    installed = tree(repo.path / ".git/hooks")
    assert repo.ok("install", "git-hooks")["changed"] is False
    assert tree(repo.path / ".git/hooks") == installed
    assert blocks_bad_plans(repo) == expected_output
    repo.ok("uninstall", "git-hooks")
    assert tree(repo.path / ".git/hooks") == before


def test_a_binary_hook_is_called_with_its_own_exit_status(repo: Folder) -> None:
    false = shutil.which("false")
    assert false
    hook(repo, Path(false).read_bytes())
    before = tree(repo.path / ".git/hooks")
    changes = repo.ok("install", "git-hooks")["changes"]
    assert changes == [
        {"what": "git-hooks", "path": f"{HOOK}.before-execplan", "action": "moved", "from": HOOK},
        {"what": "git-hooks", "path": HOOK, "action": "made"},
    ]
    repo.plan()
    repo.git("add", "-A")
    assert commit(repo).returncode == 1
    repo.ok("uninstall", "git-hooks")
    assert tree(repo.path / ".git/hooks") == before


@pytest.mark.parametrize("target", ["../../hook.sh", "../../nowhere"])
def test_a_hook_that_is_a_link_is_moved_aside_as_it_is(repo: Folder, target: str) -> None:
    repo.write("hook.sh", f"#!/bin/sh\n{SAYS}").chmod(0o755)
    (repo.path / HOOK).symlink_to(target)
    before = tree(repo.path)
    repo.ok("install", "git-hooks")
    assert (repo.path / "hook.sh").read_text() == f"#!/bin/sh\n{SAYS}"
    assert repo.ok("install", "git-hooks")["changed"] is False
    repo.ok("uninstall", "git-hooks")
    assert tree(repo.path) == before
    repo.ok("install", "git-hooks")
    assert blocks_bad_plans(repo) == ("theirs 0 \n" if target.endswith("sh") else "")


def test_the_staged_bytes_are_checked_not_the_file(repo: Folder) -> None:
    repo.ok("install", "git-hooks")
    repo.plan(BROKEN)
    repo.git("add", "-A")
    repo.plan(CLEAN)
    assert commit(repo).returncode == 1
    assert repo.run("lint", "--staged").exit == 1
    repo.git("add", "-A")
    repo.plan(BROKEN)
    assert repo.run("lint", "--staged").exit == 0
    assert commit(repo).returncode == 0


@pytest.mark.parametrize("variable", ["EXECPLAN_AGENT", "CLAUDE_CODE_SESSION_ID"])
def test_an_agent_is_not_told_how_to_skip_the_hook(repo: Folder, variable: str) -> None:
    repo.ok("install", "git-hooks")
    repo.plan(BROKEN)
    repo.git("add", "-A")
    assert b"--no-verify" in commit(repo).stderr
    repo.env[variable] = "alice"
    assert commit(repo).stderr.endswith(b"execplan: nothing was committed; fix the errors and stage the plans\n")


def test_every_step_of_the_workflow_can_be_committed(repo: Folder) -> None:
    repo.ok("install", "git-hooks")
    plan = repo.ok("new", "Build the lexer", "--commit")["id"]
    for task in ("Read words", "Read numbers"):
        assert repo.ok("add", task, "-p", plan, "--commit")["commit"]
    assert repo.ok("done", "1", "-p", plan, "--commit")["commit"]  # seven sections still hold placeholder text
    findings = repo.run("lint", plan, "--json").json["data"]["findings"]
    assert {finding["level"] for finding in findings if finding["code"] == "EP109"} == {"warning"}
    stopped = repo.run("done", "2", "-p", plan, "--commit")
    assert stopped.exit == 6
    lines = stopped.err.splitlines()
    assert lines[0].startswith(
        "execplan: a git hook stopped the commit (exit status 1); the changes are on disk but not committed"
    )
    assert sum(" EP109 " in line for line in lines) == 1
    assert any(" EP109 8 sections still contain placeholder text: Purpose / Big Picture, " in line for line in lines)
    assert "--no-verify" not in stopped.err
    assert lines[-1] == f"hint: fix what the hook reports, then: execplan commit {plan}"
    assert ";   " not in stopped.err
    document = repo.run("done", "2", "-p", plan, "--commit", "--json").json
    assert document["ok"] or document["error"]["code"] == "not-committed"


def test_the_last_task_of_a_written_plan_can_be_committed(repo: Folder) -> None:
    repo.ok("install", "git-hooks")
    repo.plan(CLEAN)
    repo.git("add", "-A")
    assert commit(repo).returncode == 0
    tasks = repo.ok("show", "parser")["tasks"]
    for task in tasks:
        if task["state"] == "open":
            assert repo.ok("done", task["id"], "--commit")["commit"]
    assert repo.ok("show", "parser")["state"] == "complete"


def test_staged_follows_the_index_that_git_commits_from(repo: Folder) -> None:
    repo.plan()
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Plan")
    repo.ok("install", "git-hooks")
    repo.plan(BROKEN)
    assert commit(repo, "-a").returncode == 1
    assert commit(repo, "--only", ".agent").returncode == 1
    assert commit(repo, "--allow-empty").returncode == 0
    assert commit(repo, "-a", "--no-verify").returncode == 0


def test_staged_before_the_first_commit(plain: Folder) -> None:
    plain.git("init", "-q")
    plain.plan(BROKEN)
    plain.git("add", "-A")
    result = plain.run("lint", "--staged")
    assert result.exit == 1
    assert result.out.startswith(".agent/execplans/2026-01-01_parser.md:")


def test_staged_looks_at_plans_only(repo: Folder) -> None:
    for name in ("README.md", ".agent/PLANS.md", ".agent/execplans/README.md", ".agent/execplans/artifacts/x/log.md"):
        repo.write(name, "no plan\n")
    repo.write(".agent/execplans/notes.txt", "no plan\n")
    (repo.path / ".agent/execplans/link.md").symlink_to("notes.txt")
    repo.git("add", "-A")
    result = repo.run("lint", "--staged")
    assert (result.exit, result.out) == (0, "no plans to check\n")
    repo.plan(name="gone")
    repo.write(".agent/execplans/archive/old.md", CLEAN)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Plans")
    repo.git("rm", "-q", ".agent/execplans/gone.md")
    repo.git("mv", ".agent/execplans/archive/old.md", ".agent/execplans/back.md")
    data = repo.ok("lint", "--staged")
    assert data["plans"] == 1


def test_staged_names_that_shells_and_git_quote(repo: Folder) -> None:
    for name in ("ä b", "new\nline", ":(top)x", "-p"):
        repo.plan(BROKEN, name)
    repo.git("add", "-A")
    data = repo.run("lint", "--staged", "--json").json["data"]
    assert {finding["path"] for finding in data["findings"]} == {
        f".agent/execplans/{name}.md" for name in ("ä b", "new\nline", ":(top)x", "-p")
    }


def test_staged_of_many_and_of_large_plans(repo: Folder) -> None:
    for number in range(300):
        repo.plan(CLEAN * 3, f"plan-{number}")
    repo.plan(CLEAN + "x" * (6 << 20), "large")
    repo.git("add", "-A")
    data = repo.run("lint", "--staged", "--json").json["data"]
    assert data["plans"] == 301
    large = [finding for finding in data["findings"] if finding["path"].endswith("large.md")]
    assert [finding["code"] for finding in large] == ["EP001"]
    assert "6," in large[0]["message"]


def test_staged_in_every_project_of_the_repository(repo: Folder) -> None:
    (repo.path / ".agent/execplans").rmdir()
    repo.write("services/a/.agent/execplan.toml", 'plans = "plans"\n')
    repo.write("services/a/plans/one.md", BROKEN)
    repo.write("services/b/.agent/execplans/two.md", BROKEN)
    repo.git("add", "-A")
    data = repo.run("lint", "--staged", "--json").json["data"]
    assert {finding["path"] for finding in data["findings"]} == {
        "services/a/plans/one.md",
        "services/b/.agent/execplans/two.md",
    }
    assert repo.run("lint", "--staged", cwd=repo.path / "services/a").out.startswith("plans/one.md:")


def test_staged_says_of_plans_given_up_what_lint_says_of_their_files(repo: Folder) -> None:
    (repo.path / ".agent/execplans").rmdir()
    repo.write(".agent/execplan.toml", 'plans = "plans"\narchive = "plans/done"\nsuperseded = "plans/dropped"\n')
    repo.write("plans/dropped/one.md", CLEAN)
    repo.git("add", "-A")
    assert repo.ok("lint", "plans/dropped/one.md") == repo.ok("lint", "--staged")
    repo.write("plans/done/two.md", CLEAN)
    repo.git("add", "-A")
    assert {finding["code"] for finding in repo.run("lint", "--staged", "--json").json["data"]["findings"]} == {"EP502"}


def _new_draft_without_tasks(repo: Folder) -> Path:
    path: Path = repo.path / repo.ok("new", "A draft")["path"]
    path.write_text(path.read_text().replace("- [ ] The first step of the work\n", ""))
    return path


def test_staged_lets_a_draft_be_with_hook(repo: Folder) -> None:
    _new_draft_without_tasks(repo)
    repo.git("add", "-A")
    assert repo.run("lint", "--staged").exit == 1
    assert repo.run("lint", "--staged", "--hook").exit == 0


def test_staged_needs_git_and_takes_no_plans(repo: Folder, plain: Folder) -> None:
    assert repo.run("lint", "--staged", "parser").exit == 2
    result = plain.run("lint", "--staged")
    assert result.exit == 6
    assert "git init" in result.err
    assert repo.run("lint", "--staged", PATH="/nowhere").exit == 6


def test_the_quick_way_knows_hook(repo: Folder) -> None:
    path = _new_draft_without_tasks(repo)
    assert repo.run("lint", "--hook", str(path)).exit == 0
    assert repo.run("lint", str(path)).exit == 1
    assert repo.run("lint", "--hook", "a-draft").exit == 0


def test_a_repository_without_plans_is_left_in_peace(repo: Folder) -> None:
    repo.ok("install", "git-hooks")
    (repo.path / ".agent/execplans").rmdir()
    (repo.path / ".agent").rmdir()
    repo.write("x.py", "1\n")
    repo.git("add", "-A")
    assert commit(repo).returncode == 0


@pytest.mark.parametrize("name", ["hooks", "./tools/hooks/", "deep/er"])
def test_core_hooks_path_counts_from_the_root(repo: Folder, name: str) -> None:
    repo.git("config", "core.hooksPath", name)
    before = tree(repo.path)
    result = repo.run("install", "git-hooks", "--json", cwd=repo.path / ".agent")
    assert result.exit == 0
    assert "may be committed" in result.json["warnings"][0]
    assert (repo.path / name / "pre-commit").exists()
    blocks_bad_plans(repo)
    repo.git("reset", "-q", "--hard", "HEAD~1")
    (repo.path / ".agent/execplans").mkdir(parents=True, exist_ok=True)
    repo.ok("uninstall", "git-hooks")
    assert {path: content for path, content in tree(repo.path).items() if ".git" not in path} == {
        path: content for path, content in before.items() if ".git" not in path
    }


@pytest.mark.parametrize("outside", ["../hooks", "~/hooks", "/dev/null"])
def test_core_hooks_path_outside_is_refused(repo: Folder, outside: str) -> None:
    repo.git("config", "core.hooksPath", outside)
    before = tree(repo.path.parent)
    result = repo.run("install", "git-hooks")
    assert result.exit == 7
    assert f"{sys.executable} -P -m execplan lint --staged --hook" in result.err
    assert tree(repo.path.parent) == before


def test_hooks_that_lie_elsewhere_through_a_link_are_refused(repo: Folder) -> None:
    shutil.rmtree(repo.path / ".git/hooks")
    (repo.path.parent / "elsewhere").mkdir()
    (repo.path / ".git/hooks").symlink_to("../../elsewhere")
    assert repo.run("install", "git-hooks").exit == 7


def test_a_missing_hooks_folder_is_made_and_removed(repo: Folder) -> None:
    shutil.rmtree(repo.path / ".git/hooks")
    before = tree(repo.path)
    repo.ok("install", "git-hooks")
    repo.ok("uninstall", "git-hooks")
    assert tree(repo.path) == before


def test_a_worktree_has_the_hooks_of_the_repository(repo: Folder) -> None:
    repo.git("worktree", "add", "-q", "../other")
    worktree = Folder(repo.path.parent / "other")
    (worktree.path / ".agent/execplans").mkdir(parents=True)
    before = tree(repo.path / ".git/hooks")
    worktree.ok("install", "git-hooks")
    blocks_bad_plans(worktree)
    blocks_bad_plans(repo)
    repo.ok("uninstall", "git-hooks")
    assert tree(repo.path / ".git/hooks") == before


def test_no_git_and_bare(repo: Folder, plain: Folder) -> None:
    (plain.path / ".agent/execplans").mkdir(parents=True)
    assert plain.run("install", "git-hooks").exit == 6
    assert repo.run("install", "git-hooks", PATH="/nowhere").exit == 6
    repo.git("clone", "-q", "--bare", ".", "../bare")
    assert repo.run("install", "git-hooks", cwd=repo.path.parent / "bare").exit == 6


def test_a_read_only_hook_is_left_alone(repo: Folder) -> None:
    hook(repo, "#!/bin/sh\nexit 0\n", 0o555)
    before = tree(repo.path)
    result = repo.run("install", "git-hooks")
    assert result.exit == 6
    assert "chmod u+w" in result.err
    assert tree(repo.path) == before


def test_the_hook_of_the_pre_commit_program_is_named(repo: Folder) -> None:
    hook(repo, "#!/usr/bin/env bash\n# File generated by pre-commit: https://pre-commit.com\nexit 0\n")
    result = repo.run("install", "git-hooks")
    assert result.exit == 0
    assert "execplan install pre-commit" in result.err
    blocks_bad_plans(repo)


def test_a_name_that_is_taken(repo: Folder) -> None:
    hook(repo, "#!/usr/bin/perl\n")
    repo.write(f"{HOOK}.before-execplan", "mine\n")
    before = tree(repo.path)
    assert repo.run("install", "git-hooks").exit == 3
    assert tree(repo.path) == before


def test_half_an_install_is_finished_or_undone(repo: Folder) -> None:
    path = hook(repo, "#!/usr/bin/env python3\nopen('../said', 'a').write('python\\n')\n")
    before = tree(repo.path / ".git/hooks")
    backup = repo.path / f"{HOOK}.before-execplan"
    path.rename(backup)  # as after a kill between the two steps
    repo.ok("install", "git-hooks")
    assert blocks_bad_plans(repo) == "python\n"
    (repo.path / HOOK).unlink()
    repo.ok("uninstall", "git-hooks")
    assert tree(repo.path / ".git/hooks") == before


def test_edits_of_the_hook_are_kept(repo: Folder) -> None:
    hook(repo, "#!/usr/bin/env python3\n")
    repo.ok("install", "git-hooks")
    path = repo.path / HOOK
    installed = path.read_text()
    path.write_text(installed.replace("exit 1", "exit 0"))
    assert "edited by hand" in repo.run("install", "git-hooks").err
    assert repo.run("uninstall", "git-hooks").exit == 1
    repo.ok("install", "git-hooks", "--force")
    assert path.read_text() == installed
    path.write_text(installed + "echo mine\n")
    result = repo.run("uninstall", "git-hooks")
    assert "both are kept" in result.err
    assert path.read_text() == "#!/bin/sh\necho mine\n"
    assert (repo.path / f"{HOOK}.before-execplan").exists()
    repo.ok("install", "git-hooks")
    assert path.read_text().endswith("# execplan:end\necho mine\n")
    assert "before-execplan" not in path.read_text()


@pytest.mark.parametrize("gone", ["interpreter", "package"])
def test_when_the_tool_is_gone_commits_pass_with_a_line_that_says_how_to_fix_it(repo: Folder, gone: str) -> None:
    repo.ok("install", "git-hooks")
    path = repo.path / HOOK
    interpreter = "/nowhere/python" if gone == "interpreter" else str(repo.path.parent / "python")
    if gone == "package":
        Path(interpreter).write_text(f'#!/bin/sh\nunset PYTHONPATH\nexec {sys.executable} -I -S "$@"\n')
        Path(interpreter).chmod(0o755)
    path.write_text(path.read_text().replace(f"execplan_python={sys.executable}", f"execplan_python={interpreter}"))
    repo.plan(BROKEN)
    repo.git("add", "-A")
    completed = commit(repo)
    assert completed.returncode == 0
    lines = completed.stderr.decode().splitlines()
    assert len(lines) == 1
    assert interpreter in lines[0]
    assert "execplan install git-hooks" in lines[0]


def test_a_folder_named_execplan_in_the_repository_is_not_run(repo: Folder) -> None:
    repo.ok("install", "git-hooks")
    repo.write("execplan/__init__.py", "raise SystemExit(9)\n")
    repo.write("execplan/__main__.py", "")
    blocks_bad_plans(repo)


def test_the_tool_commits_through_its_own_hook(repo: Folder) -> None:
    repo.ok("install", "git-hooks")
    repo.plan()
    assert repo.ok("done", "2", "--commit")["commit"]
    repo.plan(BROKEN)
    result = repo.run("done", "2", "--commit")
    assert result.exit == 6
    assert "EP" in result.err
