"""Kill commands at every system call, make every call fail, and kill runs at every journal entry; print the results.

Run it with `make torture`, or by name: `python scripts/torture.py done "run jobs"`. It needs strace, and unshare for
artifacts on another file system. The exit status is 1 if a promise is broken.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.crash.crash_scenario import CrashScenario  # noqa: E402  the path above comes first
from tests.crash.faults import FaultSweep, errors, inject  # noqa: E402  as above
from tests.crash.scenarios import SCENES  # noqa: E402  as above
from tests.crash.sweep import BETWEEN, MISSED, NEW, OLD, SweepResult, sweep  # noqa: E402  as above
from tests.execution.engine.torture import NAMES as RUNS  # noqa: E402  as above
from tests.execution.engine.torture import torture  # noqa: E402  as above
from tests.needs import missing  # noqa: E402  as above

ELSEWHERE = ("archive", "restore")
HEAD = ("verb", "kill points", "old", "new", "between", "finished", "missed", "bad", "seconds")


def main() -> int:
    """Run the tests, and print a table of the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    known_names = [*SCENES, *RUNS]
    parser.add_argument("verbs", nargs="*", default=known_names, metavar="VERB", help=f"of: {', '.join(known_names)}")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1, help="number of parallel jobs")
    parser.add_argument("--kills", action="store_true", help="skip the disk errors")
    arguments = parser.parse_args()
    for name in arguments.verbs:
        if name not in known_names:
            parser.error(f"no such verb: {name}; there are: {', '.join(known_names)}")
    why = missing("strace")
    if why is not None:
        print(f"torture needs strace: {why}", file=sys.stderr)
        return 1
    os.environ.setdefault("PYTHONPATH", str(ROOT))
    runs = [name for name in arguments.verbs if name in RUNS]
    arguments.verbs = [name for name in arguments.verbs if name in SCENES]
    work: list[tuple[Callable[[str], WorkResult], str]] = [(_runs, name) for name in runs]
    work += [(_kills, name) for name in arguments.verbs]
    if not arguments.kills:
        work += [(_faults, name) for name in arguments.verbs if "commit" not in name and not SCENES[name].interrupted]
        work += [(_elsewhere, name) for name in ELSEWHERE if name in arguments.verbs]
    print("".join([f"{column:>{22 if column == 'verb' else 12}}" for column in HEAD]), flush=True)
    bad: list[str] = []
    # A command always has the same path: the order of Python's sets depends on it, and so does the order of calls.
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for result in pool.map(lambda job: job[0](job[1]), work):
            print(result.line, flush=True)
            bad += result.bad
    print("\n".join(["", *bad, f"{len(bad)} bad"]))
    return 1 if bad else 0


class WorkResult(NamedTuple):
    """The result of one test: a line of output and the problems."""

    line: str
    bad: list[str]


def _kills(name: str) -> WorkResult:
    """Return a table row for a command killed at every call except the one that starts the program."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="execplan-torture-") as folder:
        scenario = CrashScenario(Path(folder), SCENES[name])
        kills = sweep(scenario, [call for call in scenario.undisturbed.calls if call.number > 1], {})
    swept = SweepResult(name, tuple(kills), time.monotonic() - begun)
    counts = [swept.count(outcome) for outcome in (OLD, NEW, BETWEEN)] + [
        swept.finished,
        swept.count(MISSED),
        len(swept.bad),
    ]
    figures = [len(kills), *counts, round(swept.seconds)]
    return WorkResult(f"{name:>22}" + "".join([f"{figure:>12,}" for figure in figures]), swept.bad)


def _runs(name: str) -> WorkResult:
    """Return a line for a run, a resume or a rollback, killed at every journal entry or at certain times."""
    with tempfile.TemporaryDirectory(prefix="execplan-torture-") as folder:
        tortured = torture(name, Path(folder))
    return WorkResult(tortured.line, tortured.bad)


def _faults(name: str) -> WorkResult:
    """Return a line for a command with each possible error at each call."""
    with tempfile.TemporaryDirectory(prefix="execplan-torture-") as folder:
        scenario = CrashScenario(Path(folder), SCENES[name])
        fault_sweep = FaultSweep(name, tuple(inject(scenario, errors(scenario.undisturbed.calls))))
    return WorkResult(fault_sweep.summary, fault_sweep.bad)


def _elsewhere(name: str) -> WorkResult:
    """Return a line for a command killed at every changing call, with artifacts on another file system."""
    title = f"{name}, other file system"
    why = missing("unshare")
    if why is not None:
        return WorkResult(f"{title}: not tried", [f"{title}: needs unshare: {why}"])
    with tempfile.TemporaryDirectory(prefix="execplan-torture-") as folder:
        command = [sys.executable, "-m", "tests.crash.other_filesystem", folder, name, "100000"]
        completed = subprocess.run(["unshare", "-rm", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    if completed.returncode:
        return WorkResult(f"{title}: failed", [f"{title}: {completed.stderr}"])
    report = json.loads(completed.stdout)
    return WorkResult(report["line"], report["bad"])


if __name__ == "__main__":
    sys.exit(main())
