"""Benchmark of steps on a cluster: 200 independent steps on one worker and on four, on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench_start import approve, user_variables
from bench_tools import ENVIRONMENT, Installation, Row, Table, run_git, write_plans

STEPS = 200
WORKERS = (1, 4)
COMMANDS = {
    "steps that sleep for half a second": "sleep 0.5",
    "steps that compute": "i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done",
}
_PLAN = "2026-01-02_work"
_HEAD = "# Do the work\n\n## Progress\n\n- [ ] Do it\n\n## Concrete Steps\n"
_SETTINGS = '[execution]\nsandbox = "off"\nsteps = 1000\nfiles = 1000\ncheckpoint_interval = 1000\n'


def measure_executors(folder: Path, runs: int, installation: Installation) -> list[Table]:
    """Measure the speed-up of 200 independent steps by four workers; each time is that of one run."""
    return [measure_speed_up(folder, STEPS, installation)]


def measure_speed_up(folder: Path, steps: int, installation: Installation) -> Table:
    """Measure the time of this many steps with each number of workers, for each kind of step."""
    rows = []
    for name, command in COMMANDS.items():
        seconds = {}
        for workers in WORKERS:
            with start_cluster(workers, installation) as address:
                repository = create_repository(folder / f"{name}-{workers}", steps, command, installation)
                seconds[workers] = time_run(repository, address, installation)
        times = tuple([f"{seconds[workers]:.1f} s" for workers in WORKERS])
        rows.append(Row(name, seconds[WORKERS[0]] / seconds[WORKERS[-1]], cells=times))
    columns = tuple([f"{workers} worker{'s' if workers > 1 else ''}" for workers in WORKERS])
    title = f"{steps} independent steps: speed-up by {WORKERS[-1]} workers, on {os.cpu_count()} processors"
    return Table("executors", title, rows, columns)


def create_repository(folder: Path, steps: int, command: str, installation: Installation) -> Path:
    """Create a repository with an approved plan of independent steps that may travel."""
    repository, user = folder / "repository", folder / "user"
    write_plans(repository, [])
    (repository / "input.txt").write_text("1\n", encoding="utf-8")
    code_blocks = [
        f"\n```sh {{#s{number} inputs=input.txt outputs=out-{number}.txt shell=sh parallel}}\n"
        f"{command}; cat input.txt >out-{number}.txt\n```\n"
        for number in range(steps)
    ]
    plan = repository / ".agent" / "execplans" / f"{_PLAN}.md"
    plan.write_text(
        _HEAD + f"\n```text {{execution max-steps={steps}}}\nIndependent steps.\n```\n" + "".join(code_blocks), "utf-8"
    )
    (user / "execplan").mkdir(parents=True)
    (user / "execplan" / "config.toml").write_text(_SETTINGS, encoding="utf-8")
    run_git(repository, ["add", "-A"], ["commit", "-q", "-m", "First"])
    approve(repository, user_variables(user), installation)
    return repository


def time_run(repository: Path, address: str, installation: Installation) -> float:
    """Return the seconds of a run on a cluster."""
    began = time.monotonic()
    command = [installation.execplan, "run", _PLAN, "-q", "--executor", address]
    env = ENVIRONMENT | dict(user_variables(repository.parent / "user"))
    subprocess.run(command, cwd=repository, env=env, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


@contextmanager
def start_cluster(workers: int, installation: Installation) -> Iterator[str]:
    """Start a scheduler and workers with one thread each; yield the value for `--executor`."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch, "scheduler.json")
        options = ["--scheduler-file", str(file), "--host", "127.0.0.1", "--no-dashboard"]
        env = {**os.environ, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
        commands = [["scheduler", *options, "--port", "0"]] + [
            ["worker", *options, "--nthreads", "1", "--no-nanny", "--memory-limit", "0"] for _ in range(workers)
        ]
        processes = [
            subprocess.Popen(
                [installation.python, "-m", "dask", *command],
                cwd=scratch,
                env=env,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for command in commands
        ]
        try:
            while not file.exists() or not file.read_text(encoding="utf-8"):
                time.sleep(0.1)
            time.sleep(2 + workers)  # until all workers have joined
            yield json.loads(file.read_text(encoding="utf-8"))["address"].replace("tcp://", "dask://")
        finally:
            for process in reversed(processes):
                process.terminate()
                process.wait()
