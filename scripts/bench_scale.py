"""Benchmark of commands in a repository of 100,000 files with 10,000 plans: without the index, unchanged, one changed."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

from bench_lint import REAL_PLANS_CLOCK, corpus_plans
from bench_repository import FILES, NESTED, PLANS, large_repository
from bench_tools import Command, Installation, Row, Table, Usage, run_command

_READ = "import os; [open(each.path, 'rb').read() for folder in {} for each in os.scandir(folder) if each.is_file()]"
_STAT = "import os; [os.lstat(each.path) for folder in {} for each in os.scandir(folder)]"
_WALK = "import os; [os.lstat(os.path.join(folder, name)) for folder, _, names in os.walk('.') for name in names]"
_COMMANDS = {
    "list": (),
    "list --all": ("list", "--all"),
    "status": (),
    "next": (),
    "board --plain": ("board", "--plain"),
    "search parser": ("search", "parser"),
    "lint": (),
    "doctor": (),
}
"""Commands by name, with their arguments where these are more than the name."""
_RUNS = 3
_FIRST, _UNCHANGED, _ONE_CHANGED = "first time", "nothing changed", "one plan changed"
_MARGIN = 2.1
"""Seconds after which a file that was just changed is believed to be unchanged."""


def measure_scale(_folder: Path, _runs: int, installation: Installation) -> list[Table]:
    """Measure processor time, because other work on the machine doesn't change it, relative to reading and to stat."""
    repository = large_repository(corpus_plans())
    plan = next((repository / ".agent" / "execplans").glob("*.md"))
    original = plan.read_bytes()
    caches = repository / ".git" / "execplan"
    edits = iter(range(10_000))

    def edit() -> None:
        plan.write_bytes(original + f"\nA line of run {next(edits)}.\n".encode())

    def measure(argv: list[str], prepare: Callable[[], object] = lambda: None, runs: int = _RUNS) -> Usage:
        command = Command(argv, repository, prepare, exits=(0, 1, 3), user=(REAL_PLANS_CLOCK,))
        usages = []
        for _ in range(runs):
            prepare()
            usages.append(run_command(command))
        return min(usages, key=lambda usage: usage.cpu_seconds)

    codes = (_READ.format(_folders()), _STAT.format(_folders()), _WALK)
    read, stat, walk = (measure([installation.python, "-I", "-c", code]) for code in codes)
    usages: dict[str, dict[str, Usage]] = {}
    for name, arguments in _COMMANDS.items():
        argv = [installation.execplan, *(arguments or (name,))]
        usages[name] = {
            _FIRST: measure(argv, lambda: shutil.rmtree(caches, ignore_errors=True), runs=1),
            _UNCHANGED: measure(argv),
            _ONE_CHANGED: measure(argv, edit),
        }
        plan.write_bytes(original)
    touched = measure([installation.execplan, "list", "--all"], lambda: _touch_all(repository))
    title = f"{PLANS:,} plans in {FILES:,} files, in seconds of processor time"
    rows = [
        Row("walk and stat of all files", walk.cpu_seconds, "s", ("", "", _format_bytes(walk))),
        Row("walk and stat of all plans", stat.cpu_seconds, "s", ("", "", _format_bytes(stat))),
        Row("read all plans once", read.cpu_seconds, "s", ("", "", _format_bytes(read))),
        *[_make_row(name, command_usages) for name, command_usages in usages.items()],
        _make_row("list --all, all plans touched", {_UNCHANGED: touched}),
    ]
    listed = usages["list --all"]
    ratios = [
        Row("first time, of reading all plans", listed[_FIRST].cpu_seconds / read.cpu_seconds),
        Row("all plans touched, of reading all plans", touched.cpu_seconds / read.cpu_seconds),
        Row("nothing changed, of walk and stat of all files", listed[_UNCHANGED].cpu_seconds / walk.cpu_seconds),
        Row("nothing changed, of walk and stat of all plans", listed[_UNCHANGED].cpu_seconds / stat.cpu_seconds),
    ]
    return [
        Table("scale", title, rows, ("first time", "one plan changed", "peak memory")),
        Table("scale-list", f"`list --all` of {PLANS:,} plans", ratios),
    ]


def _folders() -> list[str]:
    """Return the directories of plans."""
    bases = ["", *[f"{name}/" for name in NESTED]]
    return [f"{base}.agent/execplans{part}" for base in bases for part in ("", "/archive")]


def _touch_all(repository: Path) -> None:
    """Give all plans another time of change, as a checkout of another branch and back does."""
    for folder in _folders():
        for path in (repository / folder).glob("*.md"):
            path.touch()
    time.sleep(_MARGIN)


def _make_row(name: str, usages: dict[str, Usage]) -> Row:
    cells = [f"{usages[key].cpu_seconds:.2f} s" if key in usages else "" for key in (_FIRST, _ONE_CHANGED)]
    peak = max([usage.peak_bytes for usage in usages.values()])
    return Row(name, usages[_UNCHANGED].cpu_seconds, "s", (*cells, f"{peak / 1e6:.0f} MB"))


def _format_bytes(usage: Usage) -> str:
    return f"{usage.peak_bytes / 1e6:.0f} MB"
