"""What those expect who know only the document of the format: its skeleton, and its script."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from hashlib import sha256

from tests.conftest import Folder

SKELETON = "536614ed002e7f0db2c46b1eff30cdb7fea2bbdb61cf962816ec08570e669193"
"""SHA-256 of the skeleton in the document of the format, with a newline at its end."""
SCRIPT = "scripts/new_execplan.py"


def test_the_skeleton_is_a_template(repo: Folder) -> None:
    path = repo.ok("new", "<Short, action-oriented description>", "--template", "execplans")["path"]
    assert sha256((repo.path / path).read_bytes()).hexdigest() == SKELETON
    assert {finding["code"] for finding in repo.ok("lint")["findings"]} == {"EP109"}
    repo.ok("add", "Read lines")
    assert "- [ ] Read lines\n\n## Surprises" in (repo.path / path).read_text()


def test_init_writes_the_script_that_the_format_names(repo: Folder) -> None:
    repo.write(".agent/PLANS.md", f'Start with `{SCRIPT} "short description"`.\n')
    offered = repo.run("init", "--json").json
    assert "execplan init --script" in offered["next"]
    assert not (repo.path / SCRIPT).exists()
    assert repo.run("init", "--script", "--check").exit == 1
    repo.ok("init", "--script")
    assert (repo.path / SCRIPT).stat().st_mode & stat.S_IXUSR
    environment = {**repo.env, "PATH": os.path.dirname(sys.executable)}
    run = [sys.executable, SCRIPT, "Short description"]
    completed = subprocess.run(run, cwd=repo.path, env=environment, capture_output=True, text=True, check=True)
    assert completed.stdout.splitlines()[0] == ".agent/execplans/2026-01-01_short-description.md"
    (repo.path / SCRIPT).write_text("print()\n")
    again = repo.run("init", "--script", "--json").json
    assert not again["data"]["changed"]
    assert "execplan init --script" not in again["next"]
    assert (repo.path / SCRIPT).read_text() == "print()\n"
