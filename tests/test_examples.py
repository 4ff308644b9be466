"""The examples of property tests: the same everywhere, and others for a search."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests import examples

ROOT = Path(__file__).resolve().parents[1]


def print_examples(*modules: str, **env: str) -> str:
    """The examples that are tried in a process of its own, with these modules loaded."""
    usual = {name: value for name, value in os.environ.items() if not name.startswith(("EXECPLAN_FUZZ_", "CI"))}
    command = [sys.executable, "-m", "tests.print_examples", *modules]
    completed = subprocess.run(command, cwd=ROOT, env={**usual, **env}, capture_output=True, text=True, check=True)
    return completed.stdout


def test_they_are_the_same_everywhere() -> None:
    """On a developer's machine and in CI, under any hash seed, whatever a process has loaded before."""
    first_output = print_examples(PYTHONHASHSEED="0")
    assert len(set(first_output.splitlines())) > 200
    assert print_examples("execplan.cli.main", "execplan.linter.runner", CI="true", PYTHONHASHSEED="1") == first_output


def test_a_search_tries_others_each_time(tmp_path: Path) -> None:
    search = {examples.SEED: "1", examples.DATABASE: str(tmp_path)}
    assert len({print_examples(**search) for _ in range(2)}) == 2
