"""What each program sends, as the call that it means; what is not known to the last field is not understood."""

from __future__ import annotations

import json
from typing import Any

import pytest

from execplan.agents.guard import any_program, claude, codex, gemini, opencode
from execplan.agents.guard.tool_call import (
    COMMAND,
    DELETE,
    EDIT,
    HARMLESS,
    READ,
    TOOL,
    WRITE,
    FileEdit,
    HookResponse,
    NotUnderstoodError,
    ToolCall,
)
from tests.agents.guard.guard_repository import GuardRepository, guard, hook

CLAUDE: list[tuple[str, dict[str, Any], ToolCall]] = [
    ("Bash", {"command": "ls", "description": "List", "timeout": 5}, ToolCall(COMMAND, "Bash", "/r", "s", "ls")),
    ("Bash", {"command": "ls", "run_in_background": True}, ToolCall(COMMAND, "Bash", "/r", "s", "ls", True)),
    (
        "Monitor",
        {"command": "tail -f x", "persistent": True},
        ToolCall(COMMAND, "Monitor", "/r", "s", "tail -f x", True),
    ),
    (
        "Write",
        {"file_path": "/r/a", "content": "x"},
        ToolCall(WRITE, "Write", "/r", "s", edits=(FileEdit("/r/a", WRITE, "x"),)),
    ),
    (
        "Edit",
        {"file_path": "/r/a", "old_string": "x", "new_string": "y", "replace_all": True},
        ToolCall(EDIT, "Edit", "/r", "s", edits=(FileEdit("/r/a", EDIT, replacements=(("x", "y", True),)),)),
    ),
    (
        "MultiEdit",
        {"file_path": "a", "edits": [{"old_string": "x", "new_string": "y"}, {"old_string": "y", "new_string": "z"}]},
        ToolCall(
            EDIT,
            "MultiEdit",
            "/r",
            "s",
            edits=(FileEdit("a", EDIT, replacements=(("x", "y", False), ("y", "z", False))),),
        ),
    ),
    ("Read", {"file_path": "/r/a", "limit": 5}, ToolCall(READ, "Read", "/r", "s", read_paths=("/r/a",))),
    (
        "Grep",
        {"pattern": "x", "path": "src", "-n": True},
        ToolCall(READ, "Grep", "/r", "s", read_paths=("src",), searches_content=True),
    ),
    ("Grep", {"pattern": "x"}, ToolCall(READ, "Grep", "/r", "s", read_paths=("/r",), searches_content=True)),
    ("Glob", {"pattern": "**/*.py"}, ToolCall(READ, "Glob", "/r", "s")),
    ("Glob", {"pattern": "/etc/*", "path": "src"}, ToolCall(READ, "Glob", "/r", "s", read_paths=("src", "/etc/*"))),
    ("Glob", {"pattern": "../*"}, ToolCall(READ, "Glob", "/r", "s", read_paths=("../*",))),
]
CODEX: list[tuple[str, dict[str, Any], ToolCall]] = [
    ("exec_command", {"cmd": "ls", "workdir": "src"}, ToolCall(COMMAND, "exec_command", "/r/src", "s", "ls")),
    ("exec_command", {"cmd": "ls", "workdir": "/x"}, ToolCall(COMMAND, "exec_command", "/x", "s", "ls")),
    ("view_image", {"path": "a.png"}, ToolCall(READ, "view_image", "/r", "s", read_paths=("a.png",))),
]
GEMINI: list[tuple[str, dict[str, Any], ToolCall]] = [
    (
        "run_shell_command",
        {"command": "ls", "dir_path": "src", "is_background": True, "wait_for_previous": True},
        ToolCall(COMMAND, "run_shell_command", "/r/src", "s", "ls", True),
    ),
    (
        "write_file",
        {"file_path": "a", "content": "x"},
        ToolCall(WRITE, "write_file", "/r", "s", edits=(FileEdit("a", WRITE, "x"),)),
    ),
    (
        "replace",
        {"file_path": "a", "instruction": "i", "old_string": "x", "new_string": "y", "allow_multiple": True},
        ToolCall(EDIT, "replace", "/r", "s", edits=(FileEdit("a", EDIT, replacements=(("x", "y", True),)),)),
    ),
    ("read_file", {"file_path": "a", "start_line": 2}, ToolCall(READ, "read_file", "/r", "s", read_paths=("a",))),
    ("list_directory", {"dir_path": "src"}, ToolCall(READ, "list_directory", "/r", "s", read_paths=("src",))),
    ("glob", {"pattern": "../*"}, ToolCall(READ, "glob", "/r", "s", read_paths=("../*",))),
    (
        "grep_search",
        {"pattern": "x", "dir_path": "src", "include_pattern": "*.py"},
        ToolCall(READ, "grep_search", "/r", "s", read_paths=("src", "src/{*.py}"), searches_content=True),
    ),
]
OPENCODE: list[tuple[str, dict[str, Any], ToolCall]] = [
    ("bash", {"command": "ls", "workdir": "/x"}, ToolCall(COMMAND, "bash", "/x", "s", "ls")),
    (
        "write",
        {"filePath": "a", "content": "x"},
        ToolCall(WRITE, "write", "/r", "s", edits=(FileEdit("a", WRITE, "x"),)),
    ),
    (
        "edit",
        {"filePath": "a", "oldString": "x", "newString": "y"},
        ToolCall(EDIT, "edit", "/r", "s", edits=(FileEdit("a", EDIT, replacements=(("x", "y", False),)),)),
    ),
    ("read", {"filePath": "/r/a", "limit": 5}, ToolCall(READ, "read", "/r", "s", read_paths=("/r/a",))),
    ("glob", {"pattern": "/etc/*"}, ToolCall(READ, "glob", "/r", "s", read_paths=("/etc/*",))),
    (
        "grep",
        {"pattern": "x", "include": "*.py"},
        ToolCall(READ, "grep", "/r", "s", read_paths=("/r", "/r/{*.py}"), searches_content=True),
    ),
]
NEUTRAL: list[tuple[dict[str, Any], ToolCall]] = [
    ({"tool": "command", "command": "ls"}, ToolCall(COMMAND, "command", "/r", "s", "ls")),
    (
        {"tool": "write", "path": "a", "content": ""},
        ToolCall(WRITE, "write", "/r", "s", edits=(FileEdit("a", WRITE, ""),)),
    ),
    (
        {"tool": "edit", "path": "a", "old": "x", "new": "y", "all": True},
        ToolCall(EDIT, "edit", "/r", "s", edits=(FileEdit("a", EDIT, replacements=(("x", "y", True),)),)),
    ),
    ({"tool": "delete", "path": "a"}, ToolCall(DELETE, "delete", "/r", "s", edits=(FileEdit("a", DELETE),))),
    ({"tool": "read", "path": "a"}, ToolCall(READ, "read", "/r", "s", read_paths=("a",))),
    (
        {"tool": "tool", "name": "db.query", "parameters": {"x": 1}},
        ToolCall(TOOL, "db.query", "/r", "s", arguments={"x": 1}),
    ),
]


def _plain(call: ToolCall) -> ToolCall:
    return call if call.kind == TOOL else call._replace(arguments={})


@pytest.mark.parametrize(("tool", "given", "call"), CLAUDE)
def test_claude(tool: str, given: dict[str, Any], call: ToolCall) -> None:
    assert _plain(claude.read(hook(tool, "/r", "s", **given))) == call


@pytest.mark.parametrize(("tool", "given", "call"), CODEX)
def test_codex(tool: str, given: dict[str, Any], call: ToolCall) -> None:
    assert _plain(codex.read(hook(tool, "/r", "s", **given))) == call


@pytest.mark.parametrize(("tool", "given", "call"), GEMINI)
def test_gemini(tool: str, given: dict[str, Any], call: ToolCall) -> None:
    assert _plain(gemini.read(_event(gemini.EVENT, tool, **given))) == call


@pytest.mark.parametrize(("tool", "given", "call"), OPENCODE)
def test_opencode(tool: str, given: dict[str, Any], call: ToolCall) -> None:
    assert _plain(opencode.read(_event(opencode.EVENT, tool, **given))) == call


def _event(event: str, tool: str, **arguments: Any) -> dict[str, Any]:
    return {**hook(tool, "/r", "s", **arguments), "hook_event_name": event}


def test_tools_of_servers_have_the_same_names_in_all_programs() -> None:
    context = {"server_name": "execplan", "tool_name": "edit_task", "command": "execplan"}
    payload = _event(gemini.EVENT, "mcp_execplan_edit_task", task="x")
    assert gemini.read({**payload, "mcp_context": context}).tool == "mcp__execplan__edit_task"
    assert opencode.read(_event(opencode.EVENT, "execplan_edit_task")).tool == "mcp__execplan__edit_task"
    assert opencode.read(_event(opencode.EVENT, "other_edit_task")).tool == "other_edit_task"


@pytest.mark.parametrize(
    ("form", "tool", "given"),
    [
        (gemini, "run_shell_command", {"command": "ls", "dir_path": "../x"}),
        (gemini, "run_shell_command", {"command": "ls", "shell": "sh"}),
        (gemini, "glob", {"pattern": "{.,x}./*"}),
        (gemini, "read_file", {"path": "a"}),
        (opencode, "bash", {"command": "ls", "workdir": "../x"}),
        (opencode, "edit", {"filePath": "a", "oldString": "x"}),
    ],
)
def test_not_understood_of_gemini_and_opencode(form: Any, tool: str, given: dict[str, Any]) -> None:
    with pytest.raises(NotUnderstoodError):
        form.read(_event(form.EVENT, tool, **given))


def test_what_may_do_more_than_the_guard_sees_is_not_harmless() -> None:
    assert gemini.read(_event(gemini.EVENT, "invoke_agent", agent_name="x", prompt="y")).kind == TOOL
    assert gemini.read(_event(gemini.EVENT, "write_todos", todos=[])).kind == HARMLESS
    assert opencode.read(_event(opencode.EVENT, "apply_patch", patchText="x")).kind == TOOL
    assert opencode.read(_event(opencode.EVENT, "task", prompt="y")).kind == HARMLESS


@pytest.mark.parametrize("event", [gemini.EVENT, opencode.EVENT])
def test_a_program_is_known_by_its_event_and_gets_its_own_answer(begun: GuardRepository, event: str) -> None:
    tool = "run_shell_command" if event == gemini.EVENT else "bash"
    call = {**hook(tool, str(begun.path), "s", command="touch evil"), "hook_event_name": event}
    denied = guard(json.dumps(call).encode())
    assert denied.status == 2
    assert json.loads(denied.out)["decision"] == "deny"
    assert b"touch" in denied.err
    call["tool_input"] = {"command": "git status"}
    allowed = guard(json.dumps(call).encode())
    assert (allowed.status, json.loads(allowed.out)) == (
        0,
        {} if event == gemini.EVENT else {"decision": "allow"},
    )


@pytest.mark.parametrize(("said", "call"), NEUTRAL)
def test_neutral(said: dict[str, Any], call: ToolCall) -> None:
    assert _plain(any_program.read({**said, "cwd": "/r", "session": "s"})) == call


@pytest.mark.parametrize("tool", ["mcp__db__query", "NotebookEdit", "PowerShell", "WebFetch", "Skill", "Deploy"])
def test_any_other_tool_is_known_by_all_that_it_is_given(tool: str) -> None:
    for form in (claude, codex):
        assert form.read(hook(tool, "/r", "s", x=1)) == ToolCall(TOOL, tool, "/r", "s", arguments={"x": 1})


def test_what_changes_nothing() -> None:
    assert claude.read(hook("TodoWrite", "/r", todos=[])).kind == HARMLESS
    assert claude.read(hook("Agent", "/r", description="x", prompt="y", subagent_type="z")).kind == HARMLESS
    assert claude.read(hook("Agent", "/r", prompt="y", effort="high")).kind == HARMLESS
    assert codex.read(hook("spawn_agent", "/r", message="x")).kind == HARMLESS


@pytest.mark.parametrize("tool", ["ListAgents", "ReportFindings", "ScheduleWakeup", "SendMessage"])
def test_what_changes_nothing_in_claude_code(tool: str) -> None:
    assert claude.read(hook(tool, "/r", x=1)).kind == HARMLESS


@pytest.mark.parametrize(
    "tool",
    [
        "collaborationspawn_agent",
        "collaborationwait_agent",
        "collaborationlist_agents",
        "multi_agent_v1wait_agent",
        "multi_agent_v1close_agent",
        "tool_search",
        "get_goal",
    ],
)
def test_what_changes_nothing_in_codex(tool: str) -> None:
    assert codex.read(hook(tool, "/r", x=1)).kind == HARMLESS
    assert codex.read(hook(f"mcp__{tool}", "/r", x=1)).kind == TOOL


def test_fields_that_claude_code_fills_in() -> None:
    assert claude.read(hook("Read", "/r", file_path="a", allow_large=True)).read_paths == ("a",)
    edit = claude.read(hook("Edit", "/r", file_path="a", old_string="x", new_string="y", replace_all=False))
    assert edit.edits == (FileEdit("a", EDIT, replacements=(("x", "y", False),)),)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Bash", {"command": "ls", "elevated": False}),
        ("Bash", {"command": "ls", "dangerouslyDisableSandbox": True}),
        ("Bash", {"command": "ls", "run_in_background": "no"}),
        ("Bash", {"command": ["ls"]}),
        ("Bash", {}),
        ("Write", {"file_path": "a", "content": "x", "append": True}),
        ("Write", {"file_path": "", "content": "x"}),
        ("Write", {"file_path": "a\0b", "content": "x"}),
        ("Write", {"file_path": "a" * 5000, "content": "x"}),
        ("Edit", {"file_path": "a", "old_string": "x"}),
        ("MultiEdit", {"file_path": "a", "edits": []}),
        ("MultiEdit", {"file_path": "a", "edits": [{"old_string": "x", "new_string": "y", "regex": True}]}),
        ("Read", {"file_path": "a", "then": "b"}),
        ("Agent", {"description": "x", "prompt": "y", "isolation": "worktree"}),
    ],
)
def test_not_understood(tool: str, given: dict[str, Any]) -> None:
    with pytest.raises(NotUnderstoodError):
        claude.read(hook(tool, "/r", **given))


@pytest.mark.parametrize(
    "given", [{"cmd": "ls", "tty": True}, {"cmd": "ls", "sandbox_permissions": "require_escalated"}, {"command": "ls"}]
)
def test_not_understood_of_codex(given: dict[str, Any]) -> None:
    with pytest.raises(NotUnderstoodError):
        codex.read(hook("exec_command", "/r", **given))


def _patch(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


PATCHES = {
    _patch("*** Add File: a", "+x", "+"): (FileEdit("a", WRITE, "x\n\n"),),
    _patch("*** Delete File: a"): (FileEdit("a", DELETE),),
    _patch("*** Update File: a", "@@", " x", "-y", "+z", "@@", "-w"): (
        FileEdit("a", EDIT, hunks=((("x", "y"), ("x", "z")), (("w",), ()))),
    ),
    _patch("*** Update File: a", "-y", "+z", "*** End of File"): (
        FileEdit("a", EDIT, hunks=((("y",), ("z",)),), is_at_end=True),
    ),
    _patch("*** Update File: a", "*** Move to: b", "@@", "-y", "+z"): (FileEdit("a", DELETE), FileEdit("b", WRITE)),
    _patch("*** Add File: a", "+x", "*** Delete File: b"): (FileEdit("a", WRITE, "x\n"), FileEdit("b", DELETE)),
}


@pytest.mark.parametrize("patch", PATCHES)
def test_patches(patch: str) -> None:
    call = codex.read(hook("apply_patch", "/r", command=patch))
    assert call.edits == PATCHES[patch]
    assert call.kind == (call.edits[0].kind if len(call.edits) == 1 else EDIT)


@pytest.mark.parametrize(
    "patch",
    [
        "",
        "*** Begin Patch\n*** End Patch",
        _patch("x"),
        _patch("*** Add File: a", "x"),
        _patch("*** Add File: "),
        _patch("*** Delete File: a", "+x"),
        _patch("*** Update File: a"),
        _patch("*** Update File: a", "@@ def f():", "-y"),
        _patch("*** Update File: a", "@@", "+y"),
        _patch("*** Update File: a", "@@", "-y", "*** End of File", "-z"),
        _patch("*** Update File: a", "@@", "?y"),
        _patch("*** Add File: a", "+x") + "\n" + _patch("*** Add File: b", "+x"),
        "cat <<E\n" + _patch("*** Add File: a", "+x"),
    ],
)
def test_patches_that_could_be_read_in_two_ways(patch: str) -> None:
    with pytest.raises(NotUnderstoodError):
        codex.read(hook("apply_patch", "/r", command=patch))


@pytest.mark.parametrize("kind", ["allow", "ask", "deny"])
def test_answers(kind: str) -> None:
    decision = HookResponse(kind, 'quoted "words"', "build")
    answer = claude.answer(decision)
    output = json.loads(answer.output)["hookSpecificOutput"]
    assert (output["permissionDecision"], output["permissionDecisionReason"]) == (kind, 'quoted "words"')
    assert output["hookEventName"] == "PreToolUse"
    assert (answer.status, answer.error_output) == ((2, b'quoted "words"\n') if kind == "deny" else (0, b""))
    answer = codex.answer(decision)
    if kind == "allow":
        assert answer == (b"{}\n", b"", 0)
    else:
        assert json.loads(answer.output)["hookSpecificOutput"]["permissionDecision"] == "deny"
        assert (answer.status, answer.error_output) == (2, b'quoted "words"\n')
    answer = any_program.answer(decision)
    data = json.loads(answer.output)["data"]
    assert (answer.status, data["decision"]) == (0, kind)
    assert (data["step"], data["nearest"]) == ((None, "build") if kind == "deny" else ("build", None))


@pytest.mark.parametrize("tool", ["AskUserQuestion", "EnterPlanMode", "ExitPlanMode"])
def test_a_dialog_is_neither_allowed_nor_denied(begun: GuardRepository, tool: str) -> None:
    request = json.dumps(hook(tool, str(begun.path), plan="x")).encode()
    answer = guard(request, "--program", "claude")
    assert (answer.status, answer.out, answer.err) == (0, b"{}\n", b"")
    assert b"deny" in claude.answer(HookResponse("deny", "x", "", tool)).output
    assert guard(json.dumps(hook("TodoWrite", str(begun.path), todos=[])).encode()).kind == "allow"


def test_codex_is_never_told_nothing_with_a_denial_that_says_nothing() -> None:
    answer = codex.answer(HookResponse("deny", ""))
    assert json.loads(answer.output)["hookSpecificOutput"]["permissionDecisionReason"]
    assert answer.error_output.strip()
