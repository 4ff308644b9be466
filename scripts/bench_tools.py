"""Shared parts of scripts/bench.py: interleaved runs of commands, the installation to measure, and tables of results."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tomllib
import venv
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
GOALS = tomllib.loads((ROOT / "scripts" / "bench.toml").read_text(encoding="utf-8"))
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


class Installation(NamedTuple):
    """The executables to measure."""

    python: str
    execplan: str
    rivals: dict[str, str]
    """Paths of other tools by name."""


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


class Usage(NamedTuple):
    """What a process used."""

    seconds: float
    """Elapsed time."""
    cpu_seconds: float
    """Time on a processor, with the processes that it waited for."""
    peak_bytes: int
    """Peak memory of the process, or of the largest process that it waited for."""


class Row(NamedTuple):
    """A line of a table."""

    name: str
    value: float
    unit: str = "×"
    cells: tuple[str, ...] = ()
    """Further columns."""


class Table(NamedTuple):
    """Results of a benchmark."""

    key: str
    """Section of bench.toml with the goals of its rows."""
    title: str
    rows: Sequence[Row]
    columns: tuple[str, ...] = ()
    """Titles of the rows' further columns."""


def find_installation(folder: Path, *, install: bool) -> Installation:
    """Return the checkout's own executables, or with `install` those of a new environment, as users have them.

    The environment gets execplan, installed from this checkout by pip, and rumdl, markdownlint-cli2 and Backlog.md from
    the configured sources. Without it, only rivals on the PATH are measured.
    """
    import shutil

    if not install:
        rivals = {
            name: path for name in ("rumdl", "markdownlint-cli2", "backlog") if (path := shutil.which(name)) is not None
        }
        return Installation(sys.executable, str(Path(sys.executable).with_name("execplan")), rivals)
    binaries = folder / "tools" / "bin"
    venv.create(binaries.parent, with_pip=True)
    subprocess.run(
        [binaries / "python", "-m", "pip", "install", "-q", f"{ROOT}[charts,dask,lsp,web]", "rumdl"], check=True
    )
    rivals = {"rumdl": str(binaries / "rumdl")}
    npm = [
        "npm",
        "install",
        "--silent",
        "--no-fund",
        "--no-audit",
        "--prefix",
        str(folder / "tools"),
        "markdownlint-cli2",
        "backlog.md",
    ]
    if shutil.which("npm") is not None and subprocess.run(npm, check=False).returncode == 0:
        node_binaries = folder / "tools" / "node_modules" / ".bin"
        rivals |= {name: str(node_binaries / name) for name in ("markdownlint-cli2", "backlog")}
    return Installation(str(binaries / "python"), str(binaries / "execplan"), rivals)


def measure_in_turns(commands: dict[str, Command], runs: int) -> dict[str, Usage]:
    """Run the commands in turns, and return the median usage of each."""
    samples_by_name: dict[str, list[Usage]] = {name: [] for name in commands}
    for turn in range(runs + 1):
        for name, command in commands.items():
            if command.prepare is not None:
                command.prepare()
            usage = run_command(command)
            if turn or runs == 1:  # the first turn warms the caches
                samples_by_name[name].append(usage)
    return {
        name: Usage(
            median([usage.seconds for usage in samples]),
            median([usage.cpu_seconds for usage in samples]),
            max([usage.peak_bytes for usage in samples]),
        )
        for name, samples in samples_by_name.items()
    }


@cache
def _start_launcher() -> subprocess.Popen[str]:
    launcher = [sys.executable, "-I", str(ROOT / "scripts" / "bench_launcher.py")]
    return subprocess.Popen(launcher, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def run_command(command: Command) -> Usage:
    """Run a command once. Raises SystemExit if it fails."""
    fields = {"argv": command.argv, "cwd": str(command.cwd), "env": ENVIRONMENT | dict(command.user)}
    launcher = _start_launcher()
    assert launcher.stdin is not None
    assert launcher.stdout is not None
    launcher.stdin.write(json.dumps(fields | {"stdin": base64.b64encode(command.stdin).decode()}) + "\n")
    launcher.stdin.flush()
    status, seconds, cpu_seconds, peak_bytes = json.loads(launcher.stdout.readline())
    if status not in command.exits:
        raise SystemExit(f"{' '.join(command.argv)} in {command.cwd} ended with {status}")
    return Usage(seconds, cpu_seconds, peak_bytes)


def seconds_of(usages: dict[str, Usage]) -> dict[str, float]:
    """Return only the elapsed times."""
    return {name: usage.seconds for name, usage in usages.items()}


def format_value(value: float, unit: str) -> str:
    """Format a value with its unit."""
    digits = 1 if value >= 10 else 2 if value >= 0.1 else 3
    return f"{value:,.{digits}f}{unit}" if unit == "×" else f"{value:,.{digits}f} {unit}"


def describe_goal(table: Table, row: Row) -> tuple[str, str]:
    """Return the goal of a row as text and, if it is missed, why; both empty without a goal."""
    goal = GOALS.get(table.key, {}).get(row.name)
    if goal is None:
        return "", ""
    is_speed = row.unit.endswith("/s")
    limit = goal["least"] if is_speed else goal["most"]
    is_met = row.value >= limit if is_speed else row.value <= limit
    aim = f" (aim {format_value(goal['aim'], row.unit)})" if "aim" in goal else ""
    return f"{format_value(limit, row.unit)}{aim}", "" if is_met else goal.get("why", "not explained yet")


def print_table(table: Table) -> None:
    """Print a table with its goals."""
    cells: list[tuple[str, ...]] = [("", "value", "goal", *table.columns)]
    for row in table.rows:
        goal, why_missed = describe_goal(table, row)
        value = format_value(row.value, row.unit) + (" !" if why_missed else "")
        cells.append((row.name, value, goal, *row.cells))
    widths = [max(len(line[at]) for line in cells if at < len(line)) for at in range(len(cells[0]))]
    print(f"\n{table.title}; ! marks a missed goal\n")
    for line in cells:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=False)).rstrip())


def run_git(directory: Path, *argument_lists: Sequence[str]) -> None:
    """Run git commands in a directory."""
    for arguments in argument_lists:
        subprocess.run(["git", *arguments], cwd=directory, env=ENVIRONMENT, check=True)


def write_plans(repository: Path, plans: Iterable[tuple[str, bytes]]) -> None:
    """Write plans, given as file name and content, into a new repository whose project has the file that they name."""
    directory = repository / ".agent" / "execplans"
    directory.mkdir(parents=True)
    for name, content in plans:
        (directory / name).write_bytes(content)
    (repository / "src").mkdir()
    (repository / "src" / "reader.py").touch()
    run_git(repository, ["init", "-q"])
