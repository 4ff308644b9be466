"""Many agents that edit several plans at once: no edit is lost, and whoever lists the plans sees whole ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from execplan.core.plan import reader
from tests.conftest import Folder
from tests.core.edits import agent_on_many_plans
from tests.plans import CLEAN

AGENTS = 8
PLANS = 4
ROOT = Path(__file__).resolve().parent.parent.parent.parent


def start(repo: Folder, agent: int) -> subprocess.Popen[bytes]:
    """Start an agent."""
    argv = [sys.executable, "-m", "tests.core.edits.agent_on_many_plans", str(agent)]
    environment = {**repo.env, "PYTHONPATH": str(ROOT), "EXECPLAN_AUTHOR": f"agent-{agent}"}
    return subprocess.Popen(argv, cwd=repo.path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_agents_lose_no_edit(repo: Folder) -> None:
    paths = [repo.plan(CLEAN, f"2026-01-01_plan-{number}") for number in range(PLANS)]
    agents = [start(repo, agent) for agent in range(AGENTS)]
    while any([agent.poll() is None for agent in agents]):
        states = {plan["state"] for plan in repo.ok("list", "--json")["plans"]}
        assert states == {"active"}
    for agent in agents:
        out, err = agent.communicate()
        assert agent.returncode == 0, (out, err)
    plans = [reader.read(path.read_bytes()) for path in paths]
    done = [task.text for plan in plans for task in plan.tasks if task.mark == "x"]
    decisions = [entry.text for plan in plans for entry in plan.decisions]
    discoveries = [entry.text for plan in plans for entry in plan.discoveries]
    for agent_number in range(AGENTS):
        for number in range(agent_on_many_plans.ROUNDS):
            text = agent_on_many_plans.marker(agent_number, number)
            counts = (
                done.count(f"Task of {text}."),
                decisions.count(f"Choice of {text}."),
                discoveries.count(f"Fact of {text}."),
            )
            assert counts == (1, 1, 1), text
