"""What a hook of Codex is not told of a command: the transcript has it, or the call is denied."""

from __future__ import annotations

import json
from typing import Any

import pytest

from execplan.agents.guard import codex, codex_transcript
from execplan.agents.guard.codex_script import is_plain
from execplan.agents.guard.tool_call import COMMAND, NotUnderstoodError
from tests.agents.guard.guard_repository import codex_command, hook, transcript


def _call(path: str | None, command: str = "ls", call_id: str = "c-1", cwd: str = "/r") -> dict[str, Any]:
    return {**hook("Bash", cwd, command=command), "transcript_path": path, "tool_use_id": call_id}


def _script(text: str, call_id: str = "x-1") -> dict[str, Any]:
    return {"type": "custom_tool_call", "name": "exec", "input": text, "call_id": call_id}


def _ending(call_id: str, text: str) -> dict[str, Any]:
    return {"type": "custom_tool_call_output", "call_id": call_id, "output": [{"type": "input_text", "text": text}]}


@pytest.mark.parametrize("version", ["0.130.0", "0.165.0", "0.166.0", "0.169.0", "1.0.0-alpha.1"])
def test_a_command_runs_in_its_workdir_in_every_version(version: str) -> None:
    path = transcript(
        codex_command("c-1", cmd="ls", workdir="/elsewhere", tty=False, shell="/bin/bash"), version=version
    )
    call = codex.read(_call(path))
    assert (call.kind, call.command, call.cwd) == (COMMAND, "ls", "/elsewhere")
    assert codex.read(_call(transcript(codex_command("c-1", cmd="ls"), version=version))).cwd == "/r"


def test_a_relative_workdir_is_clear_in_new_versions_only() -> None:
    item = codex_command("c-1", cmd="ls", workdir="src")
    assert codex.read(_call(transcript(item, version="0.166.0"), cwd="/r/src")).cwd == "/r/src"
    for version in ("0.165.9", "", "next"):
        with pytest.raises(NotUnderstoodError, match=r"before Codex 0\.166"):
            codex.read(_call(transcript(item, version=version)))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"tty": True}, "terminal"),
        ({"shell": "/tmp/bash"}, "shell of its own"),
        ({"shell": "perl"}, "shell of its own"),
        ({"shell": ""}, "shell of its own"),
        ({"sandbox_permissions": "require_escalated"}, "sandbox"),
        ({"with_escalated_permissions": True}, "sandbox"),
        ({"environment": {"PATH": "/tmp"}}, "unknown"),
        ({"workdir": "/r/link/.."}, "workdir contains"),
        ({"cmd": "make other"}, "another command"),
    ],
)
def test_what_would_change_a_command_is_denied(arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(NotUnderstoodError, match=reason):
        codex.read(_call(transcript(codex_command("c-1", **{"cmd": "ls", **arguments}))))


def test_a_call_that_is_not_in_the_transcript_is_denied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codex_transcript, "_WAIT_SECONDS", 0.1)
    other = {"type": "message", "content": [{"text": '"call_id":"c-1"'}], "call_id": "c-2"}
    for path in (None, "", "/nowhere", transcript(), transcript(other), transcript(codex_command("c-11", cmd="ls"))):
        with pytest.raises(NotUnderstoodError):
            codex.read(_call(path))
    path = transcript(codex_command("c-1", cmd="ls"))
    for call_id in ("", "c 1", 'c"1', "ç"):
        with pytest.raises(NotUnderstoodError):
            codex.read(_call(path, call_id=call_id))


def test_other_forms_of_a_command() -> None:
    shell = {"type": "function_call", "name": "shell", "call_id": "c-1"}
    shell["arguments"] = json.dumps({"command": ["sh", "-c", "ls"], "workdir": "/w"})
    assert codex.read(_call(transcript(shell), "sh -c ls")).cwd == "/w"
    action = {"type": "exec", "command": ["ls"], "working_directory": "/w"}
    local = {"type": "local_shell_call", "call_id": "c-1", "action": action}
    with pytest.raises(NotUnderstoodError, match="'type'"):
        codex.read(_call(transcript(local)))


def test_a_long_transcript_is_searched_from_its_end() -> None:
    filler = {"type": "message", "content": [{"text": "x" * 100_000}]}
    items = [codex_command("c-1", cmd="ls", workdir="/w"), *[filler] * 20, codex_command("c-2", cmd="ls")]
    path = transcript(*items)
    assert codex.read(_call(path)).cwd == "/w"
    assert codex.read(_call(path, call_id="c-2")).cwd == "/r"


PLAIN = [
    "const result = await tools.exec_command({cmd: 'make test'}); text(result.output)",
    'await tools.exec_command({cmd: "make test", workdir: "/r", yield_time_ms: 1000});\ntext(r.output);',
    "const [a, b] = await Promise.all([tools.exec_command({cmd: `git status`,}), tools.exec_command({cmd:'ls'})]);",
    "// Run the tests.\nconst r = await tools.exec_command({ cmd: String.raw`grep -n 'tty' a` })\ntext(r.output)",
    "const r = [await tools.exec_command({cmd: 'ls'})]; text(r[0].output)",
    "await tools.apply_patch(`*** Begin Patch\n*** End Patch`)",
    "",
]
HIDDEN = [
    "await tools.exec_command({cmd: 'ls', tty: true})",
    "await tools.exec_command({cmd: 'ls', 'tty': true})",
    "await tools.exec_command({cmd: 'ls', ['tt' + 'y']: true})",
    "await tools.exec_command({cmd: 'ls', shell: '/tmp/bash'})",
    "await tools.exec_command({...options})",
    "await tools.exec_command(options)",
    "await tools.exec_command({cmd: `ls ${name}`})",
    "await tools['exec_command']({cmd: 'ls'})",
    "const t = tools; await t.exec_command({cmd: 'ls'})",
    "const run = tools.exec_command; await run({cmd: 'ls'})",
    "text(`\n//`); tools.exec_command({cmd: 'ls', tty: true}); text(`\n`)",
    "// text(`\ntools.exec_command({cmd: 'ls', tty: true})\n// `)",
    "/* text(` */ tools.exec_command({cmd: 'ls', tty: true}) /* `) */",
    "const x = /'/; tools.exec_command({cmd: 'ls', tty: true}); /'/",
    "// a\u2028tools.exec_command({cmd: 'ls', tty: true})",
    "const r = await tools.exec_command({cmd: 'echo constructor'}); text[r.output](r.output)",
    "const r = await tools.exec_command({cmd: 'ls'})\n[r.output]",
    "setTimeout(r.output)",
    "eval('1')",
    "text.constructor('x')()",
    "await tools.write_stdin({session_id: 1, chars: '!sh'})",
    "t\\u006fols.exec_command",
    "<!-- text",
]


@pytest.mark.parametrize("script", PLAIN)
def test_a_script_whose_commands_can_be_read(script: str) -> None:
    assert is_plain(script)
    assert codex.read(_call(transcript(_script(script)), call_id="exec-1")).cwd == "/r"


@pytest.mark.parametrize("script", HIDDEN)
def test_a_script_that_hides_how_it_runs_commands(script: str) -> None:
    assert not is_plain(script)
    with pytest.raises(NotUnderstoodError, match="script hides"):
        codex.read(_call(transcript(_script(PLAIN[0], "x-0"), _script(script)), call_id="exec-1"))


def test_a_script_that_has_ended_does_not_matter_and_one_that_runs_does() -> None:
    hidden, plain = _script(HIDDEN[0], "x-0"), _script(PLAIN[0])
    ended = transcript(hidden, _ending("x-0", "Script completed\nWall time 0.3 seconds"), plain)
    assert codex.read(_call(ended, call_id="exec-1")).kind == COMMAND
    runs = transcript(hidden, _ending("x-0", "Script running with cell ID 1"), plain)
    for path in (runs, transcript(), transcript(plain, version="0.165.0")):
        with pytest.raises(NotUnderstoodError):
            codex.read(_call(path, call_id="exec-1"))
