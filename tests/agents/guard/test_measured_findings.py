"""What opened the guard, or stopped honest agents, when the real programs were measured in November 2026.

Each test uses only commands and hooks, so that it also runs with older code, where it fails.
"""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.agents.guard.guard_repository import (
    GuardRepository,
    as_sent,
    claude_transcript,
    codex_command,
    guard,
    hook,
    transcript,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.agents.guard.guard_repository import Answer

HOOKS = {"claude": ".claude/settings.json", "codex": ".codex/hooks.json"}
PROGRAMS = sorted(HOOKS)


def _read_hook(desk: GuardRepository, program: str, group: int = -1) -> dict[str, Any]:
    """Return a command that a program runs before each call."""
    settings = json.loads((desk.path / HOOKS[program]).read_text())
    return dict(settings["hooks"]["PreToolUse"][group]["hooks"][0])


def _write_settings(desk: GuardRepository, program: str, **fields: Any) -> None:
    path = desk.path / HOOKS[program]
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}, indent=2))


def _is_denied(answer: Answer) -> bool:
    """Check whether an answer is a denial, also of older code, which prints nothing for an allowed call of Codex."""
    return answer.status == 2 or b'"deny"' in answer.out


def _is_codex_denied(desk: GuardRepository, command: str, version: str = "0.169.0", **arguments: object) -> bool:
    """Ask about a command of Codex, whose transcript has arguments that its hook's input lacks."""
    call = hook("Bash", str(desk.path), command=command) | {"turn_id": "t", "model": "m", "tool_use_id": "c-1"}
    path = transcript(codex_command("c-1", cmd=command, **arguments), version=version)
    return _is_denied(guard(json.dumps(call | {"transcript_path": path}).encode(), program="codex"))


@pytest.mark.parametrize("program", PROGRAMS)
def test_finding_1_a_denial_blocks_whatever_else_is_printed(begun: GuardRepository, program: str) -> None:
    answer = guard(as_sent(program, "touch evil", str(begun.path)), "--program", program, program=program)
    assert (answer.status, answer.err.decode()) == (2, f"{answer.why}\n")
    assert answer.response_fields["permissionDecision"] == "deny"


@pytest.mark.parametrize("program", PROGRAMS)
def test_finding_1_the_hook_blocks_if_anything_else_is_printed(begun: GuardRepository, program: str) -> None:
    assert begun.type("install", "guard", "--for", program).exit == 0
    begun.write("bin/execplan", "#!/bin/sh\necho Welcome; echo '{}'\n").chmod(0o755)
    environment = {"PATH": f"{begun.path}/bin:/usr/bin:/bin"}
    line = _read_hook(begun, program)["command"]
    completed = subprocess.run(["sh", "-c", line], input=b"{}", env=environment, capture_output=True, check=False)
    assert completed.returncode == 2, completed


@pytest.mark.parametrize("version", ["0.130.0", "0.165.0", "0.169.0"])
def test_finding_2_a_planned_command_elsewhere_is_denied(begun: GuardRepository, tmp_path: Path, version: str) -> None:
    assert not _is_codex_denied(begun, "make parser", version, workdir=str(begun.path))
    assert _is_codex_denied(begun, "make parser", version, workdir=str(tmp_path))


@pytest.mark.parametrize("arguments", [{"tty": True}, {"shell": "/tmp/sh"}])
def test_finding_3_a_command_with_a_terminal_or_a_shell_of_its_own_is_denied(
    begun: GuardRepository, arguments: dict[str, Any]
) -> None:
    assert not _is_codex_denied(begun, "git log -p")
    assert _is_codex_denied(begun, "git log -p", **arguments)


@pytest.fixture
def asks(begun: GuardRepository) -> GuardRepository:
    """A run whose next step asks."""
    result = begun.type("report", "build", "--status", "completed", "--result", "Done.")
    assert result.exit == 0, result
    return begun


def _ask_to_ship(desk: GuardRepository, version: str = "2.1.330") -> str:
    data = as_sent("claude", "make ship", str(desk.path))
    claude_transcript(version)
    return guard(data).kind


def test_finding_4_a_version_that_ignores_questions_is_denied(asks: GuardRepository) -> None:
    assert _ask_to_ship(asks, "2.1.84") == "deny"


def test_finding_5_a_question_uses_up_no_step(asks: GuardRepository) -> None:
    assert [_ask_to_ship(asks) for _ in range(2)] == ["ask", "ask"]
    assert asks.calls() == ["build"]


def test_finding_5_where_nobody_answers_the_call_is_denied(
    asks: GuardRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ATTENDED", "0")
    assert _ask_to_ship(asks) == "deny"


def test_finding_6_the_hook_is_the_first_and_stays_as_codex_trusts_it(begun: GuardRepository) -> None:
    assert begun.type("install", "guard", "--for", "codex").exit == 0
    trusted = _read_hook(begun, "codex")["command"]
    assert begun.type("uninstall", "guard").exit == 0
    others = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "lint.sh"}]}]}}
    begun.write(HOOKS["codex"], json.dumps(others))
    assert begun.type("install", "guard", "--for", "codex").exit == 0
    assert _read_hook(begun, "codex", 0)["command"] == trusted


def test_finding_6_doctor_reports_a_hook_that_codex_trusts_in_another_form(begun: GuardRepository) -> None:
    assert begun.type("install", "guard", "--for", "codex").exit == 0
    key = f"{begun.path / HOOKS['codex']}:pre_tool_use:0:0"
    begun.write(
        "../.codex/config.toml",
        f'[projects."{begun.path}"]\ntrust_level = "trusted"\n[hooks.state."{key}"]\ntrusted_hash = "sha256:0"\n',
    )
    assert "Codex trusts an earlier form of the hook" in begun.type("doctor").out


def test_finding_7_a_step_that_the_guard_did_not_see_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = GuardRepository(tmp_path / "repo", monkeypatch)
    desk.plan("# Build it\n\n## Progress\n\n- [ ] Build it.\n\n## Concrete Steps\n\n```sh {#build}\nmake\n```\n")
    desk.commit()
    desk.approve()
    assert desk.type("install", "guard", "--for", "codex").exit == 0
    reported = desk.type("report", "build", "--status", "completed", "--result", "Done.")
    assert "the guard saw no call of build" in reported.err
    assert "the guard saw no call of build" in desk.type("audit").err


@pytest.mark.parametrize(
    ("program", "fields", "problem"),
    [
        ("claude", {"permissions": {"allow": 5}}, "permissions.allow"),
        ("claude", {"statusLine": {}, "permissions": []}, "permissions "),
        ("codex", {"$schema": "x"}, "$schema is unknown to Codex"),
        ("codex", {"version": 1}, "version is unknown to Codex"),
    ],
)
def test_finding_8_doctor_reports_a_file_that_a_program_ignores(
    begun: GuardRepository, program: str, fields: dict[str, Any], problem: str
) -> None:
    assert begun.type("install", "guard", "--for", program).exit == 0
    _write_settings(begun, program, **fields)
    assert problem in begun.type("doctor").out


@pytest.mark.parametrize(
    ("program", "tool", "arguments"),
    [
        ("codex", "collaborationspawn_agent", {"message": "Look."}),
        ("codex", "multi_agent_v1wait_agent", {}),
        ("codex", "tool_search", {"query": "plans"}),
        ("codex", "get_goal", {}),
        ("claude", "ListAgents", {}),
        ("claude", "ScheduleWakeup", {"seconds": 1}),
        ("claude", "Agent", {"description": "Look", "prompt": "Look.", "effort": "high"}),
        ("claude", "Read", {"file_path": "Makefile", "allow_large": True}),
    ],
)
def test_finding_9_tools_and_fields_of_today_are_known(
    begun: GuardRepository, program: str, tool: str, arguments: dict[str, object]
) -> None:
    call = hook(tool, str(begun.path)) | {"tool_input": arguments}
    data = json.dumps(call | ({"turn_id": "t", "model": "m"} if program == "codex" else {})).encode()
    assert not _is_denied(guard(data, "--program", program, program=program))
