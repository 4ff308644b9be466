"""Logs of sessions in the forms of the programs that write them, whole, cut short, compacted and damaged."""

from __future__ import annotations

import json
from typing import Any

from execplan.context.context_pack import MESSAGE, TOOL_RESULT
from execplan.context.session_logs import claude_log, codex_log


def log(*lines: Any) -> bytes:
    """A log of these lines; what is bytes stands as it is."""
    return b"\n".join([line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]) + b"\n"


def claude_line(role: str, content: Any, **fields: Any) -> dict[str, Any]:
    """A line of Claude Code."""
    message = {"role": role, "content": content}
    if role == "assistant":
        message["model"] = "claude-opus-5-5"
    return {"type": role, "uuid": "u", "parentUuid": None, "isSidechain": False, "message": message, **fields}


def text_block(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def tool_use(call_id: str, name: str, **tool_input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": tool_input}


def tool_result(call_id: str, content: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def codex_line(kind: str, **fields: Any) -> dict[str, Any]:
    """A line of Codex."""
    return {"timestamp": "2026-11-22T10:00:00Z", "type": "response_item", "payload": {"type": kind, **fields}}


def codex_message(role: str, text: str) -> dict[str, Any]:
    kind = "input_text" if role == "user" else "output_text"
    return codex_line("message", role=role, content=[{"type": kind, "text": text}])


CLAUDE = log(
    {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
    claude_line("user", "Build the parser."),
    claude_line("user", "Caveat: the program itself says this.", isMeta=True),
    claude_line(
        "assistant",
        [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            text_block("I read it."),
            tool_use("c1", "Bash", command="make"),
        ],
    ),
    claude_line("user", [tool_result("c1", [text_block("12 passed"), {"type": "image", "source": {}}])]),
    claude_line("assistant", [tool_use("c2", "Read", file_path="src/a.py", limit=3)]),
    {"type": "system", "subtype": "stop_hook_summary"},
)


def test_claude() -> None:
    session = claude_log.read(CLAUDE)
    assert [(unit.id, unit.type, unit.title) for unit in session.units] == [
        ("message:2", MESSAGE, "user, line 2"),
        ("message:4", MESSAGE, "assistant, line 4"),
        ("tool:4", TOOL_RESULT, "Bash, line 4"),
        ("tool:6", TOOL_RESULT, "Read, line 6"),
    ]
    assert session.units[2].content == "command: make\n\n12 passed\n(image, not text)"
    assert session.units[3].content == "file_path: src/a.py\nlimit: 3\n"  # it has no result yet
    assert (session.model, session.unreadable_lines, session.earlier_messages, session.other_agent_lines) == (
        "claude-opus-5-5",
        0,
        0,
        0,
    )
    orders = [unit.order for unit in session.units]
    assert orders == sorted(orders)


def test_ids_stay_while_a_log_grows() -> None:
    short = claude_log.read(b"\n".join(CLAUDE.split(b"\n")[:4]) + b"\n")
    assert [unit.id for unit in claude_log.read(CLAUDE).units][:3] == [unit.id for unit in short.units]


def test_claude_compacted() -> None:
    session = claude_log.read(
        log(
            claude_line("user", "Long ago."),
            claude_line("assistant", [text_block("Yes."), tool_use("c1", "Bash", command="make")]),
            {"type": "system", "subtype": "compact_boundary", "compactMetadata": {"trigger": "auto"}},
            claude_line("user", "What came before.", isCompactSummary=True),
            claude_line("user", [tool_result("c1", "a result whose call is gone")]),
            claude_line("user", "Go on."),
        )
    )
    assert session.earlier_messages == 2
    assert [(unit.id, unit.title) for unit in session.units] == [
        ("message:4", "summary of earlier messages, line 4"),
        ("tool:5", "tool, line 5"),
        ("message:6", "user, line 6"),
    ]


def test_claude_agents_beside() -> None:
    other_agent_line = claude_line("assistant", [text_block("I am another.")], isSidechain=True)
    session = claude_log.read(log(claude_line("user", "Go."), other_agent_line, other_agent_line))
    assert (len(session.units), session.other_agent_lines) == (1, 2)
    alone = claude_log.read(log(other_agent_line, other_agent_line))
    assert (len(alone.units), alone.other_agent_lines) == (2, 0)


def test_claude_wound_back() -> None:
    """Two answers to one line, of which the person gave one up: which of them, the log does not say plainly."""
    session = claude_log.read(
        log(
            {**claude_line("user", "Go."), "uuid": "1"},
            {**claude_line("assistant", [text_block("This way.")]), "uuid": "2", "parentUuid": "1"},
            {**claude_line("assistant", [text_block("That way.")]), "uuid": "3", "parentUuid": "1"},
        )
    )
    assert [unit.content for unit in session.units] == ["Go.", "This way.", "That way."]


DAMAGED = (
    b'{"type": "user", "mess',  # the program was killed while it wrote
    b"\xff\xfe",
    b"[1, 2]",
    b"null",
    b"[" * 100_000,
    b'{"type": 3}',
)


def test_claude_damaged() -> None:
    odd = [claude_line("user", 5), claude_line("user", ["no part"]), {"type": "user", "message": "no object"}]
    session = claude_log.read(log(*DAMAGED, *odd, claude_line("user", "Go."), claude_line("user", ""), b""))
    assert [unit.id for unit in session.units] == ["message:10"]
    assert session.unreadable_lines == len(DAMAGED) + len(odd)


CODEX = log(
    {"timestamp": "t", "type": "session_meta", "payload": {"id": "s", "cwd": "/r", "cli_version": "0.155.0"}},
    {"timestamp": "t", "type": "turn_context", "payload": {"cwd": "/r", "model": "gpt-6.1-sol"}},
    codex_message("developer", "Rules of the program."),
    codex_message("user", "<environment_context>\n  <cwd>/r</cwd>\n</environment_context>"),
    codex_message("user", "# AGENTS.md instructions for /r\n\n<INSTRUCTIONS>"),
    codex_message("user", "Build the parser."),
    {"timestamp": "t", "type": "event_msg", "payload": {"type": "user_message", "message": "Build the parser."}},
    codex_line("reasoning", summary=[], encrypted_content="x"),
    codex_line("function_call", name="exec_command", call_id="c1", arguments='{"cmd": "make", "timeout": 5}'),
    codex_line("custom_tool_call", name="apply_patch", call_id="c2", input="*** Begin Patch\n-a\n+b"),
    codex_line("function_call_output", call_id="c1", output='{"output": "12 passed", "metadata": {"exit_code": 0}}'),
    codex_line("custom_tool_call_output", call_id="c2", output=[{"type": "input_text", "text": "Done"}]),
    codex_line("local_shell_call", call_id="c3", action={"type": "exec", "command": ["ls"]}),
    codex_line("function_call_output", call_id="c3", output={"content": "a.py", "success": True}),
    codex_message("assistant", "It is built."),
)


def test_codex() -> None:
    session = codex_log.read(CODEX)
    assert [(unit.id, unit.title) for unit in session.units] == [
        ("message:6", "user, line 6"),
        ("tool:9", "exec_command, line 9"),
        ("tool:10", "apply_patch, line 10"),
        ("tool:13", "shell, line 13"),
        ("message:15", "assistant, line 15"),
    ]
    contents = [unit.content for unit in session.units if unit.type == TOOL_RESULT]
    assert contents == [
        "cmd: make\ntimeout: 5\n\n12 passed",
        "*** Begin Patch\n-a\n+b\n\nDone",
        'type: exec\ncommand: ["ls"]\n\na.py',
    ]
    assert (session.model, session.unreadable_lines) == ("gpt-6.1-sol", 0)


def test_codex_compacted() -> None:
    history = [codex_message("user", "Build it.")["payload"], {"type": "compaction", "encrypted_content": "x"}]
    for payload, ids in (
        ({"message": "", "replacement_history": history}, ["message:2", "message:3"]),
        ({"message": "It was built."}, ["message:2", "message:3"]),
        ({"message": ""}, ["message:3"]),
    ):
        compacted = {"timestamp": "t", "type": "compacted", "payload": payload}
        session = codex_log.read(log(codex_message("user", "Long ago."), compacted, codex_message("user", "Go on.")))
        assert [unit.id for unit in session.units] == ids
        assert session.earlier_messages == 1


def test_codex_of_old() -> None:
    """The items stood bare, below a line about the session and among lines about its state."""
    bare = [codex_message(*role_and_text)["payload"] for role_and_text in (("user", "Go."), ("assistant", "Yes."))]
    session = codex_log.read(log({"id": "s", "timestamp": "t", "instructions": None}, {"record_type": "state"}, *bare))
    assert [unit.title for unit in session.units] == ["user, line 3", "assistant, line 4"]
    assert session.unreadable_lines == 0


def test_codex_damaged() -> None:
    odd = [{"type": "response_item", "payload": 5}, {"type": "compacted"}]
    empty = [codex_line("message", role="user", content=7), {"type": "response_item", "payload": {"type": []}}]
    session = codex_log.read(log(*DAMAGED, *odd, *empty, codex_message("user", "Go.")))
    assert [unit.id for unit in session.units] == ["message:11"]
    assert session.unreadable_lines == len(DAMAGED) + len(odd)


def test_nested_deep() -> None:
    deep = b"1"
    for _ in range(950):
        deep = b'{"content": ' + deep + b"}"
    line = json.dumps(claude_line("user", [tool_result("c", "DEEP")])).encode().replace(b'"DEEP"', deep)
    call = (
        json.dumps(codex_line("function_call", name="f", call_id="c", arguments="DEEP"))
        .encode()
        .replace(b'"DEEP"', deep)
    )
    assert [unit.id for unit in claude_log.read(log(line, claude_line("user", "Go."))).units][-1] == "message:2"
    assert [unit.id for unit in codex_log.read(log(call, codex_message("user", "Go."))).units][-1] == "message:2"


def test_each_knows_its_own() -> None:
    for data, own_reader, other_reader in ((CLAUDE, claude_log, codex_log), (CODEX, codex_log, claude_log)):
        lines = [json.loads(line) for line in data.splitlines()]
        assert any(own_reader.is_log_line(line) for line in lines)
        assert not any(other_reader.is_log_line(line) for line in lines)
