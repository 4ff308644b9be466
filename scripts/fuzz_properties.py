"""Search for inputs that break the property tests, for FUZZ_SECONDS (60) but at least one round over all of them.

`make test-all` tries the same examples everywhere; here hypothesis draws new ones in every round. A finding is printed in
the form of an `@example`, and the report is saved in `.fuzz/properties`. Add the example to the test when you fix the
problem; until then, the next search tries it first. The exit status is 1 if there is a finding. FUZZ_JOBS (2) is the
number of processes. FUZZ_SEED, a hexadecimal number, is the seed of the first round: CI derives it from the files of
the commit, so that each commit is searched differently and the search can be repeated.
"""

from __future__ import annotations

import math
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from tests.examples import DATABASE, SEED, UNTIL  # noqa: E402 - the root must be on the path first

OUT = ROOT / ".fuzz" / "properties"
_PASSED = 0


def main() -> int:
    """Search until the time is up or a round finds something."""
    begin = time.time()
    until = begin + float(os.environ.get("FUZZ_SECONDS", "60"))
    tests = _files_with_properties()
    OUT.mkdir(parents=True, exist_ok=True)
    seed_setting = os.environ.get("FUZZ_SEED")
    first_seed = int(seed_setting, 16) & 0xFFFFFFFF if seed_setting else None
    rounds = 0
    while not rounds or time.time() < until:
        rounds += 1
        seed = first_seed if rounds == 1 and first_seed is not None else secrets.randbits(32)
        completed = _search(tests, seed, until if rounds > 1 else math.inf)
        if completed.returncode != _PASSED:
            report = OUT / f"{seed}.txt"
            report.write_text(completed.stdout, encoding="utf-8")
            print(completed.stdout)
            print(f"Finding in round {rounds}; the report is in {report.relative_to(ROOT)}.")
            print("Add the example to the test as an @example when you fix the problem.")
            return 1
    print(f"No finding in {rounds} round{'s' if rounds > 1 else ''}, {time.time() - begin:.0f} s")
    return 0


def _files_with_properties() -> list[str]:
    """Return the test files that import hypothesis; pytest then selects their property tests."""
    files = (ROOT / "tests").rglob("test_*.py")
    return sorted(
        [str(path.relative_to(ROOT)) for path in files if "from hypothesis import" in path.read_text("utf-8")]
    )


def _search(tests: list[str], seed: int, until: float) -> subprocess.CompletedProcess[str]:
    """Run every property test once with new examples, until the time is up."""
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", "-m", "hypothesis"]
    command += ["-n", os.environ.get("FUZZ_JOBS", "2"), f"--hypothesis-seed={seed}", *tests]
    env = {**os.environ, "EXECPLAN_TESTS": "all", SEED: str(seed), UNTIL: str(until), DATABASE: str(OUT / "examples")}
    return subprocess.run(
        command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )


if __name__ == "__main__":
    sys.exit(main())
