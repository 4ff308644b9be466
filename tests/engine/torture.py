"""Runs, resumes and rollbacks that are killed at every entry, and at times all along their way: what `make torture` does."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from tests.engine.stage import NAME, Stage
from tests.engine.sweeping import Kill, points, sweep_resume, sweep_rollback, sweep_run, undisturbed

if TYPE_CHECKING:
    from pathlib import Path

TIMES = 150
"""Moments, spread evenly over a run or a rollback."""
JOBS = ("--jobs", "3")


class Tortured(NamedTuple):
    """What came of it."""

    name: str
    kills: tuple[Kill, ...]

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
    stage = Stage(folder)
    how = JOBS if name.endswith("jobs") else ()
    begun = time.monotonic()
    whole = undisturbed(stage, *how)
    lasts = time.monotonic() - begun
    if name.startswith("resume"):
        kills = sweep_resume(stage, whole, points(whole.entries), *how)
    elif name.startswith("rollback"):
        stage.back("ran")
        begun = time.monotonic()
        assert stage.run("rollback", "-p", NAME).exit == 0
        lasts = time.monotonic() - begun
        count = len(stage.entries()) - whole.entries
        at = moments(lasts) if name.endswith("times") else points(count, first=whole.entries + 1)
        kills = sweep_rollback(stage, whole, at)
    else:
        kills = sweep_run(stage, whole, moments(lasts) if name.endswith("times") else points(whole.entries), *how)
    return Tortured(name, tuple(kills))


def moments(seconds: float) -> list[str]:
    """Times of a command that takes so long."""
    return [f"at:{seconds * each / TIMES:.4f}" for each in range(1, TIMES)]


NAMES = ("run", "run jobs", "run times", "resume", "resume jobs", "rollback", "rollback times")
