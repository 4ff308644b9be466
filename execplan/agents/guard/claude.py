"""Claude Code's hook format: the input and output of its PreToolUse hooks, and the skills that it can call.

A skill of the repository only gives instructions, unless its file can run commands. Before the program shows a skill
to the agent, it runs each command that the file has as !`command`, and asks no hook.
"""

from __future__ import annotations

import os

from execplan.agents.guard import tool_call
from execplan.agents.guard.tool_call import COMMAND, EDIT, HARMLESS, READ, WRITE, FileEdit, HookOutput, ToolCall
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.secrets.secret_files import CODE_TYPES
from execplan.core.text import fast_json
from execplan.execution.permission import ALLOW, DENY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, Final

    from execplan.agents.guard.tool_call import HookResponse

_FOLDER: Final = ".claude"
_MAX_BYTES: Final = 1 << 20
_COMMAND_MARKS: Final = ("!`", "!$", "`!", "~!")
"""Marks of a command in a line, possibly after an argument is inserted, or of a code block of commands."""
_HARMLESS_FIELDS: Final = frozenset(
    "allowed-tools argument-hint compatibility description license metadata name user-invocable version when_to_use".split()
)
"""Front matter that starts nothing. `allowed-tools` skips questions of the program, but not the guard."""
EVENT: Final = "PreToolUse"
_AFTERWARD_EVENT: Final = "PostToolUse"
HARMLESS_TOOLS: Final = frozenset(
    "AskUserQuestion BashOutput CronList EnterPlanMode ExitPlanMode KillShell ListAgents ListMcpResourcesTool ReportFindings "
    "ScheduleWakeup SendMessage TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate TodoRead TodoWrite ToolSearch".split()
)
"""Tools that change only the program's own notes, or stop what an allowed call has started."""
_DIALOGS: Final = frozenset(("AskUserQuestion", "EnterPlanMode", "ExitPlanMode"))
"""Harmless tools that show a dialog and wait for a person's answer."""
_AGENT_FIELDS: Final = (
    "description prompt subagent_type model resume run_in_background max_turns name team_name mode effort"
)
"""Fields allowed in a call that starts another agent, whose calls are also checked by the guard.

They do not include a field for a separate work tree, in which the agent would be elsewhere.
"""

_ATTENDED: Final = "CLAUDE_CODE_SESSION_ATTENDED"
_ASKING_VERSION: Final = (2, 1, 85)
"""First version that asks whatever its permission mode and its rules allow."""
_TAIL_BYTES: Final = 1 << 18


def find_instructions(name: str, arguments: str, cwd: str) -> str:
    """Return the path of a skill's file if the skill only gives instructions; empty if it may do more, or is unknown.

    Only skills of the repository count: those of the user and of plugins are elsewhere. `cwd` is absolute.
    """
    if not name.isascii() or not name.replace("-", "").replace("_", "").isalnum() or "`" in arguments:
        return ""
    paths = [path for folder in _skill_folders(cwd) if os.path.lexists(path := os.path.join(folder, name, "SKILL.md"))]
    if os.path.lexists(os.path.join(_user_folder(), "skills", name)):  # it takes precedence
        return ""
    return paths[0] if paths and all([_only_instructs(path) for path in paths]) else ""


def _skill_folders(cwd: str) -> Iterator[str]:
    """Yield where the program looks for the skills of a repository: from the directory up to the root."""
    folder = cwd
    while True:
        yield os.path.join(folder, _FOLDER, "skills")
        if os.path.lexists(os.path.join(folder, ".git")) or folder == os.path.dirname(folder):
            return
        folder = os.path.dirname(folder)


def _user_folder() -> str:
    return os.environ.get("CLAUDE_CONFIG_DIR", "") or os.path.join(os.path.expanduser("~"), _FOLDER)


def _only_instructs(path: str) -> bool:
    """Check whether a skill's file has neither a command nor front matter that may start one."""
    try:
        text = file_access.read(path, _MAX_BYTES)[0].decode()
    except (ExecplanError, UnicodeDecodeError):
        return False
    if any([mark in text for mark in _COMMAND_MARKS]):
        return False
    front_matter, is_closed = "", False
    if text.startswith("---\n"):
        front_matter, separator, _ = text[4:].partition("\n---\n")
        is_closed = bool(separator)
    names = [line.partition(":")[0] for line in front_matter.split("\n") if line and not line[0].isspace()]
    return is_closed and _HARMLESS_FIELDS.issuperset(names)


def can_ask(payload: Mapping[str, Any]) -> bool:
    """Check whether the program asks its user, and reports afterward whether the call was made."""
    if os.environ.get(_ATTENDED) == "0" or not tool_call.optional_text(payload, "tool_use_id"):
        return False
    return _find_version(tool_call.optional_text(payload, "transcript_path")) >= _ASKING_VERSION


def _find_version(path: str) -> tuple[int, ...]:
    """Return the program's version from the end of its transcript; empty if it is unknown."""
    try:
        handle = file_access.open_regular(path)
    except (OSError, ValueError):
        return ()
    try:
        data = file_access.read_at(handle, _TAIL_BYTES, max(0, os.fstat(handle).st_size - _TAIL_BYTES))
    finally:
        os.close(handle)
    for line in reversed(data.splitlines()):
        if b'"version"' in line and (text := _line_version(line)):
            numbers = text.partition("-")[0].split(".")
            is_version = all([number.isascii() and number.isdigit() for number in numbers])
            return tuple([int(number) for number in numbers]) if is_version else ()
    return ()


def _line_version(line: bytes) -> str:
    """Return the version in a line of a transcript; empty if there is none."""
    try:
        entry = fast_json.read(line.decode())
    except (ValueError, RecursionError):
        return ""
    version = entry.get("version") if isinstance(entry, dict) else ""
    return version if isinstance(version, str) else ""


def made_call(payload: Mapping[str, Any]) -> str | None:
    """Return the ID of a call that the program reports as made; None if it asks about one."""
    is_report = payload.get("hook_event_name") == _AFTERWARD_EVENT
    return tool_call.optional_text(payload, "tool_use_id") if is_report else None


def read(payload: Mapping[str, Any]) -> ToolCall:
    """Parse the call in a hook's input. Raises NotUnderstoodError."""
    call = tool_call.parse_hook_input(payload, EVENT)
    tool, arguments = call.tool, call.arguments
    parser = _PARSERS.get(tool)
    if parser is not None:
        return parser(call, arguments)
    return call._replace(kind=HARMLESS) if tool in HARMLESS_TOOLS else call


def answer(response: HookResponse) -> HookOutput:
    """Return the hook's output.

    An allowed dialog gets an output without a decision, because some versions skip a dialog that the hook allows.
    """
    if response.kind == ALLOW and response.tool in _DIALOGS:
        return HookOutput(b"{}\n")
    fields = {"hookEventName": EVENT, "permissionDecision": response.kind, "permissionDecisionReason": response.reason}
    output = fast_json.write({"hookSpecificOutput": fields})
    if response.kind == DENY:
        return tool_call.hook_denial(output, response.reason)
    return HookOutput(f"{output}\n".encode())


def _parse_bash(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    tool_call.ensure_known_fields(
        arguments, "command description timeout run_in_background dangerouslyDisableSandbox", call.tool
    )
    if tool_call.optional_flag(arguments, "dangerouslyDisableSandbox"):
        raise tool_call.NotUnderstoodError("a command is not allowed to leave the program's sandbox")
    in_background = tool_call.optional_flag(arguments, "run_in_background")
    return call._replace(
        kind=COMMAND, command=tool_call.required_text(arguments, "command"), in_background=in_background
    )


def _parse_monitor(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    tool_call.ensure_known_fields(arguments, "command description timeout_ms persistent", call.tool)
    return call._replace(kind=COMMAND, command=tool_call.required_text(arguments, "command"), in_background=True)


def _parse_write(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    tool_call.ensure_known_fields(arguments, "file_path content", call.tool)
    edit = FileEdit(
        tool_call.required_path(arguments, "file_path"), WRITE, content=tool_call.required_text(arguments, "content")
    )
    return call._replace(kind=WRITE, edits=(edit,))


def _parse_edit(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    tool_call.ensure_known_fields(arguments, "file_path old_string new_string replace_all", call.tool)
    return call._replace(
        kind=EDIT,
        edits=(
            FileEdit(
                tool_call.required_path(arguments, "file_path"), EDIT, replacements=(_parse_replacement(arguments),)
            ),
        ),
    )


def _parse_multi_edit(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    tool_call.ensure_known_fields(arguments, "file_path edits", call.tool)
    replacements = arguments.get("edits")
    if (
        not isinstance(replacements, list)
        or not replacements
        or not all([isinstance(replacement, dict) for replacement in replacements])
    ):
        raise tool_call.NotUnderstoodError("edits is not a list of edits")
    for replacement in replacements:
        tool_call.ensure_known_fields(replacement, "old_string new_string replace_all", call.tool)
    edit = FileEdit(
        tool_call.required_path(arguments, "file_path"),
        EDIT,
        replacements=tuple([_parse_replacement(replacement) for replacement in replacements]),
    )
    return call._replace(kind=EDIT, edits=(edit,))


def _parse_replacement(arguments: Mapping[str, Any]) -> tuple[str, str, bool]:
    return (
        tool_call.required_text(arguments, "old_string"),
        tool_call.required_text(arguments, "new_string"),
        tool_call.optional_flag(arguments, "replace_all"),
    )


def _make_read_parser(known_fields: str, *names: str) -> Callable[[ToolCall, Mapping[str, Any]], ToolCall]:
    def parse_read(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
        tool_call.ensure_known_fields(arguments, known_fields, call.tool)
        return call._replace(kind=READ, read_paths=tool_call.optional_paths(arguments, *names))

    return parse_read


def _parse_glob(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    tool_call.ensure_known_fields(arguments, "pattern path", call.tool)
    pattern, folders = tool_call.required_path(arguments, "pattern"), tool_call.optional_paths(arguments, "path")
    return call._replace(kind=READ, read_paths=tool_call.pattern_paths(pattern, folders))


def _parse_grep(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    read_call = _make_read_parser(_GREP_FIELDS, "path")(call, arguments)._replace(searches_content=True)
    folder = (read_call.read_paths or (call.cwd,))[0]
    paths = tool_call.content_paths(folder, tool_call.optional_text(arguments, "glob"))
    file_type = tool_call.optional_text(arguments, "type")
    if len(paths) == 1 and file_type in CODE_TYPES:
        paths = (folder, f"{folder}/*.{file_type}")
    return read_call._replace(read_paths=paths)


def _parse_agent(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    tool_call.ensure_known_fields(arguments, _AGENT_FIELDS, call.tool)
    return call._replace(kind=HARMLESS)


def _parse_skill(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    """Parse the use of a skill, which also counts as reading its file if that only gives instructions."""
    name, text = arguments.get("skill"), arguments.get("args") or ""
    is_known = set(arguments) <= {"skill", "args"} and isinstance(name, str) and isinstance(text, str)
    path = find_instructions(str(name), text, call.cwd) if is_known else ""
    return call._replace(read_paths=(path,)) if path else call


_GREP_FIELDS: Final = "pattern path glob type output_mode -i -n -o -A -B -C context head_limit offset multiline"
_PARSERS: Final[Mapping[str, Callable[[ToolCall, Mapping[str, Any]], ToolCall]]] = {
    "Bash": _parse_bash,
    "Monitor": _parse_monitor,
    "Write": _parse_write,
    "Edit": _parse_edit,
    "MultiEdit": _parse_multi_edit,
    "Read": _make_read_parser("file_path offset limit pages allow_large", "file_path"),
    "NotebookRead": _make_read_parser("notebook_path cell_id", "notebook_path"),
    "LS": _make_read_parser("path ignore", "path"),
    "LSP": _make_read_parser("operation filePath line character query", "filePath"),
    "Grep": _parse_grep,
    "Glob": _parse_glob,
    "Agent": _parse_agent,
    "Task": _parse_agent,
    "Skill": _parse_skill,
}
"""Parsers by tool name, for tools whose fields are all known.

NotebookEdit has none because its effect on the file is unknown, and PowerShell has none because its commands can't be
parsed. Like tools of MCP servers, they are matched by their name and all of their arguments.
"""
