"""Runs, resumes and rollbacks that are killed at every entry, and at times all along their way: what `make torture` does."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from tests.execution.engine.kill_sweep import RunKill, points, run_undisturbed, sweep_resume, sweep_rollback, sweep_run
from tests.execution.engine.run_scenario import NAME, RunScenario

if TYPE_CHECKING:
    from pathlib import Path

TIMES = 150
"""Moments, spread evenly over a run or a rollback."""
JOBS = ("--jobs", "3")


class Tortured(NamedTuple):
    """What came of it."""

    name: str
    kills: tuple[RunKill, ...]

    @property
    def bad(self) -> list[str]:
        """Everything that was not as promised."""
        return [f"{self.name}, killed {kill.at}: {why}" for kill in self.kills for why in kill.bad]

    @property
    def line(self) -> str:
        """The counts."""
        good = sum(not kill.bad for kill in self.kills)
        return f"{self.name}: killed {len(self.kills)} times, {good} as promised"


def torture(name: str, folder: Path) -> Tortured:
    """One of the NAMES, in a folder of its own."""
    scenario = RunScenario(folder)
    options = JOBS if name.endswith("jobs") else ()
    begun = time.monotonic()
    reference = run_undisturbed(scenario, *options)
    lasts = time.monotonic() - begun
    if name.startswith("resume"):
        kills = sweep_resume(scenario, reference, points(reference.entries), *options)
    elif name.startswith("rollback"):
        scenario.restore("ran")
        begun = time.monotonic()
        assert scenario.run("rollback", "-p", NAME).exit == 0
        lasts = time.monotonic() - begun
        count = len(scenario.entries()) - reference.entries
        at = moments(lasts) if name.endswith("times") else points(count, first=reference.entries + 1)
        kills = sweep_rollback(scenario, reference, at)
    else:
        kills = sweep_run(
            scenario, reference, moments(lasts) if name.endswith("times") else points(reference.entries), *options
        )
    return Tortured(name, tuple(kills))


def moments(seconds: float) -> list[str]:
    """Times of a command that takes so long."""
    return [f"at:{seconds * number / TIMES:.4f}" for number in range(1, TIMES)]


NAMES = ("run", "run jobs", "run times", "resume", "resume jobs", "rollback", "rollback times")
