"""Promises 1 and 5: killed at any system call, a command leaves the old or the new, and the next one goes on from there."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import COUNTED
from tests.crash.crash_scenario import CrashScenario
from tests.crash.scenarios import SCENES
from tests.crash.sweep import SweepResult, select_kill_points, sweep
from tests.needs import need
from tests.selection import one_or_all

LONG = ("set", "undo", "done --commit", "compile", "finishing rename")
"""What is killed at one call only; `make torture` does so at all of them."""
UNDOES_MORE = ("commit",)
"""After a commit, `undo` takes back the rename that was committed, which this sweep counts as a loss."""


@pytest.mark.parametrize("name", [name for name in SCENES if name not in UNDOES_MORE])
def test_killed(tmp_path: Path, name: str, record_property: Callable[[str, object], None]) -> None:
    need("strace")
    started = time.monotonic()
    scenario = CrashScenario(tmp_path, SCENES[name])
    selected = select_kill_points(scenario.undisturbed.calls, SCENES[name].max_changes, SCENES[name].stride)
    calls = selected[len(selected) // 2 :][:1] if name in LONG else one_or_all(selected)
    swept = SweepResult(name, tuple(sweep(scenario, calls, {})), time.monotonic() - started)
    record_property(COUNTED, swept.summary)
    assert len({(kill.call.name, kill.call.nth) for kill in swept.kills}) == len(calls)
    assert not swept.bad, "\n".join(swept.bad)
