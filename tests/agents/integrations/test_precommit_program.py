"""The real pre-commit program: the hook of this repository, and the one that `install pre-commit` writes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.conftest import Folder
from tests.plans import CLEAN

pytestmark = pytest.mark.exhaustive

ROOT = Path(__file__).resolve().parents[3]
BROKEN = CLEAN.replace("## Decision Log", "## Decisions of old")


def blocks_bad_plans(repo: Folder, env: dict[str, str]) -> None:
    """Have the program install its git hook; a plan with errors stops a commit then, a good one does not."""

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=repo.path, env=env, capture_output=True, check=False, timeout=600, text=True)

    installed = run(sys.executable, "-m", "pre_commit", "install", "--install-hooks")
    assert installed.returncode == 0, installed
    repo.plan(BROKEN)
    repo.write(".agent/execplans/README.md", "No plan.\n")
    repo.git("add", "-A")
    blocked = run("git", "commit", "-m", "Bad")
    assert blocked.returncode == 1, blocked
    assert ".agent/execplans/2026-01-01_parser.md:1:1 EP104" in blocked.stderr
    repo.plan(CLEAN)
    repo.git("add", "-A")
    passed = run("git", "commit", "-m", "Good")
    assert passed.returncode == 0, passed
    assert re.search(r"execplan lint\.+Passed", passed.stderr)


def program_environment(repo: Folder, folder: Path | None = None) -> dict[str, str]:
    """The environment of the program: what this machine sets for pip, and a store of its own, or the one at that place."""
    pip = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "REQUESTS_"))}
    pip |= {
        "PIP_CONSTRAINT": str(ROOT / "constraints.txt"),
        "PRE_COMMIT_HOME": str((folder or repo.path.parent) / "store"),
    }
    return {**pip, **repo.env}


def test_the_hook_of_this_repository_in_an_environment_of_its_own(repo: Folder, itself: dict[str, str]) -> None:
    hook = {**itself, "hooks": [{"id": "execplan-lint-fix"}, {"id": "execplan-lint"}]}
    repo.write(".pre-commit-config.yaml", yaml.safe_dump({"repos": [hook]}))
    env = program_environment(repo, Path(itself["repo"]).parent)
    env.pop("PYTHONPATH", None)
    blocks_bad_plans(repo, env)
    fixed = CLEAN.replace("then the reader.", "then what reads.")
    path = repo.plan(fixed.replace("what reads.", "what reads. "))
    for status in (1, 0):  # what the hook mends is staged, then committed
        repo.git("add", "-A")
        completed = subprocess.run(
            ["git", "commit", "-m", "x"], cwd=repo.path, env=env, capture_output=True, check=False
        )
        assert completed.returncode == status, completed
        assert path.read_text() == fixed


def test_the_hook_that_install_writes(repo: Folder) -> None:
    repo.write(".pre-commit-config.yaml", "repos: []\n")
    assert repo.run("install", "pre-commit").out.endswith("next: pre-commit install\n")
    env = program_environment(repo)
    validated = [sys.executable, "-m", "pre_commit", "validate-config"]
    subprocess.run(validated, cwd=repo.path, env=env, check=True, timeout=60)
    blocks_bad_plans(repo, env)


def test_the_hook_and_git_hooks_stand_side_by_side(repo: Folder) -> None:
    repo.ok("install", "pre-commit")
    blocks_bad_plans(repo, program_environment(repo))
    path = repo.path / ".git/hooks/pre-commit"
    before = path.read_bytes()
    result = repo.run("install", "git-hooks")
    assert "execplan install pre-commit fits better" in result.err
    repo.plan(BROKEN)
    repo.git("add", "-A")
    completed = subprocess.run(
        ["git", "commit", "-m", "x"], cwd=repo.path, env=repo.env, capture_output=True, check=False
    )
    assert b"execplan: nothing was committed" in completed.stderr
    repo.ok("uninstall", "git-hooks")
    assert path.read_bytes() == before
