"""Sessions in which the real programs plan under the guard: their models know only what execplan tells them."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.clients.planning_model import CommandDoor, PlanningModel, ToolDoor, once_open

if TYPE_CHECKING:
    from tests.clients.agent_programs import Workbench
    from tests.clients.conftest import Results
    from tests.clients.planning_model import Door
    from tests.in_process_repository import InProcessRepository

pytestmark = pytest.mark.exhaustive

BLOCKED = ("blocked by PreToolUse hook", "guard did not allow", "hint:", "Traceback", "unsupported call", "aborted")
"""What a model reads of a call that was wrong."""


def take_to_archive(bench: Workbench, desk: InProcessRepository, door: Door) -> bool:
    """Let a model take a plan from `new` to `archive`; return whether the plan has all that both agents wrote.

    Another agent adds a task and records what it finds in the same plan.
    """

    def other_agent(turn: int) -> None:
        calls = {
            3: ["discover", "Greetings differ", "--evidence", "A list of them"],
            5: ["add", "Translate it"],
            7: ["decide", "Greet in English first", "--why", "Everybody reads it."],
        }
        if turn in calls:
            arguments = [*calls[turn], "-p", "greet-people"]
            subprocess.run(["execplan", *arguments], cwd=desk.path, env=bench.env, check=True, capture_output=True)

    model = PlanningModel(door, other_agent)
    session = bench.run(model.answer)
    read = dict([result for request in session.requests for result in request.results])
    wrong = [text for text in map(door.read, read.values()) if any([part in text for part in BLOCKED])]
    assert not wrong, wrong
    (archived,) = (desk.path / ".agent/execplans/archive").glob("*greet-people.md")
    text = archived.read_text()
    is_whole = text.count("- [x]") == 3 and all(
        [part in text for part in ("Greetings differ", "Greet in English first")]
    )
    is_committed = "Greet people" in desk.git("log", "--format=%s") and not desk.git(
        "status", "--short", ".agent/execplans"
    )
    return is_whole and is_committed


def test_an_agent_takes_a_plan_from_new_to_archive(
    bench: Workbench, desk: InProcessRepository, results: Results
) -> None:
    is_done = take_to_archive(bench, desk, CommandDoor(bench.program.command))
    results.check("an agent takes a plan from new to archive", "yes" if is_done else "no")


def test_an_agent_takes_a_plan_from_new_to_archive_by_mcp(
    bench: Workbench, desk: InProcessRepository, results: Results
) -> None:
    pytest.importorskip("mcp")
    bench.program.add_server(desk.path.parent)
    is_done = take_to_archive(bench, desk, ToolDoor(bench.program.command, str(desk.path)))
    results.check("an agent takes a plan from new to archive by MCP", "yes" if is_done else "no")


def test_a_tool_is_denied_what_its_command_is(
    guarded_bench: Workbench, desk: InProcessRepository, results: Results
) -> None:
    pytest.importorskip("mcp")
    guarded_bench.program.add_server(desk.path.parent)
    door = ToolDoor(guarded_bench.program.command, str(desk.path))
    task = {"action": "add", "text": "Greet in English first"}
    calls = [("status", {"root": "/"}), ("edit_task", {**task, "agent": "somebody"}), ("edit_task", task)]
    session = guarded_bench.run(once_open(door, calls))
    read = list(dict([result for request in session.requests for result in request.results]).values())
    denied = ["leads outside" in read[-3], "leave out agent" in read[-2]]
    is_guarded = all(denied) and desk.data("show")["tasks"][-1]["text"] == task["text"]
    results.check("the guard denies what a tool may not do", "yes" if is_guarded else f"no: {read}")
