"""Logs of sessions in the forms of the programs that write them, whole, cut short, compacted and damaged."""

from __future__ import annotations

import json
from typing import Any

from execplan.context.context_pack import MESSAGE, TOOL_RESULT
from execplan.context.session_logs import claude_log, codex_log


def log(*lines: Any) -> bytes:
    """A log of these lines; what is bytes stands as it is."""
    return b"\n".join([each if isinstance(each, bytes) else json.dumps(each).encode() for each in lines]) + b"\n"


def says(who: str, content: Any, **more: Any) -> dict[str, Any]:
    """A line of Claude Code."""
    message = {"role": who, "content": content}
    if who == "assistant":
        message["model"] = "claude-opus-5-5"
    return {"type": who, "uuid": "u", "parentUuid": None, "isSidechain": False, "message": message, **more}


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def use(call: str, name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": name, "input": given}


def result(call: str, content: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "content": content}


def item(kind: str, **more: Any) -> dict[str, Any]:
    """A line of Codex."""
    return {"timestamp": "2026-11-22T10:00:00Z", "type": "response_item", "payload": {"type": kind, **more}}


def spoken(role: str, words: str) -> dict[str, Any]:
    kind = "input_text" if role == "user" else "output_text"
    return item("message", role=role, content=[{"type": kind, "text": words}])


CLAUDE = log(
    {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
    says("user", "Build the parser."),
    says("user", "Caveat: the program itself says this.", isMeta=True),
    says(
        "assistant",
        [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            text("I read it."),
            use("c1", "Bash", command="make"),
        ],
    ),
    says("user", [result("c1", [text("12 passed"), {"type": "image", "source": {}}])]),
    says("assistant", [use("c2", "Read", file_path="src/a.py", limit=3)]),
    {"type": "system", "subtype": "stop_hook_summary"},
)


def test_claude() -> None:
    found = claude_log.read(CLAUDE)
    assert [(each.id, each.type, each.title) for each in found.units] == [
        ("message:2", MESSAGE, "user, line 2"),
        ("message:4", MESSAGE, "assistant, line 4"),
        ("tool:4", TOOL_RESULT, "Bash, line 4"),
        ("tool:6", TOOL_RESULT, "Read, line 6"),
    ]
    assert found.units[2].content == "command: make\n\n12 passed\n(image, not text)"
    assert found.units[3].content == "file_path: src/a.py\nlimit: 3\n"  # it has no result yet
    assert (found.model, found.unreadable_lines, found.earlier_messages, found.other_agent_lines) == (
        "claude-opus-5-5",
        0,
        0,
        0,
    )
    orders = [each.order for each in found.units]
    assert orders == sorted(orders)


def test_ids_stay_while_a_log_grows() -> None:
    short = claude_log.read(b"\n".join(CLAUDE.split(b"\n")[:4]) + b"\n")
    assert [each.id for each in claude_log.read(CLAUDE).units][:3] == [each.id for each in short.units]


def test_claude_compacted() -> None:
    found = claude_log.read(
        log(
            says("user", "Long ago."),
            says("assistant", [text("Yes."), use("c1", "Bash", command="make")]),
            {"type": "system", "subtype": "compact_boundary", "compactMetadata": {"trigger": "auto"}},
            says("user", "What came before.", isCompactSummary=True),
            says("user", [result("c1", "a result whose call is gone")]),
            says("user", "Go on."),
        )
    )
    assert found.earlier_messages == 2
    assert [(each.id, each.title) for each in found.units] == [
        ("message:4", "summary of what came before, line 4"),
        ("tool:5", "tool, line 5"),
        ("message:6", "user, line 6"),
    ]


def test_claude_agents_beside() -> None:
    beside = says("assistant", [text("I am another.")], isSidechain=True)
    found = claude_log.read(log(says("user", "Go."), beside, beside))
    assert (len(found.units), found.other_agent_lines) == (1, 2)
    alone = claude_log.read(log(beside, beside))
    assert (len(alone.units), alone.other_agent_lines) == (2, 0)


def test_claude_wound_back() -> None:
    """Two answers to one line, of which the person gave one up: which of them, the log does not say plainly."""
    found = claude_log.read(
        log(
            {**says("user", "Go."), "uuid": "1"},
            {**says("assistant", [text("This way.")]), "uuid": "2", "parentUuid": "1"},
            {**says("assistant", [text("That way.")]), "uuid": "3", "parentUuid": "1"},
        )
    )
    assert [each.content for each in found.units] == ["Go.", "This way.", "That way."]


DAMAGED = (
    b'{"type": "user", "mess',  # the program was killed while it wrote
    b"\xff\xfe",
    b"[1, 2]",
    b"null",
    b"[" * 100_000,
    b'{"type": 3}',
)


def test_claude_damaged() -> None:
    odd = [says("user", 5), says("user", ["no part"]), {"type": "user", "message": "no object"}]
    found = claude_log.read(log(*DAMAGED, *odd, says("user", "Go."), says("user", ""), b""))
    assert [each.id for each in found.units] == ["message:10"]
    assert found.unreadable_lines == len(DAMAGED) + len(odd)


CODEX = log(
    {"timestamp": "t", "type": "session_meta", "payload": {"id": "s", "cwd": "/r", "cli_version": "0.155.0"}},
    {"timestamp": "t", "type": "turn_context", "payload": {"cwd": "/r", "model": "gpt-6.1-sol"}},
    spoken("developer", "Rules of the program."),
    spoken("user", "<environment_context>\n  <cwd>/r</cwd>\n</environment_context>"),
    spoken("user", "# AGENTS.md instructions for /r\n\n<INSTRUCTIONS>"),
    spoken("user", "Build the parser."),
    {"timestamp": "t", "type": "event_msg", "payload": {"type": "user_message", "message": "Build the parser."}},
    item("reasoning", summary=[], encrypted_content="x"),
    item("function_call", name="exec_command", call_id="c1", arguments='{"cmd": "make", "timeout": 5}'),
    item("custom_tool_call", name="apply_patch", call_id="c2", input="*** Begin Patch\n-a\n+b"),
    item("function_call_output", call_id="c1", output='{"output": "12 passed", "metadata": {"exit_code": 0}}'),
    item("custom_tool_call_output", call_id="c2", output=[{"type": "input_text", "text": "Done"}]),
    item("local_shell_call", call_id="c3", action={"type": "exec", "command": ["ls"]}),
    item("function_call_output", call_id="c3", output={"content": "a.py", "success": True}),
    spoken("assistant", "It is built."),
)


def test_codex() -> None:
    found = codex_log.read(CODEX)
    assert [(each.id, each.title) for each in found.units] == [
        ("message:6", "user, line 6"),
        ("tool:9", "exec_command, line 9"),
        ("tool:10", "apply_patch, line 10"),
        ("tool:13", "shell, line 13"),
        ("message:15", "assistant, line 15"),
    ]
    contents = [each.content for each in found.units if each.type == TOOL_RESULT]
    assert contents == [
        "cmd: make\ntimeout: 5\n\n12 passed",
        "*** Begin Patch\n-a\n+b\n\nDone",
        'type: exec\ncommand: ["ls"]\n\na.py',
    ]
    assert (found.model, found.unreadable_lines) == ("gpt-6.1-sol", 0)


def test_codex_compacted() -> None:
    history = [spoken("user", "Build it.")["payload"], {"type": "compaction", "encrypted_content": "x"}]
    for payload, ids in (
        ({"message": "", "replacement_history": history}, ["message:2", "message:3"]),
        ({"message": "It was built."}, ["message:2", "message:3"]),
        ({"message": ""}, ["message:3"]),
    ):
        compacted = {"timestamp": "t", "type": "compacted", "payload": payload}
        found = codex_log.read(log(spoken("user", "Long ago."), compacted, spoken("user", "Go on.")))
        assert [each.id for each in found.units] == ids
        assert found.earlier_messages == 1


def test_codex_of_old() -> None:
    """The items stood bare, below a line about the session and among lines about its state."""
    bare = [spoken(*each)["payload"] for each in (("user", "Go."), ("assistant", "Yes."))]
    found = codex_log.read(log({"id": "s", "timestamp": "t", "instructions": None}, {"record_type": "state"}, *bare))
    assert [each.title for each in found.units] == ["user, line 3", "assistant, line 4"]
    assert found.unreadable_lines == 0


def test_codex_damaged() -> None:
    odd = [{"type": "response_item", "payload": 5}, {"type": "compacted"}]
    empty = [item("message", role="user", content=7), {"type": "response_item", "payload": {"type": []}}]
    found = codex_log.read(log(*DAMAGED, *odd, *empty, spoken("user", "Go.")))
    assert [each.id for each in found.units] == ["message:11"]
    assert found.unreadable_lines == len(DAMAGED) + len(odd)


def test_nested_deep() -> None:
    deep = b"1"
    for _ in range(950):
        deep = b'{"content": ' + deep + b"}"
    line = json.dumps(says("user", [result("c", "DEEP")])).encode().replace(b'"DEEP"', deep)
    call = json.dumps(item("function_call", name="f", call_id="c", arguments="DEEP")).encode().replace(b'"DEEP"', deep)
    assert [each.id for each in claude_log.read(log(line, says("user", "Go."))).units][-1] == "message:2"
    assert [each.id for each in codex_log.read(log(call, spoken("user", "Go."))).units][-1] == "message:2"


def test_each_knows_its_own() -> None:
    for data, own, other in ((CLAUDE, claude_log, codex_log), (CODEX, codex_log, claude_log)):
        lines = [json.loads(each) for each in data.splitlines()]
        assert any(own.is_log_line(each) for each in lines)
        assert not any(other.is_log_line(each) for each in lines)
