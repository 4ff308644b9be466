"""Benchmark of all commands that read a plan, each with plans that are made to be slow."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

from bench_inputs import INPUTS
from bench_tools import Installation, Row, Table

_SIZE = 100_000
"""Size of a hostile plan in bytes."""
_GROWTH = 4
"""Ratio of the sizes whose times are compared."""
_MIN_SECONDS = 0.7
"""Shorter times are mostly the start of the process, and show no growth."""
_TIMEOUT = 120
PLAN = "2026-01-01_hostile"
COMMANDS = (
    *("lint", "show", "status", "next", "prime", "context", "summarize", "search a", "compile --dry-run", "evaluate"),
    *(
        "board --plain",
        "log",
        "diff",
        "stats --chart age",
        "site --out ../site",
        "graph",
        "triage a",
        "doctor",
        "handoff",
        "review",
    ),
)
"""Commands that only read the plans of a repository."""


def measure_reading(folder: Path, _runs: int, installation: Installation) -> list[Table]:
    """Measure the slowest plan for each command, and how its time grows with the plan."""
    rows = []
    for command in COMMANDS:
        seconds = {name: _run_seconds(folder, make(_SIZE), command, installation) for name, make in INPUTS.items()}
        slowest = max(seconds, key=seconds.__getitem__)
        growth = ""
        if seconds[slowest] > _MIN_SECONDS:
            small = _run_seconds(folder, INPUTS[slowest](_SIZE // _GROWTH), command, installation)
            growth = f"{seconds[slowest] / small:.1f}×"
        rows.append(Row(command, seconds[slowest], "s", (growth, slowest)))
        print(f"{rows[-1].name}: {seconds[slowest]:.2f} s {growth} {slowest}", file=sys.stderr)
    title = f"{len(COMMANDS)} reading commands, each with {len(INPUTS)} hostile plans of {_SIZE // 1000} KB"
    return [Table("reading", title, rows, (f"time for {_GROWTH}× the input", "slowest plan"))]


def _run_seconds(folder: Path, source: str, command: str, installation: Installation) -> float:
    """Return the processor seconds of a command in a repository with one plan."""
    plan = folder / f"repo/.agent/execplans/{PLAN}.md"
    if not plan.parent.exists():
        plan.parent.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", folder / "repo"], check=True)
    plan.write_text(source)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        subprocess.run(
            [installation.execplan, *command.split()],
            cwd=folder / "repo",
            env={**os.environ, "HOME": str(folder)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return float(_TIMEOUT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
