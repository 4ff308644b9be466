"""Shared parts of scripts/bench.py: interleaved timing of commands, tables, and test projects."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench_inputs import build_plan

EXECPLAN = str(Path(sys.executable).with_name("execplan"))
PYTHON = [sys.executable, "-I", "-c", "pass"]
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "LC_ALL": "C.UTF-8",
    "EXECPLAN_AUTHOR": "Ann",
    "SOURCE_DATE_EPOCH": "1767434400",  # close to the dates in the made plans, so that none is stalled
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ},
    **{f"GIT_{role}_{field}": "ann@example.org" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")},
}


class Command(NamedTuple):
    """A process to time, with the preparation before each run."""

    argv: list[str]
    cwd: Path
    prepare: Callable[[], object] | None = None
    exits: tuple[int, ...] = (0,)
    stdin: bytes = b""
    """Standard input of the process."""
    user: tuple[tuple[str, str], ...] = ()
    """Variables that override those in `ENVIRONMENT`."""


def measure_in_turns(commands: dict[str, Command], runs: int) -> dict[str, float]:
    """Run the commands in turns, and return the median seconds of each."""
    samples_by_name: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(runs + 1):
        for name, command in commands.items():
            if command.prepare is not None:
                command.prepare()
            begin = time.perf_counter()
            env = ENVIRONMENT | dict(command.user)
            completed = subprocess.run(
                command.argv, cwd=command.cwd, env=env, input=command.stdin, capture_output=True, check=False
            )
            seconds = time.perf_counter() - begin
            if completed.returncode not in command.exits:
                raise SystemExit(
                    f"{' '.join(command.argv)} ended with {completed.returncode}:\n{completed.stderr.decode()}"
                )
            if turn:  # the first turn warms the caches
                samples_by_name[name].append(seconds)
    return {name: median(samples) for name, samples in samples_by_name.items()}


def print_table(title: str, head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    """Print a table with a title."""
    cells = [head, *rows]
    widths = [max(len(row[at]) for row in cells) for at in range(len(head))]
    print(f"\n{title}\n")
    for row in cells:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def format_ratio(ratio: float) -> str:
    """Format a ratio for a table."""
    return f"{ratio:.2f}×"


def create_project(folder: Path, plans: int) -> Path:
    """Create a repository whose project has this many committed plans."""
    repository = folder / f"home-{plans}"
    plans_directory = repository / ".agent" / "execplans"
    plans_directory.mkdir(parents=True)
    for at in range(plans):
        (plans_directory / f"2026-01-02_plan-{at}.md").write_text(build_plan(20_000), encoding="utf-8")
    (repository / "src").mkdir()
    (repository / "src" / "reader.py").touch()  # the plans refer to it
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "First"]):
        subprocess.run(["git", *arguments], cwd=repository, env=ENVIRONMENT, check=True)
    return repository
