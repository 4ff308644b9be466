"""`install capture`: hooks of plan modes, beside the others, which decide nothing and never fail."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from execplan.agents.integrations import capture_hooks, guard_hook, session_hooks, stop_gate
from execplan.agents.integrations.integration_changes import apply_changes
from execplan.cli.doctor.agent_hook_checks import check_capture_hooks
from execplan.cli.doctor.doctor_check import DoctorContext
from execplan.core.project import project_discovery
from tests.agents.capture.test_captured_plan import FIRST, hook_input
from tests.agents.integrations.file_tree import tree

if TYPE_CHECKING:
    from tests.in_process_repository import InProcessRepository

CLAUDE, CODEX, GEMINI = ".claude/settings.json", ".codex/hooks.json", ".gemini/settings.json"
OTHER_HOOKS = json.dumps(
    {"hooks": {"PermissionRequest": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "x"}]}]}}, indent=4
)


def hooks(desk: InProcessRepository, file: str) -> Any:
    """Return the hooks in a file, by event."""
    return json.loads((desk.path / file).read_text())["hooks"]


def test_each_program_has_one_hook_and_uninstall_removes_it(desk: InProcessRepository) -> None:
    before = tree(desk.path)
    programs = ("--for", "claude", "--for", "codex", "--for", "gemini")
    assert desk.type("install", "capture", *programs).exit == 0
    ((claude_event, (claude_group,)),) = hooks(desk, CLAUDE).items()
    assert (claude_event, claude_group["matcher"]) == ("PermissionRequest", "ExitPlanMode")
    ((codex_event, (codex_group,)),) = hooks(desk, CODEX).items()
    assert (codex_event, codex_group.keys()) == ("Stop", {"hooks"})
    ((gemini_event, (gemini_group,)),) = hooks(desk, GEMINI).items()
    assert (gemini_event, gemini_group["matcher"]) == ("AfterTool", "exit_plan_mode")
    assert desk.type("install", "capture").out.count("kept") == 3
    assert desk.type("uninstall", "capture").exit == 0
    assert tree(desk.path) == before


@pytest.mark.parametrize("text", ["", "{}", '{"hooks":{"PermissionRequest":[]}}', OTHER_HOOKS])
@pytest.mark.parametrize("order", list(itertools.permutations((capture_hooks, guard_hook, session_hooks))))
def test_beside_other_hooks_and_back_byte_for_byte(
    desk: InProcessRepository, text: str, order: tuple[Any, ...]
) -> None:
    project = project_discovery.require(str(desk.path))
    if text:
        desk.write(CLAUDE, text)
    before = tree(desk.path)
    for integration in order:
        apply_changes(integration.install(project, force=False).changes)
    assert [module.install(project, force=False).changes[0].action for module in order] == ["kept"] * 3
    for integration in order:
        apply_changes(integration.uninstall(project, force=False).changes)
    assert tree(desk.path) == before


@pytest.mark.parametrize("text", ["", "{}", '{"hooks":{"Stop":[]}}', '{"hooks": {"Stop": [{"hooks": []}]}}\n'])
@pytest.mark.parametrize("order", list(itertools.permutations((capture_hooks, stop_gate))))
@pytest.mark.parametrize("back", [1, -1])
def test_two_hooks_at_one_event(desk: InProcessRepository, text: str, order: tuple[Any, ...], back: int) -> None:
    project = project_discovery.require(str(desk.path))
    if text:
        desk.write(CODEX, text)
    before = tree(desk.path)
    for integration in order:
        apply_changes(integration.install(project, force=False, programs=["codex"]).changes)
    commands = [group["hooks"][0]["command"] for group in hooks(desk, CODEX)["Stop"] if group["hooks"]]
    assert commands == [module.hook_handler("codex")["command"] for module in order]
    for module in order:
        assert module.install(project, force=False, programs=["codex"]).changes[0].action == "kept"
        (entry,) = module.open_file(project, "codex").entries
        assert entry.hook.mark in module.hook_handler("codex")["command"]
    first, second = order[::back]
    apply_changes(first.uninstall(project, force=False).changes)
    assert second.install(project, force=False, programs=["codex"]).changes[0].action == "kept"
    assert first.open_file(project, "codex").entries == ()
    apply_changes(second.uninstall(project, force=False).changes)
    assert tree(desk.path) == before


@pytest.mark.parametrize("order", list(itertools.permutations((capture_hooks, stop_gate))))
def test_another_hook_at_the_event_by_hand_is_not_this_one(desk: InProcessRepository, order: tuple[Any, ...]) -> None:
    by_hand, installed = order
    command = by_hand.hook_handler("codex")["command"].partition(" #")[0].removeprefix("sh -c '")
    desk.write(CODEX, json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}}))
    assert desk.type("install", installed.NAME, "--for", "codex").exit == 0
    assert len(hooks(desk, CODEX)["Stop"]) == 2
    assert desk.type("install", by_hand.NAME, "--for", "codex").exit == 0
    assert len(hooks(desk, CODEX)["Stop"]) == 2, "it is there by hand"


def test_a_matcher_for_another_tool_counts_as_an_edit(desk: InProcessRepository) -> None:
    desk.type("install", "capture")
    path = desk.path / CLAUDE
    original = path.read_text()
    path.write_text(original.replace('"ExitPlanMode"', '"*"'))
    assert "edited by hand" in desk.type("install", "capture").err
    assert desk.refused(1, "edited-block", "uninstall", "capture")
    assert desk.type("install", "capture", "--force").exit == 0
    assert path.read_text() == original


@pytest.mark.parametrize("program", ["claude", "codex"])
def test_the_line_captures_a_plan_and_never_fails(desk: InProcessRepository, program: str) -> None:
    line = capture_hooks.hook_handler(program)["command"]
    tools = desk.path.parent / "tools"
    tools.mkdir()
    script = tools / "execplan"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m execplan "$@"\n')
    script.chmod(0o755)
    for name in ("sh", "git", "cat"):
        os.symlink(str(shutil.which(name)), tools / name)

    def run(path: str) -> tuple[int, bytes]:
        completed = subprocess.run(
            ["sh", "-c", line],
            cwd=desk.path,
            env={**os.environ, **desk.env, "PATH": path},
            input=hook_input(program, FIRST),
            capture_output=True,
            check=False,
        )
        return completed.returncode, completed.stdout

    assert run(str(tools)) == (0, b"")
    assert len(list((desk.path / ".agent/execplans").glob("*keep-notes.md"))) == 1
    for script_does in ("exit 2", "kill -9 $$", "echo '{}'; exit 70"):
        script.write_text(f"#!/bin/sh\n{script_does}\n")
        assert run(str(tools)) == (0, b"")
    script.unlink()
    assert run(str(tools)) == (0, b""), "execplan is not on PATH"


def test_doctor_says_that_codex_does_not_trust_the_hook_yet(desk: InProcessRepository) -> None:
    desk.patch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    project = project_discovery.require(str(desk.path))
    apply_changes(capture_hooks.install(project, force=False, programs=["codex"]).changes)
    config = desk.path.parent / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text(f'[projects."{desk.path}"]\ntrust_level = "trusted"\n')
    desk.patch.setenv("CODEX_HOME", str(config.parent))
    context = DoctorContext(str(desk.path), str)
    (finding,) = check_capture_hooks(context)
    assert not isinstance(finding, str)
    assert "captures no plans" in finding.message
