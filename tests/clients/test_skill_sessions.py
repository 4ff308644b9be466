"""Instructions, skill and plugin in sessions of the real programs: what their models are offered, and what runs."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from execplan.agents.integrations import plugin, skill
from execplan.core.errors import USAGE
from tests import needs
from tests.clients.agent_programs import Codex, Workbench
from tests.clients.model_server import Use, scripted
from tests.clients.network_namespace import run_isolated
from tests.clients.planning_model import ToolDoor, once_open
from tests.clients.test_session_overview import OVERVIEW

if TYPE_CHECKING:
    from tests.clients.agent_programs import AgentProgram
    from tests.clients.conftest import Results
    from tests.in_process_repository import InProcessRepository

pytestmark = pytest.mark.exhaustive

SKILL = "Write, continue and update the ExecPlans of a repository"
"""Beginning of the skill's description, which the program lists."""
INSTRUCTION = "Write an ExecPlan for work that takes more than one session"
"""A part of the block in AGENTS.md."""
PLAN_COMMAND = "Write an ExecPlan for the request that the user gives with this skill"
"""Text of the plugin's command `plan`, which the model reads when its user calls it."""
BYPASS = "--dangerously-bypass-hook-trust"


@pytest.fixture
def codex(program: AgentProgram, desk: InProcessRepository) -> Workbench:
    """Codex in a repository with a plan, and nothing installed."""
    if not isinstance(program, Codex):
        pytest.skip("it needs a person who adds a plugin")
    return Workbench(program, desk.path, desk.env)


def _add_plugin(codex: Workbench, desk: InProcessRepository) -> bool:
    """Add the plugin; return whether this version has plugins."""
    assert desk.type("install", "plugin").exit == 0

    def add() -> list[int]:
        commands = (["marketplace", "add", plugin.default_directory()], ["add", "execplan@execplan"])
        return [
            subprocess.run(
                [needs.client("codex"), "plugin", *arguments],
                cwd=codex.root,
                env=codex.env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                timeout=60,
            ).returncode
            for arguments in commands
        ]

    statuses: list[int] = run_isolated(add)
    assert statuses in ([0, 0], [0, USAGE])
    return statuses == [0, 0]


def test_the_skill_of_a_repository_is_offered(
    program: AgentProgram, desk: InProcessRepository, results: Results
) -> None:
    workbench = Workbench(program, desk.path, desk.env)
    chosen = ["--for", program.name] if program.name in skill.DIRECTORIES else []
    assert desk.type("install", "skill", *chosen).exit == 0
    prompt, calls = program.read_skill("execplan")
    result = _skill_result(workbench, prompt, calls)
    if result == "no":
        assert desk.type("install", "skill", "--for", "claude").exit == 0
        if _skill_result(workbench, prompt, calls) == "yes":
            result = "in .claude/skills"
    results.check("the skill is offered, and read when it is called", result)


def _skill_result(workbench: Workbench, prompt: str, calls: list[Use]) -> str:
    session = workbench.run(scripted(*[[call] for call in calls]), prompt)
    if "# Work with ExecPlans" not in session.requests[-1].text:
        return "no"
    if SKILL in session.requests[0].text:
        return "yes"
    return "by its name" if "Available skills: execplan" in session.requests[0].text else "no"


def test_the_instructions_of_a_repository_are_read(
    program: AgentProgram, desk: InProcessRepository, results: Results
) -> None:
    workbench = Workbench(program, desk.path, desk.env)
    assert desk.type("install", "agents").exit == 0
    is_read = INSTRUCTION in workbench.run(scripted()).requests[0].text
    if is_read:
        results.check("AGENTS.md is read", "yes")
        return
    program.name_instructions(desk.path.parent)
    is_read = INSTRUCTION in workbench.run(scripted()).requests[0].text
    results.check("AGENTS.md is read", "if a setting names it" if is_read else "no")


def test_the_plugin_offers_its_skills_and_commands(
    codex: Workbench, desk: InProcessRepository, results: Results
) -> None:
    if not _add_plugin(codex, desk):
        results.check("the plugin's skill and commands are offered", "has no plugins")
        return
    text = codex.run(scripted(), "$execplan:plan Greet people").requests[0].text
    names = ["execplan:execplan", "execplan:plan", "execplan:next"]
    is_offered = all([f"- {name}: " in text for name in names]) and PLAN_COMMAND in text
    results.check("the plugin's skill and commands are offered", "yes" if is_offered else "no")


def test_the_plugin_s_hook_runs_once_it_is_trusted(
    codex: Workbench, desk: InProcessRepository, results: Results
) -> None:
    if not _add_plugin(codex, desk):
        pytest.skip("this version has no plugins")
    assert OVERVIEW not in codex.run(scripted()).requests[0].text
    assert isinstance(codex.program, Codex)
    codex.program.flags = (BYPASS,)
    overview_count = codex.run(scripted()).requests[0].text.count(OVERVIEW)
    results.check("the plugin's hook runs once it is trusted", "yes" if overview_count else "no")
    assert desk.type("install", "session-hooks", "--for", "codex").exit == 0
    is_once = codex.run(scripted()).requests[0].text.count(OVERVIEW) == overview_count
    results.check("with session hooks there is one overview", "yes" if is_once else "no")


def test_the_plugin_s_server_has_the_tools(codex: Workbench, desk: InProcessRepository, results: Results) -> None:
    if not plugin.has_server():
        pytest.skip("the package mcp is not installed")
    if not _add_plugin(codex, desk):
        pytest.skip("this version has no plugins")
    door = ToolDoor(codex.program.command, str(desk.path))
    session = codex.run(once_open(door, [("status", {"root": str(desk.path)})]))
    results_read = [text for request in session.requests for _, text in request.results]
    results.check("the plugin's tools work", "yes" if f'"title":"{OVERVIEW}"' in results_read[-1] else "no")
