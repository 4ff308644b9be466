"""Which plan a command about a run takes where none is named: the one with a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.execution.engine.agent_runs.agent import COPY, HEAD, MAKE
from tests.plans import CLEAN

if TYPE_CHECKING:
    from tests.execution.engine.agent_runs.agent import Agent

OTHER = "2026-01-02_other"


def test_report_takes_the_only_plan_with_a_run(agent: Agent) -> None:
    agent.plan_steps(MAKE, COPY).make_file()
    assert agent.report_completed("make")["next_steps"] == ["copy"]
    agent.plan(CLEAN, OTHER)
    agent.plan(CLEAN, "2026-01-03_third")
    agent.write("out.txt", "y = 1\n")
    assert agent.report_completed("copy")["status"] == "completed"


def test_the_first_report_takes_the_only_plan_with_an_approval(agent: Agent) -> None:
    agent.plan_steps(MAKE, COPY).make_file()
    agent.plan(CLEAN, OTHER)
    assert agent.report_completed("make")["next_steps"] == ["copy"]


def test_a_run_that_has_not_ended_comes_before_the_only_open_plan(agent: Agent) -> None:
    agent.plan_steps(MAKE, COPY).make_file()
    agent.report_completed("make")
    path = next(agent.path.glob(".agent/execplans/*.md"))
    path.write_text(path.read_text().replace("- [ ]", "- [x] (2026-01-01 00:00Z)"))
    agent.plan(CLEAN, OTHER)
    assert agent.refused(3, "no-such-step", "report", "nothing", "--status", "failed", "--result", "No.")
    assert agent.type("rollback", "--dry-run").exit == 0


def test_with_a_run_of_each_of_two_plans_it_is_that_of_the_only_open_plan(agent: Agent) -> None:
    agent.plan_steps(MAKE, COPY).make_file()
    agent.report_completed("make")
    agent.plan(HEAD + MAKE.replace("made.py", "too.py"), OTHER)
    digest = agent.data("evaluate", OTHER)["digest"]
    agent.data("approve", OTHER, "--digest", digest[:8], "--allow-inferred")
    agent.write("src/deep/too.py", "X = 1\n")
    agent.report_completed("make", "-p", OTHER)
    agent.write("out.txt", "y = 1\n")
    assert agent.report_completed("copy")["status"] == "completed"  # the run of the other plan has ended
    assert {plan_data["id"]: plan_data["state"] for plan_data in agent.data("list")["plans"]}[OTHER] != "complete"
    assert agent.data("rollback", "--dry-run")["removed"] == ["src/deep/too.py"]


def test_the_variable_comes_before_a_run(agent: Agent) -> None:
    agent.plan_steps(MAKE, COPY).make_file()
    agent.report_completed("make")
    agent.plan(CLEAN, OTHER)
    agent.patch.setenv("EXECPLAN_PLAN", OTHER)
    assert (
        agent.refused(3, "no-such-run", "rollback", "--dry-run")["message"] == f"{OTHER} was never run: it has no steps"
    )


def test_resume_rollback_and_replan_take_the_only_plan_with_a_run(agent: Agent) -> None:
    agent.plan_steps(MAKE.replace("#make", "#make confirm"))
    assert agent.type("run").exit == 8
    agent.plan(CLEAN, OTHER)
    for call in (["resume", "--dry-run"], ["rollback", "--dry-run"], ["replan", "--reason", "It is.", "--dry-run"]):
        assert agent.type(*call).exit == 0, call
