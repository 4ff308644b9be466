"""The PATH on which CI runs the tests once more: Python, git, make, basic utilities, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "bare_path.py"
HIDDEN = "bwrap strace unshare setpriv zsh fish tmux cargo npm node docker".split()


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *command], capture_output=True, text=True, check=False)


def test_only_what_is_promised_is_found() -> None:
    completed = run(
        "sh", "-c", "for name; do command -v $name; done; true", "sh", *HIDDEN, "git", "make", "python3", "sed"
    )
    assert [Path(line).name for line in completed.stdout.splitlines()] == ["git", "make", "python3", "sed"]
    code = f"import shutil; print([name for name in {HIDDEN} if shutil.which(name)])"
    assert run("python3", "-c", code).stdout == "[]\n"


def test_the_status_is_that_of_the_command() -> None:
    assert run("sh", "-c", "exit 3").returncode == 3
    assert run("sh", "-c", "kill -9 $$").returncode == 137
    assert run().returncode == 2
