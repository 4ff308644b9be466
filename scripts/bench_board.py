"""Benchmarks of `search` and `board`, next to Backlog.md with as many tasks."""

from __future__ import annotations

import shutil
from pathlib import Path

from bench_lint import PLANS, REAL_PLANS_CLOCK, clean_plans, corpus_plans, real_plans
from bench_tools import ROOT, Command, Installation, Row, Table, measure_in_turns, write_plans

COUNT = 1_000
_WORD = "parser"
_TASK = """\
---
id: TASK-{0}
title: Task {0}
status: {1}
assignee: []
created_date: '2026-01-02 00:00'
labels: []
dependencies: []
ordinal: {0}000
---

## Description

<!-- SECTION:DESCRIPTION:BEGIN -->
{2}
<!-- SECTION:DESCRIPTION:END -->
"""
_CONFIG = """\
project_name: "Bench"
default_status: "To Do"
statuses: ["To Do", "In Progress", "Done"]
date_format: yyyy-mm-dd
max_column_width: 20
auto_open_browser: false
remote_operations: false
auto_commit: false
filesystem_only: true
check_active_branches: false
task_prefix: "task"
"""
"""Settings of Backlog.md without git, so that it only reads files."""


def measure_board(folder: Path, runs: int, installation: Installation) -> list[Table]:
    """Measure commands that show all plans, relative to the start of Python."""
    make_plans, user = (real_plans, (REAL_PLANS_CLOCK,)) if corpus_plans() else (clean_plans, ())
    plans = list(make_plans(COUNT))
    repository = folder / "plans"
    write_plans(repository, plans)
    index = repository / ".git" / "execplan" / "search"
    plan = repository / PLANS / plans[0][0]
    edits = iter(range(10_000))

    def edit() -> None:
        plan.write_bytes(plans[0][1] + f"\nA line of run {next(edits)}.\n".encode())

    def call(*arguments: str) -> Command:
        return Command([installation.execplan, *arguments], repository, user=user)

    commands = {
        "python": Command([installation.python, "-I", "-c", "pass"], repository),
        "search, first time": call("search", _WORD)._replace(prepare=lambda: shutil.rmtree(index, ignore_errors=True)),
        "search, nothing changed": call("search", _WORD),
        "search, one plan changed": call("search", _WORD)._replace(prepare=edit),
        "search for the most frequent word": call("search", "the"),
    }
    if (ROOT / "execplan" / "cli" / "commands" / "board.py").exists():
        commands["board --plain"] = call("board", "--plain")
    if "backlog" in installation.rivals:
        tasks = _write_tasks(folder / "tasks", plans)
        backlog = installation.rivals["backlog"]
        commands["Backlog.md: search --plain"] = Command([backlog, "search", _WORD, "--plain"], tasks)
        commands["Backlog.md: board"] = Command([backlog, "board"], tasks)
    usages = measure_in_turns(commands, min(runs, 5))
    megabytes = sum([len(content) for _, content in plans]) / 1e6
    base = usages["python"].seconds
    rows = [
        Row(name, usage.seconds / base, cells=(f"{usage.seconds:.2f} s", f"{usage.peak_bytes / 1e6:.0f} MB"))
        for name, usage in usages.items()
        if name != "python"
    ]
    title = f"Search and board of {COUNT:,} plans ({megabytes:.0f} MB), relative to the start of Python"
    return [Table("board", title, rows, ("time", "peak memory"))]


def _write_tasks(directory: Path, plans: list[tuple[str, bytes]]) -> Path:
    """Write tasks of Backlog.md that have the texts of the plans."""
    tasks = directory / "backlog" / "tasks"
    tasks.mkdir(parents=True)
    (directory / "backlog" / "config.yml").write_text(_CONFIG, encoding="utf-8")
    statuses = ("To Do", "In Progress", "Done")
    for number, (_, content) in enumerate(plans, 1):
        text = content.decode("utf-8", "replace")
        task = _TASK.format(number, statuses[number % 3], text)
        (tasks / f"task-{number} - Task-{number}.md").write_text(task, encoding="utf-8")
    return directory
