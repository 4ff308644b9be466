"""Benchmark of the compiled wheel next to the pure-Python one, both installed by pip; run as a script, measure this Python."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from bench_inputs import build_plan
from bench_lint import PLANS, clean_plans, corpus_plans, real_plans
from bench_text import measure_throughput
from bench_tools import (
    ROOT,
    Command,
    Installation,
    Row,
    Table,
    format_value,
    measure_in_turns,
    seconds_of,
    write_plans,
)

_PLAN_COUNT = 1_000
_SPEEDS = ("scan alone", "read into a plan", "lint, all rules of text")


def measure_compiled(folder: Path, runs: int, _installation: Installation) -> list[Table]:
    """Measure both wheels in turns; no table without a C compiler."""
    if shutil.which("cc") is None:
        print("no C compiler: the compiled wheel is not measured", file=sys.stderr)
        return []
    pure, compiled = [_install(folder / build, compile_it=build == "compiled") for build in ("pure", "compiled")]
    rows = [*_speed_rows(pure, compiled, runs), *_time_rows(folder, pure, compiled, runs)]
    title = "The compiled wheel, relative to pure Python: speed-up of a core, of a call, and of many plans"
    return [Table("compiled", title, rows, ("pure Python", "compiled"))]


def _install(directory: Path, *, compile_it: bool) -> Path:
    """Install execplan from the checkout into a new environment, and return its directory of programs."""
    venv.create(directory, with_pip=True)
    env = os.environ | ({"HATCH_BUILD_HOOKS_ENABLE": "1"} if compile_it else {})
    subprocess.run([directory / "bin" / "python", "-m", "pip", "install", "-q", str(ROOT)], env=env, check=True)
    return directory / "bin"


def _speed_rows(pure: Path, compiled: Path, runs: int) -> list[Row]:
    speeds = [
        json.loads(
            subprocess.run([binaries / "python", __file__, str(runs)], stdout=subprocess.PIPE, check=True).stdout
        )
        for binaries in (pure, compiled)
    ]
    return [
        Row(
            name,
            speeds[1][name] / speeds[0][name],
            cells=tuple([format_value(speed[name], "MB/s") for speed in speeds]),
        )
        for name in _SPEEDS
    ]


def _time_rows(folder: Path, pure: Path, compiled: Path, runs: int) -> list[Row]:
    many_plans = real_plans if corpus_plans() else clean_plans
    write_plans(folder / "one", [("2026-01-02_plan-0.md", build_plan(20_000).encode())])
    write_plans(folder / "many", many_plans(_PLAN_COUNT))
    calls = {
        "lint FILE, 20 KB, no findings": (["lint", str(PLANS / "2026-01-02_plan-0.md")], folder / "one", runs),
        f"lint of {_PLAN_COUNT:,} plans, nothing cached": (["lint", "--no-cache"], folder / "many", min(runs, 5)),
    }
    rows = []
    for name, (arguments, repository, count) in calls.items():
        commands = {
            binaries.parent.name: Command([str(binaries / "execplan"), *arguments], repository, exits=(0, 1))
            for binaries in (pure, compiled)
        }
        seconds = seconds_of(measure_in_turns(commands, count))
        cells = tuple([format_value(value * 1000, "ms") for value in seconds.values()])
        rows.append(Row(name, seconds["pure"] / seconds["compiled"], cells=cells))
    return rows


def _print_speeds(runs: int) -> None:
    """Print the throughput of the execplan that this Python imports."""
    installation = Installation(sys.executable, "", {})
    tables = measure_throughput(ROOT, runs, installation)
    print(json.dumps({row.name: row.value for table in tables for row in table.rows}))


if __name__ == "__main__":
    _print_speeds(int(sys.argv[1]))
