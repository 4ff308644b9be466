"""Measure execplan next to other tools in the same run: `bench.py [PART…] [-n RUNS] [--install] [--page]`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from bench_agents import measure_agents
from bench_board import measure_board
from bench_editor import measure_keystrokes
from bench_executors import measure_executors
from bench_lint import measure_growth, measure_lint
from bench_page import write_page
from bench_reading import measure_reading
from bench_run import measure_commit, measure_runs
from bench_scale import measure_scale
from bench_start import measure_start
from bench_text import measure_hostile, measure_throughput
from bench_tools import Table, find_installation, print_table

MEASUREMENTS = {
    "start": measure_start,
    "throughput": measure_throughput,
    "hostile": measure_hostile,
    "reading": measure_reading,
    "keystroke": measure_keystrokes,
    "commit": measure_commit,
    "run": measure_runs,
    "board": measure_board,
    "scale": measure_scale,
    "agents": measure_agents,
    "executors": measure_executors,
    "growth": measure_growth,
    "lint": measure_lint,
}
_QUICK = ("start", "throughput", "hostile", "commit", "run")
"""Parts that are measured by default; the others take many minutes."""


def main() -> int:
    """Measure the given parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="*", help=f"of {', '.join(MEASUREMENTS)}; default: {', '.join(_QUICK)}")
    parser.add_argument("-n", "--runs", type=int, default=15, help="number of runs of each command (default: 15)")
    parser.add_argument(
        "--install", action="store_true", help="measure execplan installed by pip, and install the other tools"
    )
    parser.add_argument(
        "--page", action="store_true", help="write the results into docs/performance.md; default: all parts"
    )
    arguments = parser.parse_args()
    parts = arguments.part or (MEASUREMENTS if arguments.page else _QUICK)
    if unknown := [part for part in parts if part not in MEASUREMENTS]:
        parser.error(f"there is no part {unknown[0]!r}: {', '.join(MEASUREMENTS)}")
    tables: list[Table] = []
    with tempfile.TemporaryDirectory() as scratch:
        installation = find_installation(Path(scratch), install=arguments.install)
        for part in parts:
            with tempfile.TemporaryDirectory(dir=scratch) as folder:
                for table in MEASUREMENTS[part](Path(folder), arguments.runs, installation):
                    print_table(table)
                    tables.append(table)
    if arguments.page:
        write_page(tables)
    return 0


if __name__ == "__main__":
    sys.exit(main())
