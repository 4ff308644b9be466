"""The sweep where artifacts lie on another file system: `unshare -rm python -m tests.crash.other_filesystem FOLDER VERB MOST`."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from tests.crash.crash_scenario import CrashScenario
from tests.crash.scenarios import SCENES
from tests.crash.strace import Call
from tests.crash.sweep import SweepResult, spread_evenly, sweep


def main(folder: str, name: str, limit: str) -> None:
    """Sweep over the calls that change something, evenly, and print the counts and what is bad."""
    started = time.monotonic()
    scenario = CrashScenario(Path(folder), SCENES[name], mounted=True)
    calls = [call for call in scenario.undisturbed.calls if call.changes]
    selected: list[Call] = [calls[at] for at in spread_evenly(range(len(calls)), int(limit))]
    swept = SweepResult(f"{name}, other file system", tuple(sweep(scenario, selected, {})), time.monotonic() - started)
    print(json.dumps({"line": swept.summary, "bad": swept.bad, "calls": [call.line for call in calls]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
