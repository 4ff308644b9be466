"""A report that is killed at an entry of the journal, and made again in the same words, comes to what it comes to undisturbed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from execplan.execution import states
from tests.execution.engine.agent_runs.agent import MAKE

if TYPE_CHECKING:
    from tests.execution.engine.agent_runs.agent import Agent

LINE = ("report", "make", "--status", "completed", "--result", "As planned.")


@pytest.mark.parametrize("when", ["after:1", "after:3", "before:5"])
def test_a_report_that_is_killed(agent: Agent, when: str) -> None:
    agent.plan_steps(MAKE).make_file()
    assert agent.run(*LINE, EXECPLAN_KILL=when).exit == -9
    assert agent.type(*LINE).exit == 0
    assert agent.last_run().run_state.status == states.COMPLETED
    assert agent.entry_kinds() == ["begun", "intent", "result", "ticked", "ended"]
    assert agent.type("show", "--section", "Progress").out.count("[x]") == 1
    agent.refused(1, "nothing-to-resume", "resume")
    assert agent.type("audit", "--verify").exit == 0
    assert agent.type("rollback").exit == 0
    assert not (agent.path / "src/deep/made.py").exists()


def test_a_failure_that_is_killed_before_its_end(agent: Agent) -> None:
    agent.plan_steps(MAKE)
    line = ("report", "make", "--status", "failed", "--result", "No disk.")
    assert agent.run(*line, EXECPLAN_KILL="after:3").exit == -9
    agent.type(*line)
    assert agent.entry_kinds() == ["begun", "intent", "result", "ended"]
    assert agent.last_run().run_state.status == states.FAILED
