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

from tests.crash.bench import Bench  # noqa: E402  the path above comes first
from tests.crash.faults import Failed, errors, inject  # noqa: E402  as above
from tests.crash.scenes import SCENES  # noqa: E402  as above
from tests.crash.sweep import BETWEEN, MISSED, NEW, OLD, Swept, sweep  # noqa: E402  as above
from tests.engine.torture import NAMES as RUNS  # noqa: E402  as above
from tests.engine.torture import torture  # noqa: E402  as above
from tests.needs import missing  # noqa: E402  as above

ELSEWHERE = ("archive", "restore")
HEAD = ("verb", "kill points", "old", "new", "between", "finished", "missed", "bad", "seconds")


def main() -> int:
    """Run the tests, and print a table of the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    every = [*SCENES, *RUNS]
    parser.add_argument("verbs", nargs="*", default=every, metavar="VERB", help=f"of: {', '.join(every)}")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1, help="how many at a time")
    parser.add_argument("--kills", action="store_true", help="no errors of the disk")
    given = parser.parse_args()
    for name in given.verbs:
        if name not in every:
            parser.error(f"no such verb: {name}; there are: {', '.join(every)}")
    why = missing("strace")
    if why is not None:
        print(f"torture needs strace: {why}", file=sys.stderr)
        return 1
    os.environ.setdefault("PYTHONPATH", str(ROOT))
    runs = [name for name in given.verbs if name in RUNS]
    given.verbs = [name for name in given.verbs if name in SCENES]
    work: list[tuple[Callable[[str], Told], str]] = [(_runs, name) for name in runs]
    work += [(_kills, name) for name in given.verbs]
    if not given.kills:
        work += [(_faults, name) for name in given.verbs if "commit" not in name and not SCENES[name].cut]
        work += [(_elsewhere, name) for name in ELSEWHERE if name in given.verbs]
    print("".join([f"{each:>{22 if each == 'verb' else 12}}" for each in HEAD]), flush=True)
    bad: list[str] = []
    # A command always has the same path: the order of Python's sets depends on it, and so does the order of calls.
    with ThreadPoolExecutor(given.jobs) as pool:
        for told in pool.map(lambda each: each[0](each[1]), work):
            print(told.line, flush=True)
            bad += told.bad
    print("\n".join(["", *bad, f"{len(bad)} bad"]))
    return 1 if bad else 0


class Told(NamedTuple):
    """The result of one test: a line of output and the problems."""

    line: str
    bad: list[str]


def _kills(name: str) -> Told:
    """Return a table row for a command killed at every call except the one that starts the program."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="execplan-torture-") as folder:
        bench = Bench(Path(folder), SCENES[name])
        kills = sweep(bench, [call for call in bench.undisturbed.calls if call.number > 1], {})
    swept = Swept(name, tuple(kills), time.monotonic() - begun)
    counts = [swept.count(left) for left in (OLD, NEW, BETWEEN)] + [swept.finished, swept.count(MISSED), len(swept.bad)]
    figures = [len(kills), *counts, round(swept.seconds)]
    return Told(f"{name:>22}" + "".join([f"{each:>12,}" for each in figures]), swept.bad)


def _runs(name: str) -> Told:
    """Return a line for a run, a resume or a rollback, killed at every journal entry or at certain times."""
    with tempfile.TemporaryDirectory(prefix="execplan-torture-") as folder:
        tortured = torture(name, Path(folder))
    return Told(tortured.line, tortured.bad)


def _faults(name: str) -> Told:
    """Return a line for a command with each possible error at each call."""
    with tempfile.TemporaryDirectory(prefix="execplan-torture-") as folder:
        bench = Bench(Path(folder), SCENES[name])
        failed = Failed(name, tuple(inject(bench, errors(bench.undisturbed.calls))))
    return Told(failed.line, failed.bad)


def _elsewhere(name: str) -> Told:
    """Return a line for a command killed at every changing call, with artifacts on another file system."""
    title = f"{name}, other file system"
    why = missing("unshare")
    if why is not None:
        return Told(f"{title}: not tried", [f"{title}: needs unshare: {why}"])
    with tempfile.TemporaryDirectory(prefix="execplan-torture-") as folder:
        command = [sys.executable, "-m", "tests.crash.elsewhere", folder, name, "100000"]
        done = subprocess.run(["unshare", "-rm", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        return Told(f"{title}: failed", [f"{title}: {done.stderr}"])
    found = json.loads(done.stdout)
    return Told(found["line"], found["bad"])


if __name__ == "__main__":
    sys.exit(main())
