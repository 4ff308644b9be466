"""Promise 2: where the disk is full or broken, a command refuses and leaves the old bytes, at whichever call it fails."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import COUNTED
from tests.crash.crash_scenario import CrashScenario
from tests.crash.faults import FaultSweep, errors, inject
from tests.crash.scenarios import SCENES
from tests.crash.sweep import spread_evenly
from tests.needs import need

pytestmark = pytest.mark.exhaustive

MAX_ERRORS = {"done": 12, "archive": 16, "rename": 8, "new": 8, "attach": 8, "lint --fix": 8}
"""How many errors are injected here; `make torture` injects them all."""


@pytest.mark.parametrize("name", MAX_ERRORS)
def test_errors(tmp_path: Path, name: str, record_property: Callable[[str, object], None]) -> None:
    need("strace")
    scenario = CrashScenario(tmp_path, SCENES[name])
    candidates = errors(scenario.undisturbed.calls)
    fault_sweep = FaultSweep(
        name,
        tuple(inject(scenario, [candidates[at] for at in spread_evenly(range(len(candidates)), MAX_ERRORS[name])])),
    )
    record_property(COUNTED, fault_sweep.summary)
    assert not fault_sweep.bad, "\n".join(fault_sweep.bad)
