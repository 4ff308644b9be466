"""Killed at any entry of its journal, a run is resumed and comes to what it comes to undisturbed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.conftest import COUNTED
from tests.engine.stage import Stage
from tests.engine.sweeping import points, sweep_rollback, sweep_run, told, undisturbed

EVERY = 23
"""Which of the boundaries are tried here, every so manieth; `make torture` tries them all."""


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """A plan that is approved."""
    return Stage(tmp_path_factory.mktemp("stage"))


def test_killed_at_an_entry(stage: Stage, record_property: Callable[[str, object], None]) -> None:
    whole = undisturbed(stage)
    kills = sweep_run(stage, whole, [*points(whole.entries, EVERY), f"after:{whole.entries}"])
    record_property(COUNTED, f"run: killed at {len(kills)} of {2 * whole.entries} boundaries of entries, and resumed")
    assert not told(kills), told(kills)


def test_killed_at_an_entry_with_steps_beside_each_other(stage: Stage) -> None:
    whole = undisturbed(stage, "--jobs", "2")
    kills = sweep_run(stage, whole, points(whole.entries, EVERY * 2 + 1), "--jobs", "2")
    assert not told(kills), told(kills)


def test_a_rollback_that_is_killed(stage: Stage, record_property: Callable[[str, object], None]) -> None:
    whole = undisturbed(stage)
    stage.back("ran")
    assert stage.run("rollback").exit == 0
    entries = len(stage.entries()) - whole.entries
    kills = sweep_rollback(stage, whole, points(entries, EVERY, whole.entries + 1))
    record_property(COUNTED, f"rollback: killed at {len(kills)} of {2 * entries} boundaries of entries, and done again")
    assert not told(kills), told(kills)
