"""Benchmarks of what shows many plans: `search`, `board`, `site` and `serve`, next to Backlog.md with as many tasks."""

from __future__ import annotations

import http.client
import json
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from bench_lint import PLANS, REAL_PLANS_CLOCK, clean_plans, corpus_plans, real_plans
from bench_tools import Command, Installation, Row, Table, measure_in_turns, write_plans

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
    """Measure the commands in seconds, and the time from an edit until an open page shows it."""
    make_plans, user = (real_plans, (REAL_PLANS_CLOCK,)) if corpus_plans() else (clean_plans, ())
    plans = list(make_plans(COUNT))
    repository = folder / "plans"
    write_plans(repository, plans)
    index = repository / ".git" / "execplan" / "index"
    site = folder / "site"
    plan = repository / PLANS / plans[0][0]
    edits = iter(range(10_000))

    def edit() -> None:
        plan.write_bytes(plans[0][1] + f"\nA line of run {next(edits)}.\n".encode())

    def remove(directory: Path) -> None:
        shutil.rmtree(directory, ignore_errors=True)

    def call(*arguments: str, prepare: Callable[[], object] = lambda: None) -> Command:
        return Command([installation.execplan, *arguments], repository, user=user, prepare=prepare)

    commands = {
        "search, first time": call("search", _WORD, prepare=lambda: remove(index)),
        "search, nothing changed": call("search", _WORD),
        "search, one plan changed": call("search", _WORD, prepare=edit),
        "search for the most frequent word": call("search", "the"),
        "board --plain, first time": call("board", "--plain", prepare=lambda: remove(index)),
        "board --plain, one plan changed": call("board", "--plain", prepare=edit),
        "board --plain, nothing changed": call("board", "--plain"),
    }
    if "backlog" in installation.rivals:
        tasks = _write_tasks(folder / "tasks", plans)
        backlog = installation.rivals["backlog"]
        commands["Backlog.md: search --plain"] = Command([backlog, "search", _WORD, "--plain"], tasks)
        commands["Backlog.md: board"] = Command([backlog, "board"], tasks)
    usages = measure_in_turns(commands, min(runs, 5))
    sites = {
        "site, first time": call("site", "--out", str(site), prepare=lambda: remove(site)),
        "site, one plan changed": call("site", "--out", str(site), prepare=edit),
        "site, nothing changed": call("site", "--out", str(site)),
    }
    usages |= measure_in_turns(sites, min(runs, 3))
    rows = [Row(name, usage.seconds, "s", (f"{usage.peak_bytes / 1e6:.0f} MB",)) for name, usage in usages.items()]
    rows.append(
        Row(
            "serve, from an edit to the new page",
            _live_update_seconds(installation, repository, plan, edit),
            "s",
            ("",),
        )
    )
    megabytes = sum([len(content) for _, content in plans]) / 1e6
    return [Table("board", f"What shows {COUNT:,} plans ({megabytes:.0f} MB), in seconds", rows, ("peak memory",))]


def _live_update_seconds(installation: Installation, repository: Path, plan: Path, edit: Callable[[], None]) -> float:
    """Return the median time from an edit of a plan until a browser has its new page, in seconds."""
    command = [installation.execplan, "serve", "--port", "0", "--json"]
    with subprocess.Popen(command, cwd=repository, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = json.loads(server.stdout.readline())["data"]["port"]
        page = f"/plans/{plan.stem}.html"
        _get(port, page).read()
        events = _get(port, "/events")
        _read_event(events, "start")
        seconds = []
        for _ in range(5):
            time.sleep(1)
            begin = time.perf_counter()
            edit()
            _read_event(events, "change")
            _get(port, page).read()
            seconds.append(time.perf_counter() - begin)
        server.terminate()
    return statistics.median(seconds)


def _get(port: int, path: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request("GET", path)
    return connection.getresponse()


def _read_event(response: http.client.HTTPResponse, name: str) -> None:
    """Read a stream of events up to the end of the next one with a name."""
    while response.readline().strip() != f"event: {name}".encode():
        pass
    while response.readline().strip():
        pass


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
