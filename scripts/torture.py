"""Kill every verb that writes at every system call, and let every call that touches the repository fail; print what came of it.

Run it with `make torture`, or by verb: `python scripts/torture.py done archive`. It needs strace, and unshare for artifacts on
another file system. It exits 1 when anything is not as promised.
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
from queue import SimpleQueue
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.crash.bench import Bench  # noqa: E402  the path above comes first
from tests.crash.faults import Failed, Fault, errors, inject  # noqa: E402  as above
from tests.crash.scenes import SCENES  # noqa: E402  as above
from tests.crash.strace import Call  # noqa: E402  as above
from tests.crash.sweep import BETWEEN, MISSED, NEW, OLD, Kill, Swept, sweep  # noqa: E402  as above
from tests.needs import missing  # noqa: E402  as above

ELSEWHERE = ("archive", "restore")
HEAD = ("verb", "kill points", "old", "new", "between", "finished", "missed", "bad", "seconds")
_PART = 24
T = TypeVar("T")
R = TypeVar("R")


def main() -> int:
    """Sweep, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("verbs", nargs="*", default=list(SCENES), metavar="VERB", help=f"of: {', '.join(SCENES)}")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1, help="how many at a time")
    parser.add_argument("--kills", action="store_true", help="no errors of the disk")
    given = parser.parse_args()
    for name in given.verbs:
        if name not in SCENES:
            parser.error(f"no such verb: {name}; there are: {', '.join(SCENES)}")
    why = missing("strace")
    if why is not None:
        print(f"torture needs strace: {why}", file=sys.stderr)
        return 1
    os.environ.setdefault("PYTHONPATH", str(ROOT))
    bad: list[str] = []
    print("".join([f"{each:>{22 if each == 'verb' else 12}}" for each in HEAD]), flush=True)
    for name in given.verbs:
        bad += _kills(name, given.jobs)
    if not given.kills:
        for name in given.verbs:
            bad += _faults(name, given.jobs)
        for name in ELSEWHERE:
            bad += _elsewhere(name) if name in given.verbs else []
    print("\n".join(["", *bad, f"{len(bad)} bad"]))
    return 1 if bad else 0


def _kills(name: str, jobs: int) -> list[str]:
    """A row of the table: the verb, killed at every call but the one that begins the program."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="execplan-torture-") as folder:
        benches = _benches(Path(folder), name, jobs)
        known: dict[int, dict[str, Kill]] = {id(bench): {} for bench in benches}
        calls = [call for call in benches[0].undisturbed.calls if call.number > 1]

        def part(bench: Bench, some: list[Call]) -> list[Kill]:
            return sweep(bench, some, known[id(bench)])

        kills = _shared(benches, [calls[at : at + _PART] for at in range(0, len(calls), _PART)], part)
    swept = Swept(name, tuple(kills), time.monotonic() - begun)
    figures = (
        len(kills),
        swept.count(OLD),
        swept.count(NEW),
        swept.count(BETWEEN),
        swept.finished,
        swept.count(MISSED),
        len(swept.bad),
    )
    print(f"{name:>22}" + "".join([f"{each:>12,}" for each in (*figures, round(swept.seconds))]), flush=True)
    return swept.bad


def _faults(name: str, jobs: int) -> list[str]:
    """A line: the verb, with each error at each call."""
    with tempfile.TemporaryDirectory(prefix="execplan-torture-") as folder:
        benches = _benches(Path(folder), name, jobs)
        points = errors(benches[0].undisturbed.calls)
        parts = [points[at : at + _PART] for at in range(0, len(points), _PART)]
        faults: list[Fault] = _shared(benches, parts, inject)
    failed = Failed(name, tuple(faults))
    print(failed.line, flush=True)
    return failed.bad


def _elsewhere(name: str) -> list[str]:
    """A line: the verb, killed at every call that changes something, with artifacts on another file system."""
    why = missing("unshare")
    if why is not None:
        return [f"{name}, other file system: needs unshare: {why}"]
    with tempfile.TemporaryDirectory(prefix="execplan-torture-") as folder:
        command = [sys.executable, "-m", "tests.crash.elsewhere", folder, name, "100000"]
        done = subprocess.run(["unshare", "-rm", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        return [f"{name}, other file system: {done.stderr}"]
    found = json.loads(done.stdout)
    print(found["line"], flush=True)
    bad: list[str] = found["bad"]
    return bad


def _benches(folder: Path, name: str, jobs: int) -> list[Bench]:
    """So many places for the scene; each makes the same calls."""
    benches = [Bench(folder / str(number), SCENES[name]) for number in range(jobs)]
    for bench in benches[1:]:
        names = [[call.name for call in each.undisturbed.calls] for each in (benches[0], bench)]
        assert names[0] == names[1], f"{name}: two undisturbed runs make different calls"
    return benches


def _shared(benches: list[Bench], parts: list[list[T]], work: Callable[[Bench, list[T]], list[R]]) -> list[R]:
    """What comes of the parts of the work, in their order, each done at a bench that is free."""
    free: SimpleQueue[Bench] = SimpleQueue()
    for bench in benches:
        free.put(bench)

    def at_one(part: list[T]) -> list[R]:
        bench = free.get()
        try:
            return work(bench, part)
        finally:
            free.put(bench)

    with ThreadPoolExecutor(len(benches)) as pool:
        return [each for done in pool.map(at_one, parts) for each in done]


if __name__ == "__main__":
    sys.exit(main())
