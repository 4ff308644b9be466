"""Killed at any entry of its journal, a run is resumed and comes to what it comes to undisturbed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.conftest import COUNTED
from tests.execution.engine.kill_sweep import (
    describe_failures,
    points,
    run_undisturbed,
    sweep_power_failure,
    sweep_rollback,
    sweep_run,
)
from tests.execution.engine.run_scenario import RunScenario
from tests.selection import one_or_all

STRIDE = 23
"""Which of the boundaries are tried here, every so manieth; `make torture` tries them all."""


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> RunScenario:
    """A plan that is approved."""
    return RunScenario(tmp_path_factory.mktemp("stage"))


def test_killed_at_an_entry(scenario: RunScenario, record_property: Callable[[str, object], None]) -> None:
    reference = run_undisturbed(scenario)
    kills = sweep_run(
        scenario, reference, one_or_all([*points(reference.entries, STRIDE), f"after:{reference.entries}"])
    )
    record_property(
        COUNTED, f"run: killed at {len(kills)} of {2 * reference.entries} boundaries of entries, and resumed"
    )
    assert not describe_failures(kills), describe_failures(kills)


@pytest.mark.exhaustive
def test_killed_at_an_entry_with_steps_beside_each_other(scenario: RunScenario) -> None:
    reference = run_undisturbed(scenario, "--jobs", "2")
    kills = sweep_run(scenario, reference, points(reference.entries, STRIDE * 2 + 1), "--jobs", "2")
    assert not describe_failures(kills), describe_failures(kills)


def test_what_was_not_synced_is_lost_with_the_machine(scenario: RunScenario) -> None:
    reference = run_undisturbed(scenario)
    kills = sweep_power_failure(
        scenario, reference, one_or_all([*points(reference.entries, STRIDE), f"after:{reference.entries}"])
    )
    assert not describe_failures(kills), describe_failures(kills)


def test_a_rollback_that_is_killed(scenario: RunScenario, record_property: Callable[[str, object], None]) -> None:
    reference = run_undisturbed(scenario)
    scenario.restore("ran")
    assert scenario.run("rollback").exit == 0
    entries = len(scenario.entries()) - reference.entries
    kills = sweep_rollback(scenario, reference, one_or_all(points(entries, STRIDE, reference.entries + 1)))
    record_property(COUNTED, f"rollback: killed at {len(kills)} of {2 * entries} boundaries of entries, and done again")
    assert not describe_failures(kills), describe_failures(kills)
