"""The sweep where artifacts lie on another file system: `unshare -rm python -m tests.crash.elsewhere FOLDER VERB MOST`."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from tests.crash.bench import Bench
from tests.crash.scenes import SCENES
from tests.crash.strace import Call
from tests.crash.sweep import Swept, spread, sweep


def main(folder: str, name: str, most: str) -> None:
    """Sweep over the calls that change something, evenly, and print the counts and what is bad."""
    begun = time.monotonic()
    bench = Bench(Path(folder), SCENES[name], mounted=True)
    calls = [call for call in bench.undisturbed.calls if call.changes]
    chosen: list[Call] = [calls[at] for at in spread(range(len(calls)), int(most))]
    swept = Swept(f"{name}, other file system", tuple(sweep(bench, chosen, {})), time.monotonic() - begun)
    print(json.dumps({"line": swept.line, "bad": swept.bad, "calls": [call.line for call in calls]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
