"""Promises 1 and 5: killed at any system call, a command leaves the old or the new, and the next one goes on from there."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import COUNTED
from tests.crash.bench import Bench
from tests.crash.scenes import SCENES
from tests.crash.sweep import Swept, bounded, sweep
from tests.needs import need

LONG = ("set", "undo", "done --commit", "commit", "compile", "finishing rename")
"""What is left to `make torture`."""


@pytest.mark.parametrize("name", [name for name in SCENES if name not in LONG])
def test_killed(tmp_path: Path, name: str, record_property: Callable[[str, object], None]) -> None:
    need("strace")
    begun = time.monotonic()
    bench = Bench(tmp_path, SCENES[name])
    calls = bounded(bench.undisturbed.calls, SCENES[name].most, SCENES[name].every)
    swept = Swept(name, tuple(sweep(bench, calls, {})), time.monotonic() - begun)
    record_property(COUNTED, swept.line)
    assert len({(each.call.name, each.call.nth) for each in swept.kills}) == len(calls)
    assert not swept.bad, "\n".join(swept.bad)
