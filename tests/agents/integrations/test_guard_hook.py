"""`install guard`: the files of the programs, and a line that blocks whatever becomes of the guard."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from execplan.agents.integrations.guard_hook import hook_handler
from execplan.agents.integrations.hook_file import PROGRAMS
from tests.agents.integrations.file_tree import tree
from tests.in_process_repository import InProcessRepository

ROOT = Path(__file__).resolve().parents[3]
CLAUDE, CODEX, GEMINI = ".claude/settings.json", ".codex/hooks.json", ".gemini/settings.json"
PLUGINS, PLUGIN = ".opencode/plugins", ".opencode/plugins/execplan-guard.js"


def ok(desk: InProcessRepository, *arguments: str) -> Any:
    """Type a command that works; the document."""
    result = desk.type(*arguments, "--json")
    assert result.exit == 0, result.err
    return result.json


def hook(desk: InProcessRepository, file: str) -> dict[str, Any]:
    """The hook in a file, the first of its event."""
    settings = json.loads((desk.path / file).read_bytes().decode())
    hooks = settings["hooks"]
    (handler,) = (hooks.get("PreToolUse") or hooks["BeforeTool"])[0]["hooks"]
    assert isinstance(handler, dict)
    return handler


def test_claude_code_always_and_codex_where_it_is_at_home(desk: InProcessRepository) -> None:
    before = tree(desk.path)
    output = ok(desk, "install", "guard")
    assert [change["path"] for change in output["data"]["changes"]] == [CLAUDE]
    assert hook(desk, CLAUDE)["onFailure"] == "block"
    assert hook(desk, CLAUDE)["timeout"] > 8
    ok(desk, "uninstall", "guard")
    assert tree(desk.path) == before
    (desk.path / ".codex").mkdir()
    before = tree(desk.path)
    output = ok(desk, "install", "guard")
    assert [change["path"] for change in output["data"]["changes"]] == [CLAUDE, CODEX]
    assert hook(desk, CODEX).keys() == {"type", "command", "timeout", "execplan"}
    assert any(["/hooks" in warning for warning in output["warnings"]])
    repeated = ok(desk, "install", "guard")
    assert repeated["data"]["changed"] is False
    assert not any(["/hooks" in warning or "from now on" in warning for warning in repeated["warnings"]])
    ok(desk, "uninstall", "guard")
    assert tree(desk.path) == before


def test_gemini_cli_where_it_is_used(desk: InProcessRepository) -> None:
    folder = desk.path / ".gemini"
    folder.mkdir()
    (folder / "settings.json").write_text('{"context": {"fileName": "AGENTS.md"}}\n')
    before = tree(desk.path)
    output = ok(desk, "install", "guard", "session-hooks", "stop-gate")
    assert {change["path"] for change in output["data"]["changes"]} == {CLAUDE, GEMINI}
    hooks = json.loads((desk.path / GEMINI).read_bytes())["hooks"]
    assert hooks.keys() == {"BeforeTool", "SessionStart"}, "there is no stop gate"
    (handler,) = hooks["BeforeTool"][0]["hooks"]
    assert "execplan guard --program gemini" in handler["command"]
    assert handler["timeout"] == 30_000, "milliseconds"
    assert any(["trust the directory" in warning for warning in output["warnings"]])
    assert ok(desk, "install", "guard", "session-hooks")["data"]["changed"] is False
    ok(desk, "uninstall", "guard", "session-hooks", "stop-gate")
    assert tree(desk.path) == before


def test_opencode_gets_a_plugin_where_it_is_used(desk: InProcessRepository) -> None:
    desk.write("opencode.json", "{}")
    before = tree(desk.path)
    output = ok(desk, "install", "guard")
    assert [change["path"] for change in output["data"]["changes"]] == [CLAUDE, f"{PLUGINS}/.execplan.json", PLUGIN]
    assert '"guard", "--program", "opencode"' in (desk.path / PLUGIN).read_text()
    assert ok(desk, "install", "guard")["data"]["changed"] is False
    ok(desk, "uninstall", "guard")
    assert tree(desk.path) == before
    output = ok(desk, "install", "guard", "--for", "opencode")
    assert any(["from now on" in warning for warning in output["warnings"]])
    assert not (desk.path / CLAUDE).exists()
    desk.write(PLUGIN, "// Mine\n")
    assert any(["edited by hand" in warning for warning in ok(desk, "install", "guard")["warnings"]])
    refused = desk.type("uninstall", "guard")
    assert refused.exit == 1
    assert "edited by hand" in refused.err
    ok(desk, "uninstall", "guard", "--force")
    assert tree(desk.path) == before


def test_a_hook_that_a_program_lacks_is_not_installed(desk: InProcessRepository) -> None:
    before = tree(desk.path)
    for integration, program in (("stop-gate", "gemini"), ("capture", "opencode"), ("session-hooks", "opencode")):
        refused = desk.type("install", integration, "--for", program)
        assert refused.exit == 2
        assert f"{integration} has no hook for {program}" in refused.err
        assert "claude and codex" in refused.err
    assert tree(desk.path) == before


def test_for_says_which(desk: InProcessRepository) -> None:
    before = tree(desk.path)
    ok(desk, "install", "guard", "--for", "codex")
    assert not (desk.path / ".claude").exists()
    ok(desk, "install", "guard", "--for", "codex", "--for", "claude")
    ok(desk, "uninstall", "guard", "--for", "codex")
    assert not (desk.path / ".codex").exists()
    assert hook(desk, CLAUDE)
    ok(desk, "uninstall", "guard")
    assert tree(desk.path) == before
    result = desk.type("install", "agents", "--for", "claude")
    assert result.exit == 2
    assert "--for requires guard" in result.err
    assert desk.type("install", "guard", "--for", "emacs").exit == 2


def test_what_is_there_stays_with_its_mode(desk: InProcessRepository) -> None:
    desk.write(CLAUDE, '{"model": "x"}').chmod(0o600)
    desk.write(".claude/agents/a.md", "x")
    before = tree(desk.path)
    ok(desk, "install", "guard")
    ok(desk, "uninstall", "guard")
    assert tree(desk.path) == before


def test_a_file_that_was_made_goes_unless_others_have_written_to_it(desk: InProcessRepository) -> None:
    before = tree(desk.path)
    path = desk.path / CLAUDE
    ok(desk, "install", "guard")
    settings = json.loads(path.read_text())
    path.write_text(json.dumps(settings, indent=4, sort_keys=True))
    ok(desk, "uninstall", "guard")
    assert tree(desk.path) == before
    ok(desk, "install", "guard")
    path.write_text(json.dumps({"model": "x", **settings}))
    ok(desk, "uninstall", "guard")
    assert path.read_text() == '{"model": "x"}'


def test_an_entry_of_another_day_is_renewed_where_it_is(
    desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(desk.path)
    with monkeypatch.context() as patch:
        patch.setattr("execplan.agents.integrations.guard_hook.TIMEOUT", 9)
        ok(desk, "install", "guard")
    path = desk.path / CLAUDE
    path.write_text(path.read_text().replace("\n    ]\n", '\n    ],\n    "Stop": []\n'))
    assert ok(desk, "install", "guard")["data"]["changed"] is True
    assert hook(desk, CLAUDE)["timeout"] == 30
    assert ok(desk, "install", "guard")["data"]["changed"] is False
    path.write_text(path.read_text().replace('\n    ],\n    "Stop": []\n', "\n    ]\n"))
    ok(desk, "uninstall", "guard")
    assert tree(desk.path) == before


def test_it_is_the_first_group_and_goes_there_again(desk: InProcessRepository) -> None:
    others = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "lint.sh"}]}]}}
    path = desk.write(CODEX, json.dumps(others, indent=2))
    before = tree(desk.path)
    ok(desk, "install", "guard", "--for", "codex")
    original = path.read_text()
    settings = json.loads(original)
    settings["hooks"]["PreToolUse"].reverse()
    path.write_text(json.dumps(settings, indent=2))
    assert ok(desk, "install", "guard", "--for", "codex")["data"]["changed"] is True
    assert hook(desk, CODEX)["command"] == hook_handler("codex")["command"]
    assert ok(desk, "install", "guard", "--for", "codex")["data"]["changed"] is False
    ok(desk, "uninstall", "guard")
    assert tree(desk.path) == before


def test_what_codex_trusts_stays_when_it_is_installed_again(desk: InProcessRepository) -> None:
    ok(desk, "install", "guard", "--for", "codex")
    command = hook(desk, CODEX)["command"]
    ok(desk, "uninstall", "guard")
    desk.write(CODEX, '{"hooks": {"Stop": []}, "description": "Ours"}')
    ok(desk, "install", "guard", "--for", "codex")
    assert hook(desk, CODEX)["command"] == command


def test_an_edit_is_kept_until_it_is_forced(desk: InProcessRepository) -> None:
    desk.write(CLAUDE, '{\n  "model": "x"\n}\n')
    before = tree(desk.path)
    ok(desk, "install", "guard")
    path = desk.path / CLAUDE
    original = path.read_text()
    path.write_text(original.replace('"timeout": 30', '"timeout": 1'))
    result = desk.type("install", "guard")
    assert "edited by hand" in result.err
    assert hook(desk, CLAUDE)["timeout"] == 1
    result = desk.type("uninstall", "guard", "--json")
    assert result.exit == 1
    assert result.json["error"]["code"] == "edited-block"
    ok(desk, "install", "guard", "--force")
    assert path.read_text() == original
    path.write_text(original.replace('"timeout": 30', '"timeout": 1'))
    ok(desk, "uninstall", "guard", "--force")
    assert tree(desk.path) == before


def test_of_two_entries_one_is_left_when_it_is_forced(desk: InProcessRepository) -> None:
    ok(desk, "install", "guard")
    path = desk.path / CLAUDE
    settings = json.loads(path.read_text())
    settings["hooks"]["PreToolUse"] *= 2
    path.write_text(json.dumps(settings, indent=2) + "\n")
    assert desk.type("uninstall", "guard").exit == 1
    ok(desk, "install", "guard", "--force")
    assert len(json.loads(path.read_text())["hooks"]["PreToolUse"]) == 1
    ok(desk, "uninstall", "guard")
    assert not path.parent.exists()


def test_one_that_was_put_there_by_hand_is_left_alone(desk: InProcessRepository) -> None:
    settings = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "execplan guard || exit 2"}]}]}}
    desk.write(CLAUDE, json.dumps(settings))
    before = tree(desk.path)
    ok(desk, "install", "guard")
    installed = json.loads((desk.path / CLAUDE).read_text())["hooks"]
    assert (installed["PreToolUse"], len(installed["PostToolUse"])) == (settings["hooks"]["PreToolUse"], 1)
    ok(desk, "uninstall", "guard")
    assert tree(desk.path) == before


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{\n  "model": "x",\n}\n', f"{CLAUDE}:3: "),
        (b'{"hooks": {"PreToolUse": {}}}', "hooks.PreToolUse is not an array"),
        (b'{"a": 1, "a": 2}', "duplicate key"),
        (b'{"a": "\xff"}', "byte 7"),
        ('{"a": 1}'.encode("utf-16"), "byte 0"),
    ],
)
def test_what_can_not_be_read_is_refused(desk: InProcessRepository, content: bytes, words: str) -> None:
    desk.write(CLAUDE, content)
    assert_unreadable(desk, "install", words)
    ok(desk, "install", "guard", "--for", "codex")
    ok(desk, "uninstall", "guard")
    assert not (desk.path / CODEX).exists()
    assert (desk.path / CLAUDE).read_bytes() == content


def assert_unreadable(desk: InProcessRepository, subcommand: str, message: str) -> None:
    """Expect that the file can't be read."""
    result = desk.type(subcommand, "guard", "--json")
    assert result.exit == 3
    assert result.json["error"]["code"] == "bad-json"
    assert message in result.json["error"]["message"]


def test_what_was_broken_since_is_not_taken_apart(desk: InProcessRepository) -> None:
    ok(desk, "install", "guard")
    path = desk.path / CLAUDE
    path.write_text(path.read_text().replace('"hooks": {', '"hooks": {,'))
    assert_unreadable(desk, "uninstall", f"{CLAUDE}:2: ")
    path.write_text('{"about": "# execplan:guard"}')
    assert "no hook has the mark" in desk.type("uninstall", "guard").out


def test_a_link_is_followed_within_the_repository_and_not_out_of_it(desk: InProcessRepository) -> None:
    desk.write("shared.json", "{}\n")
    (desk.path / ".claude").mkdir()
    (desk.path / CLAUDE).symlink_to("../shared.json")
    before = tree(desk.path)
    ok(desk, "install", "guard")
    assert hook(desk, "shared.json")
    ok(desk, "uninstall", "guard")
    assert tree(desk.path) == before
    (desk.path / CLAUDE).unlink()
    (desk.path.parent / "outside.json").write_text("{}\n")
    (desk.path / CLAUDE).symlink_to("../../outside.json")
    assert desk.type("install", "guard").exit == 7
    assert (desk.path.parent / "outside.json").read_text() == "{}\n"


def test_it_says_where_no_execplan_is_found(desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    stub(desk, "exit 0")
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", f"{desk.path}/bin:{path}")
    assert not any(["PATH" in warning for warning in ok(desk, "install", "guard")["warnings"]])
    (desk.path / "bin/execplan").unlink()
    monkeypatch.setenv(
        "PATH", os.pathsep.join([folder for folder in path.split(":") if not os.path.exists(f"{folder}/execplan")])
    )
    assert any(["PATH" in warning for warning in ok(desk, "install", "guard")["warnings"]])


def stub(desk: InProcessRepository, script: str) -> None:
    """An execplan that does something else."""
    desk.write("bin/execplan", f"#!/bin/sh\n{script}\n").chmod(0o755)


@pytest.mark.parametrize("shell", ["sh", "bash"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_whatever_becomes_of_the_guard_the_line_allows_or_blocks(
    desk: InProcessRepository, program: str, shell: str
) -> None:
    ok(desk, "install", "guard", "--for", program)
    line = hook(desk, PROGRAMS[program].file)["command"]

    def run_hook_line() -> tuple[int, str, str]:
        path = f"{desk.path}/bin:/usr/bin:/bin"
        completed = subprocess.run(
            [shell, "-c", line], input="{}", capture_output=True, text=True, env={"PATH": path}, check=False
        )
        return completed.returncode, completed.stdout, completed.stderr

    assert run_hook_line()[0] == 2
    assert "did not allow" in run_hook_line()[2]
    stub(desk, f'test "$*" = "guard --program {program}" && cat')
    assert run_hook_line() == (0, "{}", "")
    for script in ("exit 1", "exit 2", "exit 127", "kill -9 $$", "kill -TERM $$", "nonsense 2>&1"):
        stub(desk, script)
        status, _, error_output = run_hook_line()
        assert status == 2, script
        assert error_output.strip(), script


ALLOWED = '{"hookSpecificOutput":{"permissionDecision":"allow"}}'
DENIED = ALLOWED.replace("allow", "deny")


@pytest.mark.parametrize("shell", ["sh", "bash"])
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(
    ("script", "status", "output"),
    [
        (f"echo '{ALLOWED}'", 0, ALLOWED),
        (f"echo '{DENIED}'; exit 2", 2, DENIED),
        (f"echo Welcome; echo '{ALLOWED}'", 2, ""),
        (f"echo Welcome; echo '{DENIED}'; exit 2", 2, ""),
        (f"echo '{ALLOWED}'; echo Goodbye", 2, ""),
        (f"echo '{ALLOWED}'; echo '{{}}'", 2, ""),
        (f"printf '{{}}\\t%s' '{ALLOWED}'", 2, ""),
        (f"echo '{ALLOWED}'; exit 2", 2, ""),
        (f"echo '{ALLOWED}'; exit 1", 2, ""),
        ("exit 0", 2, ""),
        ("echo", 2, ""),
        ("echo null", 2, ""),
    ],
)
def test_the_line_passes_on_one_object_and_blocks_on_anything_else(
    desk: InProcessRepository, program: str, shell: str, script: str, status: int, output: str
) -> None:
    ok(desk, "install", "guard", "--for", program)
    stub(desk, script)
    completed = subprocess.run(
        [shell, "-c", hook(desk, PROGRAMS[program].file)["command"]],
        capture_output=True,
        text=True,
        env={"PATH": f"{desk.path}/bin:/usr/bin:/bin"},
        check=False,
    )
    assert (completed.returncode, completed.stdout) == (status, output)


def test_the_line_asks_the_guard(desk: InProcessRepository) -> None:
    ok(desk, "install", "guard")
    stub(desk, f'PYTHONPATH={ROOT} exec {sys.executable} -m execplan "$@"')
    request = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(desk.path), "tool_name": "Read"}
    for file_name, answer, status in (("Makefile", "allow", 0), (".git/execplan/x", "deny", 2)):
        call = json.dumps({**request, "tool_input": {"file_path": str(desk.path / file_name)}})
        line = hook(desk, CLAUDE)["command"]
        environment = {**os.environ, "PATH": f"{desk.path}/bin:/usr/bin:/bin"}
        completed = subprocess.run(
            ["sh", "-c", line], input=call, capture_output=True, text=True, env=environment, check=False
        )
        assert completed.returncode == status, completed.stderr
        assert json.loads(completed.stdout)["hookSpecificOutput"]["permissionDecision"] == answer


def test_the_line_names_nothing_of_this_machine() -> None:
    for program in PROGRAMS:
        assert "/" not in hook_handler(program)["command"]
