"""`install session-hooks`: entries that stand beside those of the guard, and never keep a session from beginning."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from execplan.agents.integrations import guard_hook, session_hooks
from execplan.agents.integrations.integration_changes import apply_changes
from execplan.agents.integrations.session_hooks import HOOKS, hook_handler
from execplan.core.project import project_discovery
from tests.agents.integrations.file_tree import tree
from tests.in_process_repository import InProcessRepository

if TYPE_CHECKING:
    pass

CLAUDE, CODEX = ".claude/settings.json", ".codex/hooks.json"
OTHER_HOOKS = json.dumps(
    {"hooks": {"PreCompact": [{"hooks": [{"type": "command", "command": "x"}]}]}, "model": "x"}, indent=4
)


def ok(desk: InProcessRepository, *arguments: str) -> Any:
    """Type a command that works; the document."""
    result = desk.type(*arguments, "--json")
    assert result.exit == 0, (arguments, result)
    return result.json


def events(desk: InProcessRepository, file: str) -> dict[str, int]:
    """How many groups of hooks a file has, by event."""
    return {name: len(groups) for name, groups in json.loads((desk.path / file).read_text())["hooks"].items()}


def test_claude_code_has_two_hooks_and_codex_one(desk: InProcessRepository) -> None:
    before = tree(desk.path)
    output = ok(desk, "install", "session-hooks")
    assert [change["path"] for change in output["data"]["changes"]] == [CLAUDE]
    assert events(desk, CLAUDE) == {"SessionStart": 1, "PreCompact": 1}
    (desk.path / ".codex").mkdir()
    output = ok(desk, "install", "session-hooks")
    assert [change["action"] for change in output["data"]["changes"]] == ["kept", "made"]
    assert events(desk, CODEX) == {"SessionStart": 1}
    assert any(["/hooks" in warning for warning in output["warnings"]])
    ok(desk, "uninstall", "session-hooks")
    (desk.path / ".codex").rmdir()
    assert tree(desk.path) == before
    assert ok(desk, "uninstall", "session-hooks")["data"]["changed"] is False


@pytest.mark.parametrize("text", ["", "{}", '{"hooks":{"SessionStart":[]}}', OTHER_HOOKS])
def test_beside_the_guard_in_any_order_and_back_to_the_byte(desk: InProcessRepository, text: str) -> None:
    project = project_discovery.require(str(desk.path))
    if text:
        desk.write(CLAUDE, text)
    before = tree(desk.path)
    both = (guard_hook, session_hooks)
    for first, last in itertools.product(both, both):
        for integration in (first, *[module for module in both if module is not first]):
            apply_changes(integration.install(project, force=False).changes)
        assert {"PreToolUse", "SessionStart", "PreCompact"} <= events(desk, CLAUDE).keys()
        assert [module.install(project, force=False).changes[0].action for module in both] == ["kept", "kept"]
        for integration in (*[module for module in both if module is not last], last):
            assert b"execplan:" in (desk.path / CLAUDE).read_bytes()
            apply_changes(integration.uninstall(project, force=False).changes)
        assert tree(desk.path) == before


def test_an_edit_is_kept_and_an_older_entry_renewed(desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tree(desk.path)
    with monkeypatch.context() as patch:
        patch.setattr("execplan.agents.integrations.session_hooks.TIMEOUT", 9)
        ok(desk, "install", "session-hooks")
    assert ok(desk, "install", "session-hooks")["data"]["changed"] is True
    path = desk.path / CLAUDE
    original = path.read_text()
    assert original.count('"timeout": 20') == 2
    path.write_text(original.replace("|| :", "|| exit 0"))
    assert "edited by hand" in desk.type("install", "session-hooks").err
    assert desk.refused(1, "edited-block", "uninstall", "session-hooks")
    ok(desk, "install", "session-hooks", "--force")
    assert path.read_text() == original
    ok(desk, "uninstall", "session-hooks")
    assert tree(desk.path) == before


def test_what_somebody_has_put_there_by_hand_is_left_alone(desk: InProcessRepository) -> None:
    own_hooks = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "execplan prime"}]}]}}
    path = desk.write(CLAUDE, json.dumps(own_hooks))
    ok(desk, "install", "session-hooks")
    assert events(desk, CLAUDE) == {"SessionStart": 1, "PreCompact": 1}
    ok(desk, "uninstall", "session-hooks")
    assert json.loads(path.read_text()) == own_hooks


def test_a_damaged_file_is_not_touched(desk: InProcessRepository) -> None:
    path = desk.write(CLAUDE, '{"hooks": {,}}')
    assert desk.refused(3, "bad-json", "install", "session-hooks")
    assert path.read_text() == '{"hooks": {,}}'


@pytest.mark.parametrize(("program", "hook"), [(name, hook) for name, hooks in HOOKS.items() for hook in hooks])
def test_the_line_prints_the_plan_and_never_fails(desk: InProcessRepository, program: str, hook: Any) -> None:
    line = hook_handler(program, hook)["command"]
    (desk.path / "bin").mkdir()
    os.symlink(sys.executable, desk.path / "bin" / "python")
    script = desk.path / "bin" / "execplan"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m execplan "$@"\n')
    script.chmod(0o755)
    environment = {**os.environ, "PATH": f"{desk.path}/bin:{os.environ['PATH']}"}

    def run(path: str) -> tuple[int, str]:
        completed = subprocess.run(
            ["sh", "-c", line],
            cwd=desk.path,
            env={**environment, "PATH": path},
            input=b'{"hook_event_name": "SessionStart"}',
            capture_output=True,
            check=False,
        )
        return completed.returncode, completed.stdout.decode()

    status, out = run(environment["PATH"])
    assert status == 0
    text = out if program == "claude" else json.loads(out)["hookSpecificOutput"]["additionalContext"]
    assert "Build the parser" in text
    assert not text.startswith(("{", "["))
    for script_says in ("exit 2", "exit 70", "kill -9 $$"):
        script.write_text(f"#!/bin/sh\n{script_says}\n")
        assert run(environment["PATH"]) == (0, "")
    plain = desk.path / "plain"
    plain.mkdir()
    os.symlink(str(shutil.which("sh")), plain / "sh")
    assert run(str(plain)) == (0, ""), "execplan is not on PATH"
