"""Sessions of the real programs under the guard: what their models read, and what is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.clients.agent_programs import Codex
from tests.clients.model_server import Use, scripted
from tests.clients.opencode_program import Opencode
from tests.in_process_repository import NAME

if TYPE_CHECKING:
    from tests.clients.agent_programs import Workbench
    from tests.clients.conftest import Results
    from tests.in_process_repository import InProcessRepository

pytestmark = pytest.mark.exhaustive

NOTE = "Greet before you ask.\n"


def test_an_unplanned_call_is_blocked_and_the_model_reads_why(
    guarded_bench: Workbench, desk: InProcessRepository, results: Results
) -> None:
    command, create = guarded_bench.program.command, guarded_bench.program.create
    session = guarded_bench.run(
        scripted([command("touch evil.txt")], [create("other.txt", "x\n")], [command("git status")])
    )
    reasons = [session.result_of(call) for call in (0, 1)]
    is_blocked = not any([(desk.path / name).exists() for name in ("evil.txt", "other.txt")])
    assert all(["no step of 2026-01-01_parser includes this call" in reason for reason in reasons]), reasons
    assert "On branch main" in session.result_of(2)
    assert session.status == 0, session
    results.check("unplanned calls are blocked", "yes" if is_blocked else "no")


def test_a_whole_plan_is_done_and_audited(
    guarded_bench: Workbench, desk: InProcessRepository, results: Results
) -> None:
    command, create = guarded_bench.program.command, guarded_bench.program.create
    report = "execplan report {} --status completed --result 'It is done.'"
    session = guarded_bench.run(
        scripted(
            [create("notes.txt", NOTE)],
            [command(report.format("note"))],
            [command("git add --intent-to-add notes.txt")],
            [command(report.format("look"))],
        )
    )
    assert "completed step 1 (note)" in session.result_of(1), session
    assert "completed step 2 (look)" in session.result_of(3), session
    records = [record for record in desk.data("audit")["records"] if record["kind"] in ("called", "result")]
    kinds = [(record["kind"], record["said"]["step"]) for record in records]
    assert kinds == [("called", "note"), ("result", "note"), ("called", "look"), ("result", "look")]
    plan = desk.path / f".agent/execplans/{NAME}.md"
    is_complete = (desk.path / "notes.txt").read_text() == NOTE and "[x]" in plan.read_text()
    results.check("a whole plan is done and audited", "yes" if is_complete else "no")


def test_of_identical_calls_at_once_one_is_allowed(
    guarded_bench: Workbench, desk: InProcessRepository, results: Results
) -> None:
    desk.write("notes.txt", NOTE)
    command = guarded_bench.program.command
    assert desk.type("report", "note", "--status", "completed", "--result", "It is there.").exit == 0
    calls = [command("git add --intent-to-add notes.txt")] * 3
    session = guarded_bench.run(scripted(calls))
    denied = ["may be called once" in session.result_of(call) for call in range(3)]
    results.check("of identical calls at once one is allowed", "yes" if sorted(denied) == [False, True, True] else "no")


def test_an_agent_that_opencode_starts_is_guarded(
    guarded_bench: Workbench, desk: InProcessRepository, results: Results
) -> None:
    if not isinstance(guarded_bench.program, Opencode):
        pytest.skip("the guard denies that it starts others, or it was measured by hand")
    start = Use("task", {"description": "d", "prompt": "p", "subagent_type": "general"})
    session = guarded_bench.run(scripted([start], [guarded_bench.program.command("touch evil.txt")]))
    is_blocked = "no step of 2026-01-01_parser includes this call" in session.result_of(1)
    assert not (desk.path / "evil.txt").exists()
    results.check("agents that an agent starts are guarded", "yes" if is_blocked else "no")


@pytest.mark.parametrize("script", ["echo Welcome; exec EXECPLAN", "EXECPLAN; echo Goodbye", "exit 0"])
def test_other_output_of_execplan_opens_nothing(
    guarded_bench: Workbench, desk: InProcessRepository, results: Results, script: str
) -> None:
    guarded_bench.install_execplan(script)
    guarded_bench.run(scripted([guarded_bench.program.command("touch evil.txt")]))
    is_blocked = not (desk.path / "evil.txt").exists()
    results.check("other output of the hook blocks", "yes" if is_blocked else "no")


def test_a_command_of_codex_elsewhere_or_with_a_terminal_is_blocked(
    guarded_bench: Workbench, desk: InProcessRepository, results: Results
) -> None:
    if not isinstance(guarded_bench.program, Codex):
        pytest.skip("its commands have no such arguments")
    elsewhere = desk.path.parent / "elsewhere"
    elsewhere.mkdir()
    desk.write("notes.txt", NOTE)
    (elsewhere / "notes.txt").write_text("Ask at once.\n")
    assert desk.type("report", "note", "--status", "completed", "--result", "It is there.").exit == 0
    command = "git add --intent-to-add notes.txt"
    calls = [
        Use("exec_command", {"cmd": command, "workdir": str(elsewhere)}),
        Use("exec_command", {"cmd": "git log", "tty": True}),
        Use("exec_command", {"cmd": command, "shell": str(elsewhere / "sh")}),
        Use("exec_command", {"cmd": command, "workdir": str(desk.path), "tty": False}),
    ]
    session = guarded_bench.run(scripted(*[[call] for call in calls]))
    blocked = ["blocked by PreToolUse hook" in session.result_of(call) for call in range(4)]
    results.check(
        "commands elsewhere or with a terminal are blocked", "yes" if blocked == [True, True, True, False] else "no"
    )


def test_a_script_of_codex_that_hides_its_arguments_is_blocked(
    guarded_bench: Workbench, desk: InProcessRepository, results: Results
) -> None:
    if not isinstance(guarded_bench.program, Codex):
        pytest.skip("it has no scripts")
    guarded_bench.program.model = "gpt-6-astra"
    scripts = [
        "text(JSON.stringify(await tools.exec_command({cmd: 'git status', tty: true})))",
        "const result = await tools.exec_command({cmd: 'git status'}); text(result.output)",
        "const result = await tools.exec_command({cmd: 'touch evil.txt'}); text(result.output)",
    ]
    session = guarded_bench.run(scripted(*[[Use("exec", script)] for script in scripts]))
    hidden, plain = session.result_of(0), session.result_of(1)
    assert not (desk.path / "evil.txt").exists()
    if "unsupported custom tool call" in hidden:
        results.check("scripts that hide their arguments are blocked", "has no scripts")
        return
    is_blocked = "Command blocked by PreToolUse hook" in hidden
    results.check("scripts that hide their arguments are blocked", "yes" if is_blocked else "no")
    results.check("plain scripts are allowed what is planned", "yes" if "On branch main" in plain else "no")
